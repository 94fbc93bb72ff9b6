"""Curvature and score together: the right sums, and integer bounds for every pair of records."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import CurvatureAndScore, QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.moments import answer_curvature_and_score, integer_pairs
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store

LOSSES = [classification.LOGISTIC, regression.smooth_huber(1.345), regression.huber(0.5), classification.hinge()]
THETA = np.array([0.7, -0.4, 0.2])
MATRIX = np.array([[2.0, 0.1, 0.0], [0.1, 0.5, 0.2], [0.0, 0.2, 1.0]])


def table(rows: int, seed: int = 1) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3)) * rng.choice([0.01, 1.0, 30.0], size=(rows, 1))
    return np.column_stack([X, rng.integers(0, 2, rows)])


@pytest.mark.parametrize("matrix", [None, MATRIX])
def test_the_sums_are_those_of_downweighted_logistic_scores(matrix: NDArray[np.float64] | None) -> None:
    records, clip = table(200), 1.5
    query = CurvatureAndScore(THETA, clip, matrix, classification.LOGISTIC)
    answer = answer_curvature_and_score(query, Price(2**36, 0), memory_store(records), None)
    Z = records[:, :3] if matrix is None else records[:, :3] @ matrix
    p = classification.logistic_probability(Z @ THETA)
    w = np.minimum(1, clip**2 / (Z**2).sum(axis=1))
    curvature = (Z.T * (4 * w * p * (1 - p))) @ Z
    score = (Z.T * (w * (p - records[:, 3])) ** 2) @ Z
    np.testing.assert_allclose(answer.value[0], curvature, atol=0.01)
    np.testing.assert_allclose(answer.value[1], score, atol=0.01)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_t04_no_pair_of_records_exceeds_the_claimed_sensitivity(loss: Loss) -> None:
    bound = 2**16
    query = CurvatureAndScore(THETA, 1.0, None, loss)
    records = np.vstack([table(40), np.column_stack([np.eye(3), [0, 1, 1]]), np.zeros((1, 4))])
    sums = [integer_pairs(query, bound, memory_store(record[None])).ravel().astype(object) for record in records]
    assert max(int(s @ s) for s in sums) <= bound**2
    replace = squared_sensitivity(QueryKind.SANDWICH, bound, Relation.REPLACE_ONE)
    assert replace == 2 * bound**2
    worst = max(int((a - b) @ (a - b)) for a, b in itertools.combinations(sums, 2))
    assert 0.2 * replace < worst <= replace
    assert squared_sensitivity(QueryKind.SANDWICH, bound, Relation.ZERO_OUT) == bound**2


def test_a_loss_that_claims_too_little_is_shrunk_not_believed() -> None:
    liar = Loss("liar", classification.LOGISTIC.code, lipschitz=0.01, smoothness=0.001, joint=1.0)
    query = CurvatureAndScore(THETA, 1.0, None, liar)
    for seed in range(30):
        q = integer_pairs(query, 2**14, memory_store(table(1, seed))).ravel().astype(object)
        assert int(q @ q) <= 2**28


def test_weights_shrink_a_record_and_order_does_not_matter() -> None:
    records = table(130)
    query = CurvatureAndScore(THETA, 1.0, None, classification.LOGISTIC)
    whole = integer_pairs(query, 2**30, memory_store(records))
    turned = integer_pairs(query, 2**30, memory_store(records[::-1].copy(), block_rows=64))
    np.testing.assert_array_equal(whole, turned)


def test_both_matrices_are_noised_and_stay_symmetric() -> None:
    store = memory_store(table(50))
    query = CurvatureAndScore(THETA, 1.0, None, classification.LOGISTIC)
    noisy = answer_curvature_and_score(query, Price(2**20, 18), store, SeededEntropy(1)).value
    quiet = answer_curvature_and_score(query, Price(2**20, 18), store, None).value
    np.testing.assert_array_equal(noisy, noisy.transpose(0, 2, 1))
    assert len(np.unique(np.round(noisy - quiet, 9))) == 12
