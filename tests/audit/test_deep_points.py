"""Worst results for deep points, and rows of which least squares finds them."""

from fractions import Fraction

import numpy as np
import pytest

from tacit import audit
from tacit.audit.answer_laws import AuditedTable
from tacit.audit.deep_points import DEEP_FIT, deep_results, fitted_pair
from tacit.contract.block_price import depth_price
from tacit.contract.block_query import BlockDepth, LeastSquares
from tacit.design.response import Continuous
from tacit.mechanisms.block_depth import boxes, distance, log_volumes


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(5)])
def test_one_block_takes_the_test_to_its_threshold(epsilon: Fraction) -> None:
    price = depth_price(epsilon, Fraction(1, 10**5))
    for size in (1, 2):
        found = deep_results(price, size)
        blocks = len(found.first)
        distances = [distance(log_volumes(*boxes(it)), blocks, price) for it in (found.first, found.second)]
        assert distances == [price.threshold - 1, price.threshold]
        assert np.array_equal(found.first[:-1], found.second[:-1])


def test_least_squares_find_the_results() -> None:
    found = deep_results(depth_price(Fraction(2), Fraction(1, 10**5)), 2)
    design = DEEP_FIT.plan(2.0).design
    assert isinstance(design.response, Continuous)
    pair = fitted_pair(found, design)
    assert np.array_equal(pair.first.X, pair.second.X)
    assert np.flatnonzero(pair.first.y != pair.second.y).tolist() == [0]
    query = BlockDepth(LeastSquares(2), len(found.first))
    for records, results in ((pair.first, found.first), (pair.second, found.second)):
        own = AuditedTable(records.admitted(design, exact=True), {})._results_of(query) * design.response.scale
        assert np.allclose(np.sort(own[:, 0]), np.sort(results[:, 0]), rtol=1e-9)
        assert np.allclose(np.sort(own[:, 1]), np.sort(results[:, 1]), atol=0.1)


def test_transcripts_of_deep_points_cost_no_more_than_was_paid() -> None:
    found = audit.replay("TukeyRegressor", mu=2, pairs=40)
    assert found.exceeded == 0
