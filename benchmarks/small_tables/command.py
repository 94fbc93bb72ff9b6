"""`python -m benchmarks small_tables [options]`: run what is missing, then write the page."""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy import folder
from benchmarks.accuracy.cells import Store
from benchmarks.accuracy.scores import METRICS, SMALLER_IS_BETTER, WORDS
from benchmarks.accuracy.table import Kind
from benchmarks.accuracy.trials import Grid, Trials
from benchmarks.progress import progress_bar
from benchmarks.record import RESULTS, Figure, write
from benchmarks.rivals.descent import NoisyDescent
from benchmarks.rivals.method import Method
from benchmarks.rivals.non_private import NonPrivate
from benchmarks.rivals.ours import Tacit
from benchmarks.small_tables.tables import ENTRIES, Entry

OURS, WITHOUT, RIVAL = Tacit(), NonPrivate(), NoisyDescent()
EPSILONS = (0.1, 1.0, 8.0)
REPETITIONS = 40
ROWS, PAGE = "small_tables.jsonl", "small_tables.md"
BEHIND = {"auc": 0.005, "r2": 0.01, "log_loss": 0.005}
"""How far behind the tuned descent is allowed; the log-loss from ε = 1 on."""
FROM_EPSILON, SLOPE_EPSILON, SLOPES = 1.0, 8.0, (0.9, 1.1)


@dataclass(frozen=True)
class Verdict:
    """One target on one table."""

    entry: Entry
    check: str
    asked: str
    measured: str
    reached: bool


@dataclass(frozen=True)
class Mean:
    """Mean over repetitions, and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.error:.4f}"


class Results:
    """Means over repetitions of the current versions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept = {method.name: method.version for method in (OURS, WITHOUT, RIVAL)}

    def of(self, method: Method, table: str, epsilon: float | None, metric: str) -> Mean | None:
        """A metric of a method on a table; None where nothing was run."""
        found = [
            self._store[cell]["scores"][metric]
            for cell in self._store
            if (cell.method, cell.table, cell.epsilon, cell.version) == (method.name, table, epsilon, method.version)
            and metric in self._store[cell].get("scores", {})
            and cell.repetition is not None
        ]
        if not found:
            return None
        spread = statistics.stdev(found) if len(found) > 1 else 0.0
        return Mean(statistics.fmean(found), spread / math.sqrt(len(found)))


def kind_of(results: Results, entry: Entry) -> Kind | None:
    """What a table is, by the metrics that were stored; None where nothing was run."""
    return next(
        (kind for kind, (first, *_) in METRICS.items() if results.of(OURS, entry.name, EPSILONS[0], first)), None
    )


def verdicts(results: Results) -> Iterator[Verdict]:
    """All targets on all tables that were run."""
    for entry in ENTRIES.values():
        kind = kind_of(results, entry)
        for metric in () if kind is None else METRICS[kind]:
            if metric in BEHIND:
                yield from _behind(results, entry, metric)
        slope = None if kind is None else results.of(OURS, entry.name, SLOPE_EPSILON, "slope")
        if slope is not None:
            low, high = SLOPES
            check = f"slope of margins on the fit without privacy, ε = {SLOPE_EPSILON:g}"
            yield Verdict(entry, check, f"{low:g} to {high:g}", f"{slope.value:.3f}", low <= slope.value <= high)


def _behind(results: Results, entry: Entry, metric: str) -> Iterator[Verdict]:
    for epsilon in EPSILONS:
        ours, rival = (results.of(method, entry.name, epsilon, metric) for method in (OURS, RIVAL))
        if ours is None or rival is None or (metric == "log_loss" and epsilon < FROM_EPSILON):
            continue
        behind = (ours.value - rival.value) * (1 if metric in SMALLER_IS_BETTER else -1)
        error = math.hypot(ours.error, rival.error)
        check = f"{WORDS[metric]} behind descent tuned on the test rows, ε = {epsilon:g}"
        reached = behind <= BEHIND[metric]
        yield Verdict(entry, check, f"at most {BEHIND[metric]:g}", f"{behind:+.4f} ± {error:.4f}", reached)


