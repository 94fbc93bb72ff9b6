"""Populations with long rows are as their lines say; all else is tested as for the others."""

import numpy as np
import pytest

from benchmarks.coverage.invented_long import populations
from benchmarks.coverage.plain_fit import fit_rows
from benchmarks.coverage.plain_targets import block_of
from benchmarks.coverage.populations import POPULATIONS, chosen


def test_they_are_six_and_the_last() -> None:
    assert [each.name for each in populations()] == [each.name for each in chosen(["invented"])][-6:]


@pytest.mark.parametrize("name", ["savings", "breakdowns"])
def test_where_the_model_is_right_its_coefficients_are_found(name: str) -> None:
    """40,000 rows: six standard errors, so a false alarm in fewer than one of 10^8 runs."""
    population = POPULATIONS[name]
    draw = block_of(population, 3000, 40_000)
    found = fit_rows(population.family, population.rows(draw), draw.response)
    truth = np.array([(population.truth or {})[each] for each in population.names])
    assert np.abs((found.values - truth) / found.errors).max() < 6


@pytest.mark.parametrize(("name", "column"), [("saturation", "flow"), ("kinks", "gap"), ("alarms", "traffic")])
def test_where_it_is_wrong_rows_far_out_are_not_fitted(name: str, column: str) -> None:
    population = POPULATIONS[name]
    draw = block_of(population, 3000, 40_000)
    rows = population.rows(draw)
    predictor = rows @ fit_rows(population.family, rows, draw.response).values
    fitted = np.exp(predictor) if population.family == "poisson" else predictor
    size = np.abs(draw.table[column])
    far = size > np.quantile(size, 0.99)
    gap = (draw.response - fitted)[far]
    assert abs(gap.mean()) > 6 * gap.std() / np.sqrt(far.sum())
