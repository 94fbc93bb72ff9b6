"""Curvature and clipped score together, the score with a share: right sums, integer bounds."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import CurvatureAndScore, QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.moments import answer_curvature_and_score, integer_pairs
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

THETA = np.array([0.7, -0.4, 0.2])
MATRIX = np.array([[2.0, 0.1, 0.0], [0.1, 0.5, 0.2], [0.0, 0.2, 1.0]])
BOUND = 1.5
SQUARED = replace(regression.SQUARED, lipschitz=0.8)
COUNTS = replace(poisson.weighted(1.0, 2.0, 30.0), lipschitz=0.7)
LABELS = classification.weighted_logistic(0.1)
LOSSES = (SQUARED, COUNTS, LABELS, replace(LABELS, lipschitz=0.3))
SHARES = (0.1, 0.4, 1.0)


def table(rows: int, seed: int = 1, lengths: tuple[float, ...] = (0.01, 1.0, 30.0)) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)) * rng.choice(lengths, size=(rows, 1))
    return np.column_stack([X, rng.integers(0, 2, rows)])


def derivatives(loss: Loss, margin: Any, y: Any) -> tuple[Any, Any]:
    """Slopes and curvatures, written out once more."""
    if loss.code is SQUARED.code:
        return margin - y, np.ones_like(margin)
    if loss.code is COUNTS.code:
        rate = np.exp(np.clip(margin, loss.shape[0], loss.shape[1]))
        return np.minimum(1, 2.0 / rate) * (rate - y), np.minimum(rate, 2.0)
    chance = classification.logistic_probability(margin)
    bend = chance * (1 - chance)
    return np.minimum(1, 0.1 / bend) * (chance - y), np.minimum(bend, 0.1)


def pair_by_hand(
    loss: Loss, people: list[Any], share: float, matrix: Any = None, *, weighted: bool = False
) -> tuple[NDArray[np.float64], int]:
    """Both matrices of persons with one or more records, and how many persons were clipped."""
    both, clipped = np.zeros((2, 3, 3)), 0
    for rows in people:
        Z = rows[:, :3] if matrix is None else rows[:, :3] @ matrix
        own = (rows[:, 4] if weighted else np.ones(len(rows))) / len(rows)
        lengths = np.linalg.norm(Z, axis=1)
        w = min(1.0, BOUND**2 / np.mean(lengths**2))
        slope, curvature = derivatives(loss, Z @ THETA, rows[:, 3])
        score = w * Z.T @ (own * slope) / loss.lipschitz
        steep = float(np.linalg.norm(score)) / BOUND
        if steep > 1:
            score, curvature, clipped = score / steep, 0 * curvature, clipped + 1
        both[0] += w * (Z.T * (own * curvature / loss.smoothness)) @ Z
        both[1] += share * np.outer(score, score)
    return both, clipped


def records(values: Any) -> list[Any]:
    return [row[None] for row in values]


@pytest.mark.parametrize("matrix", [None, MATRIX], ids=["plain", "mapped"])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name} {loss.lipschitz}")
def test_the_sums_are_those_of_clipped_scores_and_of_curvatures_that_were_not(
    loss: Loss, share: float, matrix: Any
) -> None:
    values = table(300, lengths=(0.3, 1.0, 3.0))
    query = CurvatureAndScore(THETA, BOUND, matrix, loss, share)
    expected, clipped = pair_by_hand(loss, records(values), share, matrix)
    assert 0 < clipped < 300 or loss.lipschitz == 1.0
    found = answer_curvature_and_score(query, Price(2**36, 0), memory_store(values), None)
    np.testing.assert_allclose(found.value, expected, atol=0.02)


def test_one_record_shows_what_is_clipped_and_what_is_not() -> None:
    """At a residual of r the score is r² until the clip, and the curvature 1 until there."""
    loss, row = replace(regression.SQUARED, lipschitz=2.0), np.array([0.6, 0.0, 0.0])
    query = CurvatureAndScore(np.zeros(3), 1.0, None, loss, 0.5)
    for residual, (curved, steep) in {
        0.5: (0.36, 0.36 * (0.5 / 2) ** 2),
        3.3: (0.36, 0.36 * (3.3 / 2) ** 2),
        # 0.6·3.4 is above 1·2: the gradient is cut to norm 2, and there is no curvature.
        3.4: (0.0, 1.0),
        1e9: (0.0, 1.0),
    }.items():
        store = memory_store(np.append(row, residual)[None])
        answer = answer_curvature_and_score(query, Price(2**36, 0), store, None).value
        assert answer[0, 0, 0] == pytest.approx(curved, abs=1e-4)
        assert answer[1, 0, 0] == pytest.approx(0.5 * steep, abs=1e-4)


@pytest.mark.parametrize("several", [False, True], ids=["records", "persons"])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name} {loss.lipschitz}")
def test_no_pair_of_units_exceeds_the_claimed_sensitivity(loss: Loss, share: float, several: bool) -> None:
    """‖v‖⁴ + ‖w‖⁴ ≤ bound² for a unit's vectors v and w: near, far, and at the clip from below."""
    bound = 2**20
    query = CurvatureAndScore(THETA, BOUND, None, loss, share)
    units = [table(1 + i % 4 * several, i) for i in range(60)] + [np.zeros((1, 4))]
    for direction, length in itertools.product(np.eye(3), (0.5, 1.5, 1.5 - 1e-9, 1e6)):
        labels = (0.0, 1.0, 1.999, 2.0, 1e12, -1e12)
        units += [np.append(length * direction, label)[None] for label in labels]
    # A row of norm BOUND whose gradient is just not clipped has the largest pair there is.
    units.append(np.array([[BOUND, 0.0, 0.0, BOUND * THETA[0] + 0.8 * (1 - 1e-9)]]))
    sums = []
    for unit in units:
        store = person_store([unit], 4) if several else memory_store(unit)
        sums.append(integer_pairs(query, bound, store).ravel().astype(object))
    largest = max(int(s @ s) for s in sums)
    assert largest <= bound**2
    if loss is SQUARED and not several:
        assert largest > 0.99 * bound**2
    replaced = max(int((a - b) @ (a - b)) for a, b in itertools.combinations(sums, 2))
    assert replaced <= squared_sensitivity(QueryKind.SANDWICH, bound, Relation.REPLACE_ONE)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name} {loss.lipschitz}")
