"""Vertices: what a record adds to a score, the scores against a plain sum, dense and sparse alike."""

from fractions import Fraction

import numpy as np
import pytest

from tacit.contract.query import QueryKind
from tacit.contract.selection_price import score_range, selection_price
from tacit.contract.selection_query import VertexChoice
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.vertex_choice import answer_vertex, vertex_scores
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

BOUND, WIDTH = 2**20, 4
LOSSES = (classification.LOGISTIC, classification.hinge(), regression.SQUARED, regression.huber(0.3))
BAD = ([1e6, 0, 0, 1, 1], [-1, 1, 1, 1, 0], [0, 0, 1e30, 1, 0], [0, 0, 0, 0, 1], [1, -1, 1, 1e9, 1])
RADII = np.array([1.0, 3.0, 0.5, 2.0])


def table(rows: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1, 1, size=(rows, WIDTH + 1))
    values[:, WIDTH - 1] = 1.0
    values[:, WIDTH] = rng.random(rows) < 0.5
    return values


def asked(loss: Loss, constant: bool, seed: int = 0) -> VertexChoice:
    theta = np.random.default_rng(seed).normal(size=WIDTH) * 3
    return VertexChoice(theta, RADII, 0.5, loss, constant)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_record_adds_at_most_the_bound_to_every_score(loss: Loss, constant: bool) -> None:
    for seed, bad in enumerate(BAD):
        query = asked(loss, constant, seed)
        alone = vertex_scores(query, BOUND, memory_store(np.array([bad], dtype=float)))
        assert np.abs(alone).max() <= BOUND
        values = table(7, seed)
        replaced, blank = values.copy(), values.copy()
        replaced[0], blank[0] = bad, 0.0
        base = vertex_scores(query, BOUND, memory_store(values))
        for relation, other in (
            (Relation.REPLACE_ONE, replaced),
            (Relation.ZERO_OUT, blank),
            (Relation.ADD_REMOVE, values[1:]),
        ):
            moves = vertex_scores(query, BOUND, memory_store(other)) - base
            assert np.ptp(moves) <= score_range(QueryKind.SIGNED_SELECTION, BOUND, relation)


@pytest.mark.parametrize("constant", [True, False])
def test_scores_are_linear_forms_of_the_clipped_gradient(constant: bool) -> None:
    values, query = table(130), asked(classification.LOGISTIC, constant)
    found = vertex_scores(query, BOUND, memory_store(values)) / BOUND
    slopes = np.clip(1 / (1 + np.exp(-(values[:, :WIDTH] @ query.theta))) - values[:, WIDTH], -0.5, 0.5) / 0.5
    whole = RADII[:-1].max() + RADII[-1] if constant else RADII.max()
    form = values[:, :WIDTH].T @ slopes * RADII / whole
    expected = np.stack([form, -form])[np.newaxis]
    if constant:
        expected = np.stack([np.stack([form[:-1] + side, -form[:-1] + side]) for side in (form[-1], -form[-1])])
    assert np.allclose(found, expected, atol=1e-3)


def test_order_and_blocks_change_nothing() -> None:
    values, query = table(300), asked(regression.SQUARED, True)
    whole = vertex_scores(query, BOUND, memory_store(values))
    assert np.array_equal(whole, vertex_scores(query, BOUND, memory_store(values[::-1].copy(), block_rows=64)))


def test_the_answer_is_the_vertex_of_the_drawn_score() -> None:
    """Without noise the best vertex; with a range of 400 the same, but for a probability below 1e-30."""
    values, query = table(500), asked(classification.LOGISTIC, True)
    scores = vertex_scores(query, BOUND, memory_store(values))
    level, side, place = np.unravel_index(int(np.argmin(scores)), scores.shape)
    exact = answer_vertex(query, Price(BOUND, 0), memory_store(values), None).value
    assert exact.tolist() == [float(place), 1.0 - 2.0 * side, 1.0 - 2.0 * level]
    price = selection_price(QueryKind.SIGNED_SELECTION, Fraction(4000), Relation.REPLACE_ONE)
    assert answer_vertex(query, price, memory_store(values), SeededEntropy(2)).value.tolist() == exact.tolist()


def test_no_records_and_units() -> None:
    query = asked(classification.LOGISTIC, False)
    assert not vertex_scores(query, BOUND, memory_store(table(0))).any()
    with pytest.raises(SettingError, match="without units"):
        vertex_scores(query, BOUND, person_store([table(3)[:2], table(3)[:1]], 2))
