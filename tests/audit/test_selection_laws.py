"""Laws of selections and draws: probabilities add up, ratios are within the price, and shifts never exceed it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit.audit.selection_laws import ChoiceLaw, PosteriorLaw
from tacit.contract.query import Answer
from tacit.contract.selection_price import SelectionPrice
from tacit.contract.selection_query import CandidateChoice, PosteriorDraw, SelectionLaw, VertexChoice
from tacit.contract.sensitivity import Price
from tacit.losses import classification
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store

FIRST, SECOND = np.array([0, 3, 7, 2, 9, 4]), np.array([3, 0, 7, 3, 8, 4])


def law_of(kind: SelectionLaw) -> ChoiceLaw:
    query = CandidateChoice(np.zeros((6, 2)), 1.0)
    return ChoiceLaw(query, SelectionPrice(4, Fraction(1, 3), kind), FIRST, SECOND)


@pytest.mark.parametrize("kind", list(SelectionLaw))
def test_probabilities_add_up_and_ratios_are_within_the_price(kind: SelectionLaw) -> None:
    law = law_of(kind)
    total = sum(math.exp(law._log_probability(FIRST, index)) for index in range(6))
    assert math.isclose(total, 1.0, rel_tol=1e-9)
    ratios = [law.log_ratio(Answer(np.array([float(index)]), 0.0)) for index in range(6)]
    (shown,) = law.shifts(Answer(np.array([0.0]), 0.0), Relation.REPLACE_ONE, 1)
    assert (shown.realised, shown.paid) == (Fraction(6, 3), Fraction(8, 3))
    assert max(np.abs(ratios)) <= float(shown.realised)
    if kind is SelectionLaw.EXPONENTIAL:
        assert math.isclose(max(ratios) - min(ratios), float(shown.realised))


def test_a_seeded_fault_is_seen() -> None:
    """Scores that move by more than the bound show more than was paid."""
    query = CandidateChoice(np.zeros((2, 2)), 1.0)
    law = ChoiceLaw(query, SelectionPrice(4, Fraction(1, 3)), np.array([0, 0]), np.array([9, 0]))
    (shown,) = law.shifts(Answer(np.array([0.0]), 0.0), Relation.REPLACE_ONE, 1)
    assert shown.realised > shown.paid


def test_a_vertex_is_found_by_its_place_and_signs() -> None:
    query = VertexChoice(np.zeros(3), np.ones(3), 1.0, classification.LOGISTIC, constant=True)
    law = ChoiceLaw(query, SelectionPrice(4, Fraction(1, 3)), np.arange(8), np.arange(8))
    scores = np.arange(8).reshape(2, 2, 2)
    for level, side, place in np.ndindex(2, 2, 2):
        answer = Answer(np.array([place, 1 - 2 * side, 1 - 2 * level], dtype=float), 0.0)
        assert law._index(answer) == scores[level, side, place]


def test_a_posterior_shows_the_gradients() -> None:
    """One record more or less, with a slope at its bound: half of a replaced one's μ² of 4."""
    query, price = PosteriorDraw(1.0, 5.0, 2.0, 8), Price(2**10, 10)
    tables = [np.array([[0.0, 1.0, label]]) for label in (0.0, 1.0)]
    law = PosteriorLaw.of(query, price, (memory_store(tables[0]), memory_store(tables[1])))
    (shown,) = law.shifts(Answer(np.zeros(2), 0.0), Relation.REPLACE_ONE, 1)
    assert math.isclose(float(shown.realised), 1.0, rel_tol=1e-6)
    assert 4 <= shown.paid < 4.0001
    assert law.log_ratio(Answer(np.array([0.0, 1.0]), 0.0)) > 0 > law.log_ratio(Answer(np.array([0.0, -1.0]), 0.0))
