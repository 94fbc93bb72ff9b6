"""Clipped means: the integer bound holds whatever a block returns."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.contract.block_query import BlockMean, LeastSquares
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price, price_for, squared_sensitivity
from tacit.mechanisms.block_mean import answer_block_mean, integer_results
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation

QUERY = BlockMean(
    LeastSquares(3), 5, np.array([0.0, 1.0, -2.0]), np.array([1.0, 2.0, 0.5]), math.nextafter(math.sqrt(3), math.inf)
)
cells = st.floats(allow_nan=False, width=64) | st.sampled_from([0.0, 1e100, -1e100])


@given(st.lists(st.tuples(cells, cells, cells), min_size=5, max_size=5), st.sampled_from([33, 1000, 2**36]))
def test_no_vector_is_longer_than_the_bound(results: list[tuple[float, ...]], bound: int) -> None:
    found = integer_results(QUERY, bound, np.array(results))
    assert all(sum(entry**2 for entry in row.tolist()) <= bound**2 for row in found)


@pytest.mark.parametrize("relation", list(Relation))
def test_one_block_moves_the_sum_by_the_sensitivity_and_no_more(relation: Relation) -> None:
    bound = 2**20
    low, high = np.tile([-1.0, -1.0, -2.5], (5, 1)), np.array([9.0, 9.0, 9.0])
    other = low.copy()
    other[2] = high
    move = integer_results(QUERY, bound, other).sum(axis=0) - integer_results(QUERY, bound, low).sum(axis=0)
    squared = sum(int(entry) ** 2 for entry in move)
    allowed = squared_sensitivity(QueryKind.BLOCK_MEAN, bound, relation)
    assert allowed * Fraction(999, 1000) <= squared <= allowed


def test_without_noise_it_is_the_clipped_mean() -> None:
    results = np.array([[0.5, 1.0, -2.0], [5.0, -9.0, -1.75], [0.0, 1.0, -2.0], [0.0, 1.0, -2.0], [0.0, 1.0, -2.0]])
    answer = answer_block_mean(QUERY, Price(2**40, 0), results, None)
    np.testing.assert_allclose(answer.value, [1.5 / 5, -1 / 5, 0.5 / 5], atol=1e-9)
    ball = BlockMean(LeastSquares(2), 2, np.zeros(2), np.ones(2), 0.5)
    found = answer_block_mean(ball, Price(2**40, 0), np.array([[0.6, 0.8], [0.0, 0.0]]), None)
    np.testing.assert_allclose(found.value, [0.15, 0.2], atol=1e-9)


def test_the_noise_is_that_of_the_price() -> None:
    """4,000 seeded draws against the normal law, so no false alarms; Kolmogorov–Smirnov at 1e-6."""
    price = price_for(QueryKind.BLOCK_MEAN, Fraction(1), Relation.REPLACE_ONE, records=5, width=3)
    entropy, results = SeededEntropy(4), np.tile(QUERY.centre, (5, 1))
    answers = [answer_block_mean(QUERY, price, results, entropy) for _ in range(1400)]
    draws = np.concatenate([it.value / it.noise_scale for it in answers])
    assert stats.kstest(draws, "norm").pvalue > 1e-6
    assert answers[0].noise_scale == pytest.approx(2 * np.sqrt(3) / 5, rel=1e-6)
