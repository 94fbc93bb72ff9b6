"""`python -m benchmarks accuracy [options]`: run what is missing, then write page and pictures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.accuracy import folder
from benchmarks.accuracy.catalogue import CATALOGUE, available
from benchmarks.accuracy.cells import Cell, Store
from benchmarks.accuracy.page import page
from benchmarks.accuracy.pictures import pictures
from benchmarks.accuracy.results import Results
from benchmarks.accuracy.trials import Grid, Trials
from benchmarks.accuracy.verdicts import checks, marks
from benchmarks.progress import progress_bar
from benchmarks.record import RESULTS, Figure, write
from benchmarks.rivals.foreign_library import EnvironmentFailedError
from benchmarks.rivals.method import Method
from benchmarks.rivals.registry import BASELINE, WORKERS, methods

EPSILONS = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
REPETITIONS = 5
ROWS, PAGE = "accuracy.jsonl", "accuracy.md"


def parser() -> argparse.ArgumentParser:
    """The options."""
    groups = sorted({entry.group.replace(" ", "-") for entry in CATALOGUE.values()})
    found = argparse.ArgumentParser(prog="python -m benchmarks accuracy", description=__doc__)
    found.add_argument(
        "--tables",
        nargs="+",
        choices=[*CATALOGUE, *groups],
        metavar="NAME",
        help=f"tables, or groups of them ({', '.join(groups)}); default: all that are here",
    )
    found.add_argument("--methods", nargs="+", choices=[*methods()], metavar="NAME")
    found.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS), metavar="ε")
    found.add_argument("--repetitions", type=int, default=REPETITIONS, metavar="N")
    found.add_argument("--fresh", action="store_true", help="run again what is there")
    found.add_argument("--page", action="store_true", help="run nothing, only write")
    found.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    return found


def chosen_tables(asked: Sequence[str] | None) -> list[str]:
    """Names of the tables to run: those asked for and here."""
    here = available()
    if not folder.is_there():
        print(
            f"  no codebook.py in {folder.folder()}: only the bundled tables run; "
            f"set {folder.VARIABLE} to the folder of the others"
        )
    if asked is None:
        return here
    return [name for name in here if name in asked or CATALOGUE[name].group.replace(" ", "-") in asked]


def run_missing(store: Store, tables: Sequence[str], wanted: Sequence[Method], grid: Grid) -> None:
    """Run every cell that has no row, table by table, with a bar."""
    missing: dict[str, list[tuple[Method, Cell]]] = {}
    for name in tables:
        for method in wanted:
            for cell in grid.cells(method, name, CATALOGUE[name].kind):
                if cell not in store:
                    missing.setdefault(name, []).append((method, cell))
    failed: set[str] = set()
    with progress_bar() as progress:
        task = progress.add_task("accuracy", total=sum(map(len, missing.values())))
        for name, work in missing.items():
            progress.update(task, description=f"{name}, loading")
            trials = Trials(store, CATALOGUE[name].load(), methods()[BASELINE])
            for method, cell in work:
                progress.update(task, description=f"{name}, {method.label}, ε = {cell.epsilon}")
                if method.name not in failed:
                    try:
                        trials.run(method, cell)
                    except EnvironmentFailedError as failure:
                        failed.add(method.name)
                        progress.console.print(f"  {method.label} left out: {failure}")
                progress.advance(task)


def write_results(results: Results, target: Path) -> None:
    """Write the page, the pictures, and the counts for the overview of all benchmarks."""
    if not results.epsilons:
        print("  nothing private has been run yet: no page")
        return
    drawn = pictures(results, target)
    (target / PAGE).write_text(page(results, drawn), encoding="utf-8")
    found = [("marks", list(marks(results))), ("checks", checks(results))]
    figures = []
    for words, verdicts in found:
        missed = sum(not verdict.met for verdict in verdicts)
        if verdicts:
            name = f"{words} missed of {len(verdicts)}"
            figures.append(Figure(name, missed, "", "0", missed == 0))
    missed_ones = [asdict(verdict) for _, each in found for verdict in each if not verdict.met]
    if target == RESULTS:
        write("accuracy", figures, {"missed": missed_ones})
    print(f"  {target / PAGE}")


def main(arguments: Sequence[str]) -> None:
    """Parse, run, write."""
    options = parser().parse_args(arguments)
    tables = chosen_tables(options.tables)
    every = methods()
    wanted = [every[name] for name in options.methods or every]
    grid = Grid(tuple(options.epsilons), options.repetitions)
    store = Store(options.results / ROWS)
    if options.fresh:
        names = {method.name for method in wanted}
        gone = store.drop(
            lambda cell: (
                cell.method in names
                and cell.table in tables
                and (cell.epsilon is None or cell.epsilon in grid.epsilons)
            )
        )
        print(f"  {gone} rows forgotten")
    if not options.page:
        try:
            run_missing(store, tables, wanted, grid)
        finally:
            WORKERS.close()
    write_results(Results(store, every), options.results)
