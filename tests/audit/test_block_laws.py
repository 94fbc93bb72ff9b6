"""Known blocks, and the exact law of a median."""

from fractions import Fraction

import numpy as np

from tacit.audit.block_laws import KnownDraws, MedianLaw
from tacit.contract.block_price import ChoicePrice
from tacit.contract.block_query import BlockMedian, LeastSquares
from tacit.contract.query import Answer
from tacit.mechanisms.block_median import CELLS
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
