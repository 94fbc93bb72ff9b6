"""The plain study as a part of `make coverage`: what is missing is run, and a page is written."""

from __future__ import annotations

from pathlib import Path

from benchmarks.coverage.plain_replications import rules_today
from benchmarks.coverage.plain_store import PlainStore
from benchmarks.coverage.plain_study import BUDGETS, LIMIT_BUDGET, LIMIT_SIZE, SIZES, batches, cells_of, run_missing
from benchmarks.coverage.plain_table import tables
from benchmarks.coverage.plain_targets import target_of
from benchmarks.coverage.plain_verdicts import __doc__ as asked
from benchmarks.coverage.population import Population
from benchmarks.coverage.populations import POPULATIONS

ROWS, PAGE = "coverage-plain.jsonl", "coverage-plain.md"
REPLICATIONS, LIMIT_REPLICATIONS, BATCH = 450, 20, 50
"""450 in each of nine cells: 4050 tests a null slope."""
HEAD = """# Coverage of the plain target

Written by `make coverage`. Every fit is one of `tacit.glm` with its defaults, and its target is the
population value of the same model without privacy: least squares, logistic regression, the
quasi-likelihood of counts. Widths are medians over HC0 of a fit to the same records. An infinite
coefficient (a separated level, a constant response) is covered by no interval.

Rows with † behind their replications are of earlier rules: the first replication of the cell comes out differently
today, or its rules were not stored. The others are of the rules of today.
"""


def run_plain(folder: Path, populations: list[Population], replications: int, jobs: int) -> None:
    """Run what is missing of all cells, then of the limit of large ε."""
    store = PlainStore(folder / ROWS, whole=False)
    work = batches(cells_of(populations, SIZES, BUDGETS), store, range(replications), BATCH)
    limits = cells_of(populations, (LIMIT_SIZE,), (LIMIT_BUDGET,))
    few = range(min(replications, LIMIT_REPLICATIONS))
    run_missing(work + batches(limits, store, few, BATCH), store, jobs)


def write_plain(folder: Path) -> Path | None:
    """Write the page from what was run; None where nothing was."""
    store = PlainStore(folder / ROWS, whole=False)
    tallies = store.tallies()
    if not tallies:
        return None
    old = {
        cell
        for cell in tallies
        if not store.rules(cell) or store.rules(cell) != rules_today(cell, target_of(POPULATIONS[cell.population]))
    }
    path = folder / PAGE
    listed = "\n".join(
        f"| {each.name} | {each.family} | {each.d} | {each.about} |"
        for each in POPULATIONS.values()
        if any(cell.population == each.name for cell in tallies)
    )
    named = f"| population | family | d | |\n|---|---|---|---|\n{listed}\n"
    path.write_text("\n".join([HEAD, str(asked), named, tables(tallies, old=old)]), encoding="utf-8")
    return path
