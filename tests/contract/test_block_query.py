"""Queries of blocks refuse what no aggregate can honour."""

import numpy as np
import pytest

from tacit.contract.block_query import BlackBox, BlockMean, BlockMedian, BlockMinimum, LeastSquares, VoteCounts
from tacit.errors import SettingError
from tacit.losses import classification

LINE = LeastSquares(2)


def test_sizes_and_defaults_follow_from_the_function() -> None:
    assert BlockMinimum(classification.LOGISTIC, 3, 1.0).default == (0.0, 0.0, 0.0)
    assert (LINE.size, LINE.default) == (2, (0.0, 0.0))
    assert BlackBox(b"secret code", (1.0,), (), ()).size == 1
    assert "secret" not in repr(BlackBox(b"secret code", (1.0,), (), ()))


def test_fewer_than_two_blocks_are_refused() -> None:
    with pytest.raises(SettingError, match="at least two blocks"):
        BlockMean(LINE, 1, np.zeros(2), np.ones(2), 1.0)


@pytest.mark.parametrize("half", [[0.0, 1.0], [np.nan, 1.0], [np.inf, 1.0], [1.0]])
def test_bounds_of_a_mean_are_finite_and_one_a_number(half: list[float]) -> None:
    with pytest.raises(SettingError, match="ound"):
        BlockMean(LINE, 4, np.zeros(2), np.array(half), 1.0)


def test_bounds_of_a_median_are_in_order() -> None:
    with pytest.raises(SettingError, match="lower one first"):
        BlockMedian(LINE, 4, np.ones(2), np.zeros(2))
    with pytest.raises(SettingError, match="a bound for each"):
        BlockMedian(LINE, 4, np.zeros(1), np.ones(1))


def test_votes_are_counted_for_public_rows_that_exist() -> None:
    assert VoteCounts(LINE, 4, 2, (0, 1)).size == 2
    with pytest.raises(SettingError, match="no such public row"):
        VoteCounts(LINE, 4, 2, (2,))
