"""Comparisons of a holdout: near claims are confirmed, others released with their noise, and no more than are paid."""

import copy
import pickle
from collections.abc import Callable
from unittest.mock import patch

import numpy as np
import pytest
from scipy import stats

from tacit.contract.holdout_price import HoldoutPrice
from tacit.contract.statistic_query import BoundedSums
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.errors import PlanViolation, SettingError
from tacit.mechanisms import reusable_holdout
from tacit.mechanisms.reusable_holdout import HoldoutComparisons
from tacit.noise import laplace
from tests.rows.memory_stores import memory_store

ONLY = Statistic("x", Cell("x", 0, 1.0), Interval(-1.0, 1.0))
QUERY, PRICE = BoundedSums((ONLY,)), HoldoutPrice(1000, 6, 3)
STORE = memory_store(np.column_stack([np.full(100, 0.5), np.ones(100), np.zeros(100)]))
TOTAL, SCALE = 50_000, 64


def holdout(threshold: int = 5000, seed: int | None = None) -> HoldoutComparisons:
    return HoldoutComparisons(STORE, PRICE, threshold, seed)


def test_near_claims_are_free_and_far_ones_are_released() -> None:
    """Noise of scale 256 beyond 4,000 has a chance below 1e-6."""
    opened = holdout()
    assert [opened.compare(QUERY, TOTAL + off) for off in (0, 500, -500) * 10] == [None] * 30
    assert opened.remaining == 3
    for left in (2, 1, 0):
        found = opened.compare(QUERY, TOTAL - 20_000)
        assert found is not None
        assert abs(found - TOTAL) < 20 * SCALE
        assert opened.remaining == left
    with pytest.raises(PlanViolation, match="used up"):
        opened.compare(QUERY, TOTAL)


def test_noises_have_their_scales() -> None:
    """Of 1,000 holdouts each; false-alarm rate 1e-7 by a Kolmogorov-Smirnov test, and half the scale is seen."""
    answers = []
    for seed in range(1000):
        found = holdout(seed=seed).compare(QUERY, TOTAL - 20_000)
        assert found is not None
        answers.append(found - TOTAL)
    assert stats.kstest(answers, stats.laplace(scale=SCALE).cdf).pvalue > 1e-7
    assert stats.kstest(answers, stats.laplace(scale=SCALE / 2).cdf).pvalue < 1e-7
    # At the threshold a comparison is a coin; far above it is decided by noises of scales 2 and 4.
    above = np.mean([holdout(300, seed).compare(QUERY, TOTAL) is not None for seed in range(2000)])
    a, b = 4 * SCALE, 2 * SCALE
    chance = (a**2 * np.exp(-300 / a) - b**2 * np.exp(-300 / b)) / (2 * (a**2 - b**2))
    assert stats.binomtest(round(above * 2000), 2000, chance).pvalue > 1e-7


def test_the_threshold_is_drawn_anew_after_each_release() -> None:
    drawn: list[int] = []
    plain: Callable[..., np.ndarray] = laplace.discrete_laplace

    def noted(count: int, scale: int, entropy: object) -> np.ndarray:
        drawn.append(scale // SCALE)
        return plain(count, scale, entropy)

    with patch.object(reusable_holdout, "discrete_laplace", noted):
        opened = holdout()
        opened.compare(QUERY, TOTAL)
        opened.compare(QUERY, TOTAL - 20_000)
    assert drawn == [2, 4, 4, 1, 2]


def test_there_is_one_count_of_the_releases() -> None:
    opened = holdout()
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PlanViolation, match="cannot be copied"):
            copied(opened)
    with patch("os.getpid", return_value=-1), pytest.raises(PlanViolation, match="fork"):
        opened.compare(QUERY, TOTAL)
    with opened._lock, pytest.raises(PlanViolation, match="one claim at a time"):
        opened.compare(QUERY, TOTAL)
    with pytest.raises(SettingError, match="one statistic"):
        opened.compare(BoundedSums((ONLY, ONLY)), TOTAL)
