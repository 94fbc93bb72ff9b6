"""One query, two records: the shift of the answer is the sensitivity that is paid for."""

import math
from typing import Any

import numpy as np
import pytest

from tacit.audit.block_answers import BLOCK_QUERIES
from tacit.audit.single_answers import (
    NOTHING,
    PURE_QUERIES,
    QUERIES,
    RememberingStore,
    minimum_price,
    prepared_table,
    relations_of,
)
from tacit.contract.query import BatchGradientSum, CurvatureAndScore, GradientSum, NoisyMinimum, PerturbedMinimum
from tacit.contract.selection_query import CandidateChoice, StatisticChoice, VertexChoice
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.query_responder import MECHANISMS
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore

CHOICES = (CandidateChoice, StatisticChoice, VertexChoice)
REACHED = [(q, it) for q in QUERIES if q not in {PerturbedMinimum, *CHOICES} for it in relations_of(q)]


def test_every_query_that_is_answered_is_attacked() -> None:
    # Of a batch nobody knows which records it has: it is attacked by coefficients (registry.OTHERS).
    # Those of blocks are in `block_answers`.
    assert {*QUERIES, *BLOCK_QUERIES} == set(MECHANISMS) - {BatchGradientSum}


@pytest.mark.parametrize(("query", "relation"), REACHED)
def test_the_two_records_reach_the_sensitivity(query: type, relation: Relation) -> None:
    """Scores have mean μ²/2 and deviation μ where the shift is the whole sensitivity.

    Seeded, 400 runs. The curvature and the score of one record reach 0.97 of their joint bound.
    """
    worlds = QUERIES[query].worlds(relation, 2.0, 1)
    assert worlds.claim.mu == pytest.approx(2.0)
    scores = worlds.draw(1, 400)
    share = 0.97**2 if query is CurvatureAndScore else 1.0
    assert np.mean(scores) == pytest.approx(2.0 * share, abs=0.35)
    assert np.std(scores) == pytest.approx(2.0 * math.sqrt(share), abs=0.3)
    assert np.mean(worlds.draw(0, 400)) == pytest.approx(-2.0 * share, abs=0.35)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("query", CHOICES)
def test_losses_of_a_selection_span_its_range(query: type, relation: Relation) -> None:
    """Seeded, 400 runs a world: the log-likelihood ratios of the drawn indices lie in an interval of length η = 2."""
    worlds = QUERIES[query].worlds(relation, 2.0, 1)
    assert worlds.claim.mu is None
    assert worlds.claim.pure_epsilon == 2
    scores = np.concatenate([worlds.draw(0, 400), worlds.draw(1, 400)])
    assert np.ptp(scores) == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("relation", relations_of(PerturbedMinimum))
def test_a_perturbed_minimum_has_an_epsilon_and_no_mu(relation: Relation) -> None:
    """The scores are log-likelihood ratios: their mean, over e^score, is 1. Seeded, 400 runs."""
    worlds = QUERIES[PerturbedMinimum].worlds(relation, 1.0, 1)
    assert worlds.claim.mu is None
    assert worlds.claim.epsilon(1e-5) == pytest.approx(4.377, abs=0.01)
    first, second = worlds.draw(0, 400), worlds.draw(1, 400)
    assert np.mean(np.exp(first)) == pytest.approx(1.0, abs=0.15)
    assert np.mean(np.exp(-second)) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ZERO_OUT])
@pytest.mark.parametrize("query", [GradientSum, NoisyMinimum])
def test_pure_answers_reach_their_sensitivity(query: type, relation: Relation) -> None:
    """A log-likelihood ratio is within ±ε, and comes near it. Seeded, 400 runs; the noise is rounded, which is free."""
    worlds = PURE_QUERIES[query].worlds(relation, 2.0, 1)
    assert worlds.claim.mu is None
    assert worlds.claim.pure_epsilon == pytest.approx(2.0)
    scores = np.concatenate([worlds.draw(0, 400), worlds.draw(1, 400)])
    assert 1.9 < np.max(np.abs(scores)) <= 2.0 * (1 + 1e-6)


def test_a_pure_perturbed_minimum_shows_no_more_than_its_epsilon() -> None:
    """Of every answer: the logarithm of the ratio of densities. Seeded, 100 runs a world."""
    worlds = PURE_QUERIES[PerturbedMinimum].worlds(Relation.ZERO_OUT, 2.0, 1)
    scores = np.concatenate([worlds.draw(0, 100), worlds.draw(1, 100)])
    assert 0.5 < np.max(np.abs(scores)) <= 2.0


def test_a_minimum_price_needs_a_public_number_of_records() -> None:
    assert Relation.ADD_REMOVE not in relations_of(PerturbedMinimum)
    assert minimum_price(1.0, Relation.ZERO_OUT, 2).ratio > 0


def test_a_sum_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    total = MemoryStore.total

    def noting(*given: Any) -> Any:
        asked.append(1)
        return total(*given)

    monkeypatch.setattr(MemoryStore, "total", noting)
    case = QUERIES[GradientSum]
    store = prepared_table([case.first, NOTHING])
    assert isinstance(store, RememberingStore)
    query = case.query
    assert isinstance(query, GradientSum)
    sums = [integer_gradient_sum(query, bound, store) for bound in (1000, 1000, 2000, 1000)]
    assert len(asked) == 2
    np.testing.assert_array_equal(sums[0], sums[1])
    plain = integer_gradient_sum(query, 1000, prepared_table([case.first, NOTHING], MemoryStore))
    np.testing.assert_array_equal(sums[3], plain)
