"""Median, size and mean of a response, from exact counts."""

from typing import Any

import numpy as np
import pytest

import tacit
from tacit.contract.query import Answer, ColumnCounts, Query, ResidualSize
from tacit.solvers.response_location import LocatingResponse, locate_response

N = 4000


class Counting:
    """Answers counts and means of a response without noise."""

    def __init__(self, y: Any) -> None:
        self.y, self.asked = y, 0

    def ask(self, query: Query) -> Answer:
        self.asked += 1
        if isinstance(query, ColumnCounts):
            inside = (query.lower[0] < self.y) & (self.y <= query.upper[0])
            return Answer(np.array([float(inside.sum())]), 0.0)
        assert isinstance(query, ResidualSize)
        share = np.clip((self.y - query.start) / query.cap, 0, 1)
        return Answer(np.array([share.sum()]), 0.0)


def test_a_normal_response_is_located() -> None:
    y = np.clip(np.random.default_rng(0).normal(0.3, 0.05, N), -1, 1)
    plan = tacit.LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-1, 1)).plan(N, 2)
    gate = Counting(y)
    found = locate_response(gate, plan, LocatingResponse(8, 5))
    assert found.median == pytest.approx(0.3, abs=2**-7)
    assert found.size == pytest.approx(0.8 * 0.05, rel=0.3)
    assert (found.mean, gate.asked) == (None, 13)


def test_without_medians_distances_are_from_zero() -> None:
    y = np.full(N, 0.5)
    plan = tacit.LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-1, 1), fit_intercept=False).plan(N, 2)
    found = locate_response(Counting(y), plan, LocatingResponse(0, 5))
    assert found.median == 0.0
    assert found.size == pytest.approx(0.5 / 1.3, rel=0.6)


def test_the_mean_of_counts_is_cut_far_out_and_positive() -> None:
    plan = tacit.PoissonRegressor(epsilon=1.0, bounds=(-1, 1), y_max=1000).plan(N, 2)
    y = np.random.default_rng(1).poisson(3.0, N).astype(float)
    found = locate_response(Counting(y), plan, LocatingResponse(8, 5, mean=True))
    assert found.mean == pytest.approx(y.mean(), rel=0.05)
    none = locate_response(Counting(np.zeros(N)), plan, LocatingResponse(8, 5, mean=True))
    assert none.mean is not None
    assert none.mean > 0
