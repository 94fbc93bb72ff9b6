"""`python -m benchmarks coverage [options]`: run what is missing, then write page and pictures."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.coverage.cells import GRID, Cell, grid, hard_cells, width_cells
from benchmarks.coverage.designs import FAMILIES, SCENARIOS
from benchmarks.coverage.page import brief, page
from benchmarks.coverage.pictures import pictures
from benchmarks.coverage.plain_page import REPLICATIONS as PLAIN_REPLICATIONS
from benchmarks.coverage.plain_page import run_plain, write_plain
from benchmarks.coverage.populations import chosen as some_populations
from benchmarks.coverage.replications import run_batch
from benchmarks.coverage.results import figures, measured
from benchmarks.coverage.store import Store
from benchmarks.coverage.targets import Targets, population_values
from benchmarks.progress import progress_bar
from benchmarks.record import RESULTS, write

ROWS, TARGETS, PAGE = "coverage.jsonl", "coverage-targets.json", "coverage.md"
REPLICATIONS, BATCH, WIDTH_REPLICATIONS = 1000, 250, 200
NICENESS = 10
STUDIES = ("own", "plain")
DOCUMENT = Path(__file__).parents[2] / "docs" / "inference.md"
BEGIN, END = "<!-- coverage: written by make coverage -->", "<!-- end of coverage -->"


@dataclass(frozen=True)
class Work:
    """A batch to be run."""

    cell: Cell
    batch: int
    size: int


def parser() -> argparse.ArgumentParser:
    """The options."""
    found = argparse.ArgumentParser(prog="python -m benchmarks coverage", description=__doc__)
    found.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    found.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    found.add_argument("--cells", nargs="+", metavar="N,D,MU", help="only these, for example 1000,4,0.5; default: all")
    found.add_argument("--replications", type=int, default=REPLICATIONS, metavar="N")
    found.add_argument("--processes", type=int, default=2, metavar="N")
    found.add_argument(
        "--targets",
        nargs="+",
        choices=STUDIES,
        default=list(STUDIES),
        help="the estimators' own target on few populations, the plain one on many",
    )
    found.add_argument("--populations", default="all", help="of the plain target, with commas")
    found.add_argument("--plain-replications", type=int, default=PLAIN_REPLICATIONS, metavar="N")
    found.add_argument("--page", action="store_true", help="run nothing, only write")
    found.add_argument("--results", type=Path, default=RESULTS, help="folder of the results")
    return found


def chosen(options: argparse.Namespace) -> list[Work]:
    """Every batch that is asked for: all cells once, then all again, so that none lags behind."""
    families, scenarios = options.families, options.scenarios
    cells = list(grid(families, [name for name in GRID if name in scenarios]))
    if "rare" in scenarios:
        cells = sorted([*cells, *hard_cells(families)], key=lambda cell: cell.n)
    widths = width_cells(families) if "clean" in scenarios else []
    widths = [cell for cell in widths if cell not in cells]
    if options.cells:
        cells, widths = ([c for c in each if _asked(c, options.cells)] for each in (cells, widths))
    full, rest = divmod(options.replications, BATCH)
    sizes = [BATCH] * full + [rest] * bool(rest)
    work = [Work(cell, 0, min(WIDTH_REPLICATIONS, options.replications)) for cell in widths]
    return work + [Work(cell, batch, size) for batch, size in enumerate(sizes) for cell in cells]


def _asked(cell: Cell, words: Sequence[str]) -> bool:
    return f"{cell.n},{cell.d},{cell.mu:g}" in words


def be_modest() -> None:
    """Leave the machine to others: one thread a process, low priority."""
    os.environ["TACIT_THREADS"] = "1"
    os.nice(NICENESS)


def run_missing(store: Store, targets: Targets, work: Sequence[Work], processes: int) -> None:
    """Run the batches that have no row, and find the targets that they need, with a bar."""
    missing = [each for each in work if each.batch not in store.batches(each.cell)]
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=be_modest)
    with pool, progress_bar() as progress:
        groups = targets.missing(each.cell for each in missing)
        values = progress.add_task("population values", total=len(groups), visible=bool(groups))
        samples = progress.add_task("coverage", total=sum(each.size for each in missing))
        for done, found in _finished(pool, targets, missing, processes):
            if done is None:
                targets.add(found)
                progress.advance(values)
            else:
                store.add(done.cell, done.batch, found)
                progress.update(samples, advance=done.size, description=done.cell.words)


def _finished(
    pool: ProcessPoolExecutor, targets: Targets, missing: Sequence[Work], processes: int
) -> Iterator[tuple[Work | None, dict[str, Any]]]:
    """Results as they are finished: of a batch, or (None) targets; these one group at a time.

    Batches whose target is known go first, in their order. The targets must be kept before the next
    result is asked for.
    """
    queue, groups = list(missing), targets.missing(each.cell for each in missing)
    waiting: dict[Future[dict[str, Any]], Work | None] = {}
    while queue or waiting:
        while len(waiting) < 2 * processes:
            ready = next((each for each in queue if each.cell in targets), None)
            if groups and None not in waiting.values():
                waiting[pool.submit(population_values, groups.pop(0))] = None
            elif ready is not None:
                queue.remove(ready)
                how = ready.cell, targets[ready.cell], ready.batch, ready.size
                waiting[pool.submit(run_batch, *how)] = ready
            else:
                break
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            yield waiting.pop(future), future.result()


def main(arguments: Sequence[str]) -> None:
    """Parse, run, write."""
    options = parser().parse_args(arguments)
    store, targets = Store(options.results / ROWS), Targets(options.results / TARGETS)
    if "own" in options.targets:
        if not options.page:
            run_missing(store, targets, chosen(options), options.processes)
        write_results(store, options.results)
    if "plain" in options.targets:
        if not options.page:
            populations = some_populations(options.populations.split(","))
            how = options.plain_replications, options.processes
            run_plain(options.results, populations, *how)
        written = write_plain(options.results)
        print(f"  {written}" if written else "  nothing has been run yet: no page")


def with_table(document: str, table: str) -> str:
    """A document with the table between its marks."""
    before, found, rest = document.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"The document lacks the marks {BEGIN} and {END}.")
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def write_results(store: Store, folder: Path) -> None:
    """Write the page, the picture, and the counts for the overview of all benchmarks."""
    every = [*grid(), *hard_cells()]
    every += [cell for cell in width_cells() if cell not in every]
    found = measured(store, every)
    if not found:
        print("  nothing has been run yet: no page")
        return
    (folder / PAGE).write_text(page(found, pictures(found, folder)), encoding="utf-8")
    if folder == RESULTS:
        missed = {each.cell.words: each.misses() for each in found if each.misses()}
        write("coverage", figures(found), {"missed": missed})
        DOCUMENT.write_text(with_table(DOCUMENT.read_text(encoding="utf-8"), brief(found)), encoding="utf-8")
    print(f"  {folder / PAGE}")
