"""Populations with rows far out are as their lines say; all else is tested as for the others."""

import numpy as np
import pytest

from benchmarks.coverage.invented_far import populations
from benchmarks.coverage.plain_fit import fit_rows
from benchmarks.coverage.plain_targets import block_of
from benchmarks.coverage.populations import POPULATIONS, chosen


def test_they_are_six_and_the_last() -> None:
    assert [each.name for each in populations()] == [each.name for each in chosen(["invented"])][-6:]


def test_eight_in_a_hundred_default() -> None:
    assert np.mean(block_of(POPULATIONS["lending"], 3000, 40_000).response) == pytest.approx(0.085, abs=0.015)


def test_the_line_of_freight_is_right_and_that_of_harvests_is_not() -> None:
    """40,000 rows: six standard errors, so a false alarm in fewer than one of 10^8 runs."""
    freight, harvest = POPULATIONS["freight"], POPULATIONS["harvest"]
    draw = block_of(freight, 3000, 40_000)
    found = fit_rows("gaussian", freight.rows(draw), draw.response)
    truth = np.array([(freight.truth or {})[name] for name in freight.names])
    assert np.abs((found.values - truth) / found.errors).max() < 6
    draw = block_of(harvest, 3000, 40_000)
    fitted = harvest.rows(draw) @ fit_rows("gaussian", harvest.rows(draw), draw.response).values
    feed, gap = draw.table["feed"], draw.response - fitted
    assert gap[feed > 120].mean() < -3
