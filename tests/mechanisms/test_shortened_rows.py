"""Rows that keep as much weight as their bounds allow: right sums, integer bounds, one record a unit."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.contract.query import CurvatureAndScore, GradientSum, QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.mechanisms.moments import answer_curvature_and_score, integer_pairs
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

THETA = np.array([0.7, -0.4, 0.2])
MATRIX = np.array([[2.0, 0.1, 0.0], [0.1, 0.5, 0.2], [0.0, 0.2, 1.0]])
BOUND, SHARE = 1.5, 0.7
FLAT, EVEN = replace(classification.LOGISTIC, smoothness=0.05), replace(classification.LOGISTIC, smoothness=0.6)
LOSSES = (FLAT, EVEN)
WILD = (
    *LOSSES,
    replace(regression.SQUARED, lipschitz=0.8),
    replace(poisson.weighted(1.0, 2.0, 30.0), lipschitz=0.7),
    classification.weighted_logistic(0.1),
)


def table(rows: int, seed: int = 1, lengths: tuple[float, ...] = (0.3, 1.0, 4.0)) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)) * rng.choice(lengths, size=(rows, 1))
    return np.column_stack([X, rng.integers(0, 2, rows)])


def parts(values: Any, loss: Loss, matrix: Any) -> tuple[Any, Any, Any, Any]:
    """Rows, weights, slopes and curvatures, written out once more."""
    Z = values[:, :3] if matrix is None else values[:, :3] @ matrix
    chance = classification.logistic_probability(Z @ THETA)
    bend, length = chance * (1 - chance), np.linalg.norm(Z, axis=1)
    flat = BOUND**2 * loss.smoothness / (bend * length**2)
    return Z, np.minimum(np.minimum(1.0, BOUND / length), flat), chance - values[:, 3], bend


@pytest.mark.parametrize("matrix", [None, MATRIX], ids=["plain", "mapped"])
@pytest.mark.parametrize("loss", LOSSES, ids=["flat", "even"])
def test_sums_are_those_of_the_weights(loss: Loss, matrix: Any) -> None:
    values = table(300)
    Z, weight, slope, bend = parts(values, loss, matrix)
    assert {bool(w < 1) for w in weight} == {True, False}
    store = memory_store(values)
    # Gradients are asked of mapped records, pairs map them themselves.
    query, mapped = GradientSum(THETA, BOUND, None, True, loss, shortened=True), np.column_stack([Z, values[:, 3]])
    found = answer_gradient(query, Price(2**36, 0), memory_store(mapped), None).value
    np.testing.assert_allclose(found, Z.T @ (weight * slope), atol=1e-6)
    pair = CurvatureAndScore(THETA, BOUND, matrix, loss, SHARE, shortened=True)
    both = answer_curvature_and_score(pair, Price(2**36, 0), store, None).value
    np.testing.assert_allclose(both[0], (Z.T * (weight * bend / loss.smoothness)) @ Z, atol=0.02)
    np.testing.assert_allclose(both[1], SHARE * (Z.T * (weight * slope) ** 2) @ Z, atol=0.02)


def test_the_curvature_is_the_derivative_of_the_gradient_where_weights_do_not_move() -> None:
    """With H far above every curvature the weight is min(1, C / ‖z‖), whatever theta is."""
    loss, store = replace(FLAT, smoothness=50.0), memory_store(table(200))
    pair = CurvatureAndScore(THETA, BOUND, None, loss, SHARE, shortened=True)
    curvature = answer_curvature_and_score(pair, Price(2**36, 0), store, None).value[0] * loss.smoothness

    def gradient(theta: Any) -> Any:
        query = GradientSum(theta, BOUND, None, True, loss, shortened=True)
        return answer_gradient(query, Price(2**36, 0), store, None).value

    for j, way in enumerate(np.eye(3) * 1e-3):
        np.testing.assert_allclose((gradient(THETA + way) - gradient(THETA - way)) / 2e-3, curvature[j], atol=0.1)


@pytest.mark.parametrize("loss", WILD, ids=lambda loss: f"{loss.name} {loss.smoothness:g}")
def test_no_pair_of_units_exceeds_the_claimed_sensitivity(loss: Loss) -> None:
    bound = 2**20
    units = [table(1, i, lengths=(0.01, 1.0, 30.0)) for i in range(60)] + [np.zeros((1, 4))]
    for direction, length in itertools.product(np.eye(3), (1e-9, 0.5, BOUND, BOUND - 1e-9, 6.0, 1e6, 1e30)):
        labels = (0.0, 1.0, 1.999, 1e12, -1e12, np.inf, np.nan)
        units += [np.append(length * direction, label)[None] for label in labels]
    pair = CurvatureAndScore(THETA, BOUND, None, loss, SHARE, shortened=True)
    gradient = GradientSum(THETA, BOUND * loss.lipschitz, None, True, loss, shortened=True)
    for kind, sums in (
        (QueryKind.SANDWICH, [integer_pairs(pair, bound, memory_store(unit)) for unit in units]),
        (QueryKind.GRADIENT, [integer_gradient_sum(gradient, bound, memory_store(unit)) for unit in units]),
    ):
        flat = [each.ravel().astype(object) for each in sums]
        largest = max(int(s @ s) for s in flat)
        assert largest <= bound**2
        assert largest > 0.5 * bound**2 or loss is not FLAT
        replaced = max(int((a - b) @ (a - b)) for a, b in itertools.combinations(flat, 2))
        assert replaced <= squared_sensitivity(kind, bound, Relation.REPLACE_ONE)


@pytest.mark.parametrize("loss", WILD, ids=lambda loss: f"{loss.name} {loss.smoothness:g}")
def test_hostile_rows_keep_the_bound(loss: Loss) -> None:
    """300 rows of every size at parameters of every size: ‖q‖ ≤ S and ‖v‖⁴ + ‖u‖⁴ ≤ S², exactly."""
    rng, bound = np.random.default_rng(7), 2**30
    for _ in range(300):
        row = rng.normal(size=3) * 10.0 ** rng.uniform(-30, 15, 3)
        record = np.append(row, rng.choice([0.0, 1.0, 1e300, -1e300, np.nan]))[None]
        theta, rows = rng.normal(size=3) * 10.0 ** rng.uniform(-9, 9), float(10.0 ** rng.uniform(-9, 9))
        curved = replace(loss, smoothness=float(10.0 ** rng.uniform(-9, 9)))
        pair = CurvatureAndScore(theta, rows, None, curved, float(rng.choice([1e-6, 0.4, 1.0])), shortened=True)
        gradient = GradientSum(theta, rows, None, True, curved, shortened=True)
        for total in (
            integer_pairs(pair, bound, memory_store(record)),
            integer_gradient_sum(gradient, bound, memory_store(record)),
        ):
            whole = [int(number) for number in total.ravel()]
            assert sum(number**2 for number in whole) <= bound**2


def test_persons_of_several_records_are_refused() -> None:
    store = person_store([table(2)], 4)
    with pytest.raises(SettingError, match="one record each"):
        integer_gradient_sum(GradientSum(THETA, BOUND, None, True, FLAT, shortened=True), 2**20, store)
    with pytest.raises(SettingError, match="one record each"):
        integer_pairs(CurvatureAndScore(THETA, BOUND, None, FLAT, SHARE, shortened=True), 2**20, store)


def test_shortened_pairs_need_a_share_of_the_score() -> None:
    with pytest.raises(SettingError, match="share of the score"):
        CurvatureAndScore(THETA, BOUND, None, FLAT, shortened=True)
