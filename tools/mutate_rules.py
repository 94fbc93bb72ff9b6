"""Shift every rule of solvers and inference, and see whether a golden case notices.

    python -m tools.mutate_rules [GROUP.RULE …] [--processes 2]

Shares and thresholds are shifted by ±20%, whole numbers by ±1. A shift is caught when a golden
plan, fit or run differs, and has survived otherwise; the exit status is 1 where one survived.

First every golden case is run once while reads of rules are recorded. Each must be as it is stored, to the bit: on
another machine, or after a change, `make golden` comes first. A shift is then tried on the
cases that read its rule, quick ones first, until one differs. Every shift runs in a process of its
own, forked before any plan was made, so that no cache stands for what the shifted rule would give.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from functools import partial
from typing import Any

from tacit.solvers.interval_rules import GROUPS
from tools.golden import compare
from tools.golden.__main__ import KINDS

Rule = tuple[int, str]
"""Place of a group, name of a field."""
Case = tuple[str, str]
"""Kind ("plans", "fits" or "runs") and name."""


@dataclasses.dataclass(frozen=True)
class Shift:
    """One number of a rule and the value that it is given instead."""

    rule: Rule
    place: tuple[Any, ...]
    value: Any
    said: str

    def apply(self) -> None:
        """Change the group's only instance, which all modules share."""
        group, name = GROUPS[self.rule[0]], self.rule[1]
        object.__setattr__(group, name, _replaced(getattr(group, name), self.place, self.value))


def shifts(wanted: list[str]) -> Iterator[Shift]:
    """Every shift of every rule, or of those named."""
    for number, group in enumerate(GROUPS):
        for field in dataclasses.fields(group):
            full = f"{type(group).__name__}.{field.name}"
            if wanted and full not in wanted:
                continue
            for place, value in _numbers(getattr(group, field.name)):
                where = "".join(f"[{step}]" for step in place)
                for other in _others(value):
                    said = f"{full}{where}: {value} -> {other}"
                    yield Shift((number, field.name), place, other, said)


def cases() -> dict[Case, Callable[[], Any]]:
    """All golden cases; each describes itself when called."""
    return {
        (kind, name): partial(_described, module, make)
        for kind, module in KINDS.items()
        for name, make in module.cases()
    }


def _described(module: Any, make: Callable[[], Any]) -> Any:
    return json.loads(json.dumps(module.described(make)))


def readers() -> dict[Rule, list[Case]]:
    """For each rule the cases that read it, the quick ones first."""
    read: set[Rule] = set()
    for number, group in enumerate(GROUPS):
        object.__setattr__(group, "__class__", _recording(type(group), number, read))
    found: dict[Rule, list[tuple[float, Case]]] = {}
    stored = {kind: compare.read(kind) for kind in KINDS}
    for case, describe in cases().items():
        read.clear()
        started = time.monotonic()
        now = describe()
        cost = time.monotonic() - started
        kind, name = case
        if any(compare.differences({name: stored[kind].get(name)}, {name: now})):
            raise SystemExit(f"{name} is not as it is stored. Run make golden first.")
        for rule in read:
            found.setdefault(rule, []).append((cost, case))
    return {rule: [case for _, case in sorted(costs)] for rule, costs in found.items()}


def _recording(cls: type, number: int, read: set[Rule]) -> type:
    """A class of the same layout that notes which fields are read."""
    names = {field.name for field in dataclasses.fields(cls)}

    def get(self: Any, name: str) -> Any:
        if name in names:
            read.add((number, name))
        return object.__getattribute__(self, name)

    return type(cls.__name__, (cls,), {"__getattribute__": get})


def caught_by(shift: Shift, tried: list[Case]) -> tuple[str, str | None]:
    """What notices a shift: the first difference of a golden case, or nothing."""
    shift.apply()
    described, stored = cases(), {kind: compare.read(kind) for kind in KINDS}
    for kind, name in tried:
        try:
            now = described[kind, name]()
        except Exception as error:  # noqa: BLE001 (a rule that breaks a fit is noticed)
            return shift.said, f"{name}: {type(error).__name__}"
        found = next(compare.differences({name: stored[kind][name]}, {name: now}), None)
        if found is not None:
            return shift.said, found
    return shift.said, None


def main(arguments: list[str]) -> int:
    """Run all shifts and print which survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args(arguments)
    started = time.monotonic()
    by_rule = in_a_fork(readers)
    work = [(item, by_rule.get(item.rule, [])) for item in shifts(chosen.names)]
    context = multiprocessing.get_context("fork")
    survived = []
    with ProcessPoolExecutor(chosen.processes, mp_context=context) as pool:
        for said, found in pool.map(_tried, work):
            print(f"{'survived' if found is None else 'caught  '}  {said}", flush=True)
            if found is None:
                survived.append(said)
            else:
                print(f"          by {found[:150]}", flush=True)
    minutes = (time.monotonic() - started) / 60
    print(f"{len(work)} shifts, {len(survived)} survived, {minutes:.1f} minutes")
    return int(bool(survived))


def _tried(item: tuple[Shift, list[Case]]) -> tuple[str, str | None]:
    found: tuple[str, str | None] = in_a_fork(partial(caught_by, *item))
    return found


def in_a_fork(work: Callable[[], Any]) -> Any:
    """Run some work in a fork of this process, which has planned nothing."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_report, args=(queue, work))
    child.start()
    found, error = queue.get()
    child.join()
    if error is not None:
        raise RuntimeError(error)
    return found


def _report(queue: Any, work: Callable[[], Any]) -> None:
    try:
        queue.put((work(), None))
    except (Exception, SystemExit) as error:  # noqa: BLE001 (told to the parent, which would wait)
        queue.put((None, repr(error)))


def _numbers(value: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, int | float | Fraction):
        yield (), value
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from (((index, *place), number) for place, number in _numbers(item))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            inner = _numbers(getattr(value, field.name))
            yield from (((field.name, *place), number) for place, number in inner)


def _others(number: Any) -> tuple[Any, ...]:
    if number == 0.0:
        return (number + 1,) if isinstance(number, int) else (0.1,)
    if isinstance(number, int):
        return (number - 1, number + 1)
    if isinstance(number, Fraction):
        return (number * Fraction(4, 5), number * Fraction(6, 5))
    return (number * 0.8, number * 1.2)


def _replaced(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    step, rest = place[0], place[1:]
    if isinstance(value, tuple):
        items = list(value)
        items[step] = _replaced(items[step], rest, new)
        return tuple(items)
    return dataclasses.replace(value, **{step: _replaced(getattr(value, step), rest, new)})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
