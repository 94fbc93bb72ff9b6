"""Known blocks, and the exact laws of a median and of a deep point."""

import math
from fractions import Fraction

import numpy as np

from tacit.audit.block_laws import DepthLaw, KnownDraws, MedianLaw
from tacit.audit.deep_points import deep_results
from tacit.contract.block_price import ChoicePrice, depth_price
from tacit.contract.block_query import BlockDepth, BlockMedian, LeastSquares
from tacit.contract.query import Answer
from tacit.mechanisms.block_depth import answer_block_depth
from tacit.mechanisms.block_median import CELLS
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation

QUERY = BlockMedian(LeastSquares(1), 6, np.array([-1.0]), np.array([1.0]))


def test_all_but_the_first_unit_stay_where_they_are() -> None:
    draws = KnownDraws()
    assert draws.blocks(7, 3)[1:].tolist() == draws.blocks(6, 3).tolist()
    assert draws.order(3).tolist() == [2, 1, 0]


def test_probabilities_add_up_and_ratios_are_within_the_range() -> None:
    both = np.array([[-0.5]] * 3 + [[0.5]] * 3), np.array([[-0.5]] * 4 + [[0.5]] * 2)
    law = MedianLaw(QUERY, ChoicePrice(Fraction(1, 2)), both)
    for logs in law.log_probabilities:
        assert abs(np.exp(logs).sum() - 1.0) < 1e-9
    (shift,) = law.shifts(Answer(np.zeros(1), 0.0), Relation.REPLACE_ONE, 1)
    assert Fraction(1, 4) < shift.realised <= shift.paid
    # The first cell is beyond all results: one more is above it in neither world.
    first = Answer(np.array([1.0 / CELLS - 1.0]), 0.0)
    middle = Answer(np.array([1.0 / CELLS]), 0.0)
    assert law.log_ratio(middle) < law.log_ratio(first)


def test_the_law_of_a_deep_point_is_that_of_the_mechanism() -> None:
    """4000 draws with a seed: 5 deviations are a false-alarm rate of 1e-6."""
    price = depth_price(Fraction(2), Fraction(1, 10**5))
    found = deep_results(price, 2)
    query = BlockDepth(LeastSquares(2), len(found.first))
    law = DepthLaw(query, price, (found.first, found.second))
    entropy = SeededEntropy(3)
    drawn = [answer_block_depth(query, price, found.first, entropy) for _ in range(4000)]
    failed = [bool(np.isnan(it.value).any()) for it in drawn]
    share = math.exp(law.log_shares[0][0])
    assert abs(np.mean(failed) - share) < 5 * math.sqrt(share * (1 - share) / 4000)
    ratios = np.array([law.log_ratio(it) for it in drawn])
    # The mean of P₁ / P₀ under P₀ is the probability under P₁ of all that P₀ can draw: 1, but for δ.
    spread = float(np.std(np.exp(ratios))) / math.sqrt(4000)
    assert abs(float(np.exp(ratios).mean()) - 1.0) < 5 * spread
    epsilon = float(price.test + 2 * price.rate + price.shell)
    assert 0.9 * epsilon < ratios.max() <= epsilon
    test, point = law.shifts(drawn[0], Relation.REPLACE_ONE, 1)
    assert test.realised == test.paid
    assert point.realised == point.paid
