"""Medians over blocks: scores of sensitivity 1, an exact law, and no noise at ε = ∞."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.block_price import ChoicePrice
from tacit.contract.block_query import BlockMedian, LeastSquares
from tacit.contract.sensitivity import Price
from tacit.mechanisms.block_median import CELLS, answer_block_median, side_counts
from tacit.noise.entropy import SeededEntropy

places = st.integers(0, CELLS - 1)


@given(st.lists(places, min_size=1, max_size=12), places, st.data())
def test_one_result_changes_every_score_by_at_most_one(found: list[int], other: int, data: st.DataObject) -> None:
    moved = list(found)
    moved[data.draw(st.integers(0, len(found) - 1))] = other
    first, second = side_counts(np.array(found)), side_counts(np.array(moved))
    assert np.abs(first - second).max() <= 1


def test_a_median_is_near_the_middle() -> None:
    """Seeded."""
    query = BlockMedian(LeastSquares(2), 101, np.array([-100.0, 0.0]), np.array([100.0, 10.0]))
    results = np.column_stack([np.linspace(6.9, 7.1, 101), np.linspace(2.9, 3.1, 101)])
    found = answer_block_median(query, ChoicePrice(Fraction(1)), results, SeededEntropy(1)).value
    values = (query.lower + query.upper) / 2 + found * (query.upper - query.lower) / 2
    np.testing.assert_allclose(values, [7.0, 3.0], atol=0.2)


def test_without_noise_it_is_the_median() -> None:
    query = BlockMedian(LeastSquares(1), 3, np.array([-1.0]), np.array([1.0]))
    results = np.array([[5.0], [0.25], [-3.0]])
    assert answer_block_median(query, Price(1, 0), results, None).value.tolist() == [0.25]