def test_persons_are_clipped_as_a_whole(loss: Loss, weighted: bool) -> None:
    rng, share = np.random.default_rng(3), 0.4
    people = []
    for i in range(150):
        rows = table(1 + i % 5, i, (0.2, 0.7, 3.0))
        rows[:, 3] = rng.integers(0, 4, len(rows))
        people.append(np.column_stack([rows, rng.random(len(rows))])[:, : 4 + weighted])
    query = CurvatureAndScore(THETA, BOUND, None, loss, share)
    expected, clipped = pair_by_hand(loss, people, share, weighted=weighted)
    assert loss is LABELS or 0 < clipped < 150
    store = person_store(people, 5, weighted=weighted)
    found = answer_curvature_and_score(query, Price(2**36, 0), store, None)
    np.testing.assert_allclose(found.value, expected, atol=0.02)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: f"{loss.name} {loss.lipschitz}")
def test_weights_shorten_a_gradient_before_it_is_clipped(loss: Loss) -> None:
    rng = np.random.default_rng(4)
    values = np.column_stack([table(200, lengths=(0.3, 3.0)), rng.random(200)])
    query = CurvatureAndScore(THETA, BOUND, None, loss, 0.4)
    expected, _ = pair_by_hand(loss, records(values), 0.4, weighted=True)
    store = memory_store(values, weighted=True)
    found = answer_curvature_and_score(query, Price(2**36, 0), store, None)
    np.testing.assert_allclose(found.value, expected, atol=0.02)


def test_integers_do_not_depend_on_blocks_and_order() -> None:
    values, query = table(130), CurvatureAndScore(THETA, BOUND, None, SQUARED, 0.4)
    whole = integer_pairs(query, 2**30, memory_store(values))
    turned = integer_pairs(query, 2**30, memory_store(values[::-1].copy(), block_rows=64))
    np.testing.assert_array_equal(whole, turned)


def test_the_share_makes_room_for_the_curvature() -> None:
    """Both answers have one noise scale: with less score in the bound it is smaller."""
    store, price = memory_store(table(50)), Price(2**20, 18)
    scales = {
        share: answer_curvature_and_score(
            CurvatureAndScore(THETA, BOUND, None, SQUARED, share), price, store, SeededEntropy(1)
        ).noise_scale
        for share in SHARES
    }
    for share, scale in scales.items():
        expected = BOUND**2 / 4 * np.sqrt(1 + share**2)
        assert scale == pytest.approx(expected, rel=0.01)
