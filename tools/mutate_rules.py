"""Shift every rule of planner, solvers and inference, and see whether a golden case notices.

    python -m tools.mutate_rules [NAME …] [--quick] [--processes 2]

A rule is a number that a module keeps under a name of capitals. Shares and thresholds are shifted
by ±20%, whole numbers by ±1. A shift is caught when a golden plan or a golden fit differs, and has
survived otherwise; the exit status is 1 where one survived. With --quick plans alone are compared.

Every shift runs in a process of its own, forked before any plan was made, so that nothing that a
cache remembers stands for what the shifted rule would give.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import multiprocessing
import pkgutil
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from typing import Any

import tacit
from tools.golden import compare, fits, plans

PACKAGES = ("planning", "solvers", "inference")
MODULES = ("tacit.contract.plan",)
NOT_RULES = ("clinic",)
"""Modules whose numbers are data of an example."""


@dataclasses.dataclass(frozen=True)
class Shift:
    """One rule and the value that it is given instead."""

    module: str
    name: str
    place: tuple[Any, ...]
    value: Any
    said: str

    def apply(self) -> None:
        """Put the value where the rule is kept, and wherever it was imported from there."""
        home = importlib.import_module(self.module)
        old = getattr(home, self.name)
        new = _replaced(old, self.place, self.value)
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith("tacit"):
                for name, value in list(vars(module).items()):
                    if value is old and (name == self.name or name.endswith(self.name)):
                        setattr(module, name, new)


def shifts(wanted: list[str]) -> Iterator[Shift]:
    """Every shift of every rule, or of those named."""
    for module in _modules():
        for name, value in vars(importlib.import_module(module)).items():
            own = name.isupper() and not name.startswith("__")
            if not own or _imported(module, name) or (wanted and name not in wanted):
                continue
            for place, number in _numbers(value):
                for other in _others(number):
                    where = "".join(f"[{step}]" for step in place)
                    said = f"{module.removeprefix('tacit.')}.{name}{where}: {number} -> {other}"
                    yield Shift(module, name, place, other, said)


def caught_by(shift: Shift, *, quick: bool) -> tuple[str, str | None]:
    """What notices a shift: the first difference of a golden case, or nothing."""
    shift.apply()
    kinds = [("plans", plans)] if quick else [("plans", plans), ("fits", fits)]
    for name, kind in kinds:
        stored = compare.read(name)
        for case, make in kind.cases():
            try:
                now = json.loads(json.dumps(kind.described(make)))
            except Exception as error:  # noqa: BLE001 (a rule that breaks a fit is noticed)
                return shift.said, f"{case}: {type(error).__name__}"
            found = next(compare.differences({case: stored[case]}, {case: now}), None)
            if found is not None:
                return shift.said, found
    return shift.said, None


def main(arguments: list[str]) -> int:
    """Run all shifts and print which survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    work = list(shifts(chosen.names))
    context = multiprocessing.get_context("fork")
    survived = []
    with ProcessPoolExecutor(
        chosen.processes, mp_context=context, max_tasks_per_child=None
    ) as pool:
        for said, found in pool.map(_in_a_fork, [(item, chosen.quick) for item in work]):
            print(f"{'survived' if found is None else 'caught  '}  {said}", flush=True)
            if found is None:
                survived.append(said)
            else:
                print(f"          by {found[:150]}", flush=True)
    minutes = (time.monotonic() - started) / 60
    print(f"{len(work)} shifts, {len(survived)} survived, {minutes:.1f} minutes")
    return int(bool(survived))


def _in_a_fork(item: tuple[Shift, bool]) -> tuple[str, str | None]:
    """Run one shift in a fresh fork of this worker, which has planned nothing."""
    shift, quick = item
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_report, args=(queue, partial(caught_by, shift, quick=quick)))
    child.start()
    found: tuple[str, str | None] = queue.get()
    child.join()
    return found


def _report(queue: Any, work: Any) -> None:
    queue.put(work())


def _modules() -> Iterator[str]:
    for package in PACKAGES:
        root = importlib.import_module(f"tacit.{package}")
        for found in pkgutil.iter_modules(root.__path__):
            if found.name not in NOT_RULES:
                yield f"tacit.{package}.{found.name}"
    yield from MODULES


def _imported(module: str, name: str) -> bool:
    """Whether a name was imported: its module's text then does not assign it."""
    source = importlib.import_module(module)
    with open(str(source.__file__), encoding="utf-8") as stream:  # noqa: PTH123
        lines = stream.read().splitlines()
    return not any(line.startswith((f"{name} =", f"{name}:", f"{name},")) for line in lines)


def _numbers(value: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float | Fraction):
        yield (), value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from (((key, *place), number) for place, number in _numbers(item))
    elif isinstance(value, tuple | list):
        for index, item in enumerate(value):
            yield from (((index, *place), number) for place, number in _numbers(item))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            inner = _numbers(getattr(value, field.name))
            yield from (((field.name, *place), number) for place, number in inner)


def _others(number: Any) -> tuple[Any, ...]:
    if isinstance(number, int):
        return (number - 1, number + 1) if number else (1,)
    if isinstance(number, Fraction):
        return (number * Fraction(4, 5), number * Fraction(6, 5))
    return (number * 0.8, number * 1.2)


def _replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    step, rest = place[0], place[1:]
    if isinstance(value, Mapping):
        return {**value, step: _replaced(value[step], rest, new)}
    if isinstance(value, tuple | list):
        items = list(value)
        items[step] = _replaced(items[step], rest, new)
        return type(value)(items)
    return dataclasses.replace(value, **{step: _replaced(getattr(value, step), rest, new)})


if __name__ == "__main__":
    _ = tacit.__version__
    sys.exit(main(sys.argv[1:]))
