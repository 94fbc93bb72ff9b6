"""Columns standardised by their noisy sums."""

import math

import numpy as np
import pytest

from tacit.contract.column_query import ColumnMoments
from tacit.contract.plan import Plan
from tacit.contract.query import Answer, Query
from tacit.estimators.classifiers import LogisticRegression
from tacit.planning.row_sums import RowSums
from tacit.solvers.column_standards import spreads, standardised

RNG = np.random.default_rng(5)


class Sums:
    """Answers with a stated noise."""

    def __init__(self, rows: np.ndarray, noise: float = 0.0) -> None:
        self.sums, self.noise = RowSums(rows, np.zeros(len(rows))), noise
        self.asked: list[ColumnMoments] = []

    def ask(self, query: Query) -> Answer:
        assert isinstance(query, ColumnMoments)
        self.asked.append(query)
        value = self.sums.total(query)
        return Answer(value + self.noise * RNG.standard_normal(value.shape), self.noise)


def plan_of(n: int, d: int, *, fit_intercept: bool = True) -> Plan:
    return LogisticRegression(epsilon=1.0, bounds=(-1, 1), fit_intercept=fit_intercept).plan(n, d)


def test_without_noise_columns_get_mean_zero_and_variance_one() -> None:
    spread, middle = np.exp(RNG.uniform(-4, -1.5, 30)), RNG.uniform(-0.3, 0.3, 30)
    rows = np.column_stack([RNG.standard_normal((4000, 30)) * spread + middle, np.ones(4000)])
    matrix = standardised(Sums(rows), plan_of(4000, 30), 3)
    z = rows @ matrix
    np.testing.assert_allclose(z[:, -1], 1.0)
    np.testing.assert_allclose(z[:, :-1].mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(z[:, :-1].std(axis=0), 1.0, atol=0.05)
    assert not np.triu(matrix, 1).any()


def test_without_an_intercept_nothing_moves() -> None:
    rows = RNG.standard_normal((3000, 20)) / 5 + 0.2
    matrix = standardised(Sums(rows), plan_of(3000, 20, fit_intercept=False), 2)
    np.testing.assert_array_equal(matrix, np.diag(np.diagonal(matrix)))
    np.testing.assert_allclose(((rows @ matrix) ** 2).mean(axis=0), 1.0, atol=0.1)


def test_noise_alone_moves_no_column_by_itself() -> None:
    """With noise far above the spread all columns have one scale, and means stay near 0."""
    rows = np.column_stack([RNG.standard_normal((500, 40)) * 1e-3, np.ones(500)])
    matrix = standardised(Sums(rows, noise=5000.0), plan_of(500, 40), 2)
    assert np.isfinite(matrix).all()
    scales = np.diagonal(matrix)[:-1]
    assert scales.max() / scales.min() < 4


def test_each_answer_is_asked_in_the_standards_of_the_one_before() -> None:
    rows = np.column_stack([RNG.standard_normal((1000, 9)) / 10 + 0.5, np.ones(1000)])
    gate = Sums(rows)
    standardised(gate, plan_of(1000, 9), 2)
    first, second = gate.asked
    np.testing.assert_array_equal(first.scale, 1.0)
    assert first.clip == math.sqrt(20)
    np.testing.assert_allclose(second.shift[:-1] / second.scale[:-1], -rows[:, :-1].mean(axis=0), atol=0.05)


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0, 1e9])
def test_spreads_are_positive_and_finite_for_any_answer(noise: float) -> None:
    for size in (0.0, 1e-9, 1.0, 1e6):
        mean, variance = spreads(RNG.standard_normal((2, 50)) * size, noise, centred=True)
        assert np.isfinite(mean).all()
        assert (variance > 0).all()
        assert np.isfinite(variance).all()