def page(results: Results, found: Sequence[Verdict]) -> str:
    """Every figure, then every target."""
    met = sum(verdict.reached for verdict in found)
    lines = ["# Small tables, rare classes, near separation", "", "Written by `python -m benchmarks small_tables`.", ""]
    lines += [f"{met} of {len(found)} targets are met. ± is the standard error of a mean over repetitions.", ""]
    missing = [name for name in ENTRIES if not any(verdict.entry.name == name for verdict in found)]
    lines += [f"Not run: {', '.join(missing)}.", ""] if missing else []
    for metric in ("auc", "r2", "log_loss"):
        lines += [
            f"## {WORDS[metric]}",
            "",
            f"| table | chosen for | not private | {_heads('Tacit')} | {_heads('descent')} |",
        ]
        lines += ["|---" * (3 + 2 * len(EPSILONS)) + "|"]
        for entry in ENTRIES.values():
            exact = results.of(WITHOUT, entry.name, None, metric)
            if exact is None:
                continue
            cells = [results.of(method, entry.name, e, metric) for method in (OURS, RIVAL) for e in EPSILONS]
            shown = " | ".join("–" if cell is None else str(cell) for cell in cells)
            lines.append(f"| {entry.name} | {entry.trait} | {exact.value:.4f} | {shown} |")
        lines.append("")
    lines += [
        "## Targets",
        "",
        "| table | for choosing rules | target | asked | measured | |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {it.entry.name} | {'yes' if it.entry.seen else 'no'} | {it.check} | {it.asked} | {it.measured} | "
        f"{'met' if it.reached else '**missed**'} |"
        for it in found
    ]
    return "\n".join([*lines, ""])


def _heads(name: str) -> str:
    return " | ".join(f"{name}, ε = {epsilon:g}" for epsilon in EPSILONS)


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m benchmarks small_tables", description=__doc__)
    found.add_argument("--tables", nargs="+", choices=[*ENTRIES], metavar="NAME")
    found.add_argument("--methods", nargs="+", choices=[OURS.name, WITHOUT.name, RIVAL.name], metavar="NAME")
    found.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    found.add_argument("--fresh", action="store_true", help="run again what is there")
    found.add_argument("--page", action="store_true", help="run nothing, only write")
    found.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    return found


def run_missing(store: Store, names: Sequence[str], wanted: Sequence[Method], repetitions: int) -> None:
    """Run every cell that has no row yet."""
    grid = Grid(EPSILONS, repetitions)
    for name in names:
        table = ENTRIES[name].load()
        trials = Trials(store, table, WITHOUT)
        missing = [
            (method, cell) for method in wanted for cell in grid.cells(method, name, table.kind) if cell not in store
        ]
        with progress_bar() as progress:
            task = progress.add_task(name, total=len(missing))
            for method, cell in missing:
                trials.run(method, cell)
                progress.advance(task)


def main(arguments: Sequence[str] = ()) -> None:
    """Run what is missing, and write the page."""
    given = parser().parse_args(list(arguments))
    store = Store(given.results / ROWS)
    here = [name for name, entry in ENTRIES.items() if folder.is_there() or not entry.of_folder]
    names = [name for name in here if given.tables is None or name in given.tables]
    wanted = [it for it in (WITHOUT, OURS, RIVAL) if given.methods is None or it.name in given.methods]
    if given.fresh:
        store.drop(lambda cell: cell.table in names and cell.method in {it.name for it in wanted})
    if not given.page:
        run_missing(store, names, wanted, given.repetitions)
    results = Results(store)
    found = list(verdicts(results))
    (given.results / PAGE).write_text(page(results, found), encoding="utf-8")
    if given.results == RESULTS:
        met = sum(it.reached for it in found)
        figures = [Figure("targets met", float(met), f"of {len(found)}", "all", met == len(found))]
        write("small_tables", figures, {"missed": [f"{it.entry.name}: {it.check}" for it in found if not it.reached]})
