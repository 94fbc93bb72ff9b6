"""Coverage of the plain target on many populations: run what is missing, or print the table.

Examples
--------
    python -m benchmarks.coverage.plain_study --populations gamma_cost,lpm --n 4000 --epsilon 1 \
        --replications 100 --jobs 2 --out rows.jsonl
    python -m benchmarks.coverage.plain_study --table rows.jsonl
    python -m benchmarks.coverage.plain_study --limit --populations gaussian --replications 10
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.coverage.plain_replications import PlainCell, rules_today, run_replications
from benchmarks.coverage.plain_store import PlainStore
from benchmarks.coverage.plain_table import LARGE, tables
from benchmarks.coverage.plain_targets import target_of
from benchmarks.coverage.population import Population
from benchmarks.coverage.populations import POPULATIONS, chosen

SIZES, BUDGETS, REPLICATIONS, BATCH = (1000, 4000, 20_000), (0.5, 1.0, 3.0), 100, 20
LIMIT_SIZE, LIMIT_BUDGET = 20_000, LARGE
NICENESS = 5


@dataclass(frozen=True)
class Batch:
    """Replications to be run in one go."""

    cell: PlainCell
    numbers: tuple[int, ...]


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(
        prog="python -m benchmarks.coverage.plain_study",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    found.add_argument(
        "--populations", default="all", help="names with commas; also gaussian, binomial, poisson, clean, invented, all"
    )
    found.add_argument("--n", help="numbers of records with commas; default 1000,4000,20000")
    found.add_argument("--epsilon", help="budgets with commas; default .5,1,3")
    found.add_argument("--replications", type=int, default=REPLICATIONS, metavar="N")
    found.add_argument("--first", type=int, default=0, metavar="K", help="number of the first one")
    found.add_argument("--jobs", type=int, default=2, metavar="N")
    found.add_argument("--out", type=Path, metavar="FILE.jsonl", help="rows are appended here")
    found.add_argument("--counts", action="store_true", help="keep counts over batches, not every replication")
    found.add_argument("--table", type=Path, nargs="+", metavar="FILE.jsonl", help="run nothing, print the table")
    found.add_argument("--limit", action="store_true", help="distance from the fit without noise at ε = 50")
    found.add_argument("--list", action="store_true", help="name the populations")
    return found


def be_modest() -> None:
    """Leave the machine to others: one thread a process, low priority."""
    os.environ["TACIT_THREADS"] = "1"
    os.nice(NICENESS)


def batches(cells: Sequence[PlainCell], store: PlainStore, numbers: range, size: int = BATCH) -> list[Batch]:
    """What is missing: the first batch of every cell, then the second, so that none lags behind.

    Rows of a cell that are not of today's rules do not count.
    """
    found: dict[int, list[Batch]] = {}
    for cell in cells:
        done = store.done(cell)
        if done and store.rules(cell) != rules_today(cell, target_of(POPULATIONS[cell.population])):
            done = set()
        missing = [number for number in numbers if number not in done]
        for place in range(0, len(missing), size):
            found.setdefault(place, []).append(Batch(cell, tuple(missing[place : place + size])))
    return [batch for place in sorted(found) for batch in found[place]]


def run_missing(work: Sequence[Batch], store: PlainStore, jobs: int) -> None:
    """Run the batches and keep them as they are finished, with a line of progress."""
    start, done, total = time.monotonic(), 0, sum(len(each.numbers) for each in work)
    for batch, rows in _finished(work, jobs):
        store.add(rows)
        done += len(rows)
        passed = time.monotonic() - start
        left = passed / done * (total - done)
        line = f"\r{done}/{total} replications, {passed:.0f} s, {left:.0f} s left: "
        print(f"{line}{batch.cell.words:32}", end="", file=sys.stderr, flush=True)
    if total:
        print(file=sys.stderr)


def _finished(work: Sequence[Batch], jobs: int) -> Iterator[tuple[Batch, list[dict[str, Any]]]]:
    targets = {name: target_of(POPULATIONS[name]) for name in dict.fromkeys(each.cell.population for each in work)}
    if jobs <= 1:
        for batch in work:
            yield batch, run_replications(batch.cell, targets[batch.cell.population], batch.numbers)
        return
    with _pool(jobs) as pool:
        queue = list(reversed(work))
        waiting: dict[Future[list[dict[str, Any]]], Batch] = {}
        while queue or waiting:
            while queue and len(waiting) < 2 * jobs:
                batch = queue.pop()
                how = batch.cell, targets[batch.cell.population], batch.numbers
                waiting[pool.submit(run_replications, *how)] = batch
            for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                yield waiting.pop(future), future.result()


def _pool(jobs: int) -> ProcessPoolExecutor:
    # Read by the processes when they load numpy: their matrices are small.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=be_modest)


def cells_of(populations: Sequence[Population], sizes: Sequence[int], budgets: Sequence[float]) -> list[PlainCell]:
    """All cells, the quick ones first."""
    return [PlainCell(population.name, n, epsilon) for n in sizes for population in populations for epsilon in budgets]


def numbers_of(text: str | None, usual: Sequence[Any], kind: type) -> list[Any]:
    """Numbers between commas."""
    return [kind(part) for part in text.split(",")] if text else list(usual)


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse, run, print."""
    options = parser().parse_args(arguments)
    populations = chosen(options.populations.split(","))
    if options.list:
        for each in populations:
            print(f"{each.name:16} {each.family:9} d = {each.d:2}  {each.about}")
        return
    if options.table:
        tallies = PlainStore.together(options.table).tallies()
        names = {each.name for each in populations}
        asked = {cell: each for cell, each in tallies.items() if cell.population in names}
        print(tables(asked, limit=options.limit))
        return
    usual = ((LIMIT_SIZE,), (LIMIT_BUDGET,)) if options.limit else (SIZES, BUDGETS)
    sizes = numbers_of(options.n, usual[0], int)
    budgets = numbers_of(options.epsilon, usual[1], float)
    store = PlainStore(options.out, whole=not options.counts)
    wanted = range(options.first, options.first + options.replications)
    cells = cells_of(populations, sizes, budgets)
    run_missing(batches(cells, store, wanted), store, options.jobs)
    tallies = store.tallies()
    print(tables({cell: tallies[cell] for cell in cells if cell in tallies}, limit=options.limit))


if __name__ == "__main__":
    main()
