"""Cells of the study: all that are promised, and none below the line."""

import math

from benchmarks.coverage.cells import Cell, grid, hard_cells, plan_of, row_bound, width_cells
from tacit.solvers.one_step import OneStep


def test_grid_holds_every_cell_with_evidence_enough() -> None:
    cells = list(grid())
    assert len(cells) == len(set(cells)) == 20 * 3 * 4
    assert min(cell.signal for cell in cells) >= 100
    assert [cell.n for cell in cells] == sorted(cell.n for cell in cells)
    assert Cell("linear", "clean", 500, 10, 1.0) not in cells
    assert Cell("linear", "clean", 500, 10, 2.0) in cells


def test_names_and_seeds_tell_cells_apart() -> None:
    cells = [*grid(), *hard_cells()]
    cells += [cell for cell in width_cells() if cell not in cells]
    assert len({cell.words for cell in cells}) == len(cells)
    assert len({cell.seed(batch) for cell in cells for batch in range(4)}) == 4 * len(cells)


def test_plans_are_those_of_the_cell() -> None:
    plan = plan_of(Cell("poisson", "clean", 1000, 4, 1.0))
    assert plan.records == 1000
    assert math.isclose(plan.signal, 250, rel_tol=1e-6)
    assert isinstance(plan.solver, OneStep)
    assert row_bound(plan) == plan.solver.clip_factor * 2
