"""Populations of after the shortened rows are as their lines say; all else is tested as for the others."""

import numpy as np
import pytest

from benchmarks.coverage.invented_after import populations
from benchmarks.coverage.plain_targets import block_of
from benchmarks.coverage.populations import POPULATIONS, chosen


def test_they_are_twelve_and_stand_before_the_last_six() -> None:
    assert [each.name for each in populations()] == [each.name for each in chosen(["invented"])][-18:-6]


@pytest.mark.parametrize(
    ("name", "share", "within"),
    [("readmission", 0.20, 0.02), ("fires", 0.01, 0.006), ("trial", 0.26, 0.01), ("donations", 0.15, 0.03)],
)
def test_shares_are_what_is_said(name: str, share: float, within: float) -> None:
    response = block_of(POPULATIONS[name], 3000, 40_000).response
    assert np.mean(response > 0) == pytest.approx(share, abs=within)


def test_few_rows_hold_much_of_the_traffic() -> None:
    traffic = block_of(POPULATIONS["pollution"], 3000, 40_000).table["traffic"]
    assert np.sort(traffic)[-400:].sum() > 0.05 * traffic.sum()
