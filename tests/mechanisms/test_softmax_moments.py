"""Curvature and score of several classes: the right sums, and exact bounds for every pair of records and persons."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import CurvatureAndScore, GradientSum, QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.mechanisms.gradient import answer_gradient
from tacit.mechanisms.moments import answer_curvature_and_score, integer_pairs
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

CLASSES, WIDTH = 3, 4
SOFTMAX = classification.SOFTMAX
MATRIX = np.linalg.qr(np.random.default_rng(5).normal(size=(WIDTH, WIDTH)))[0] * 1.3


def table(rows: int, seed: int = 1, *, weighted: bool = False) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, WIDTH)) * rng.choice([0.01, 1.0, 30.0], size=(rows, 1))
    columns = [features, rng.integers(0, CLASSES, rows)]
    return np.column_stack([*columns, rng.random(rows)] if weighted else columns)


def coefficients(seed: int = 2, size: float = 1.0) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(WIDTH, CLASSES)) * size


def expected(
    Z: NDArray[np.float64], y: NDArray[np.float64], theta: NDArray[np.float64], bound: float
) -> NDArray[np.float64]:
    """Sums of w·2(diag p - p p') ⊗ z z' and of w²(p - e_y)(p - e_y)' / 2 ⊗ z z', record by record."""
    total = np.zeros((2, CLASSES * WIDTH, CLASSES * WIDTH))
    for z, label in zip(Z, y.astype(int), strict=True):
        p = classification.softmax_probability((z @ theta)[None])[0]
        weight, residual = min(1.0, bound**2 / (z @ z)), p - np.eye(CLASSES)[label]
        total[0] += weight * 2 * np.kron(np.diag(p) - np.outer(p, p), np.outer(z, z))
        total[1] += weight**2 / 2 * np.kron(np.outer(residual, residual), np.outer(z, z))
    return total


@pytest.mark.parametrize("matrix", [None, MATRIX])
def test_the_sums_are_those_of_downweighted_softmax_scores(matrix: NDArray[np.float64] | None) -> None:
    records, theta, bound = table(200), coefficients(), 1.5
    query = CurvatureAndScore(theta, bound, matrix, SOFTMAX)
    answer = answer_curvature_and_score(query, Price(2**36, 0), memory_store(records), None)
    Z = records[:, :WIDTH] if matrix is None else records[:, :WIDTH] @ matrix
    np.testing.assert_allclose(answer.value, expected(Z, records[:, WIDTH], theta, bound), atol=0.01)


def test_the_gradient_of_downweighted_rows_is_the_derivative_of_the_curvature() -> None:
    records, theta, bound, step = table(300), coefficients(), 1.5, 1e-4
    store, clip = memory_store(records), bound * SOFTMAX.lipschitz
    query = CurvatureAndScore(theta, bound, None, SOFTMAX)
    curvature = answer_curvature_and_score(query, Price(2**36, 0), store, None).value[0] * SOFTMAX.smoothness

    def gradient(at: NDArray[np.float64]) -> NDArray[np.float64]:
        asked = GradientSum(at, clip, downweighted=True, loss=SOFTMAX)
        return answer_gradient(asked, Price(2**36, 0), store, None).value.T.ravel()

    direction = coefficients(9)
    change = (gradient(theta + step * direction) - gradient(theta - step * direction)) / (2 * step)
    np.testing.assert_allclose(change, curvature @ direction.T.ravel(), atol=2e-2)


def hardest(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """Records on which two classes are even and the label is the third, and records of every length."""
    aligned = np.linalg.lstsq(theta.T, np.array([-30.0, 15.0, 15.0]) - theta.mean(axis=0), rcond=None)[0]
    rows = [np.append(aligned * scale, label) for scale in (0.3, 1.0, 5.0) for label in range(CLASSES)]
    units = np.column_stack([np.eye(WIDTH), np.arange(WIDTH) % CLASSES])
    return np.vstack([table(30), rows, units, -units, np.zeros((1, WIDTH + 1))])


@pytest.mark.parametrize("size", [0.1, 1.0, 1e3])
@pytest.mark.parametrize("relation", list(Relation))
def test_t04_no_neighbours_exceed_the_claimed_sensitivity(size: float, relation: Relation) -> None:
    bound, theta = 2**16, coefficients(size=size)
    query = CurvatureAndScore(theta, 1.0, None, SOFTMAX)
    records = hardest(theta)
    sums = [integer_pairs(query, bound, memory_store(record[None])).ravel().astype(object) for record in records]
    if relation is Relation.REPLACE_ONE:
        worst = max(int((a - b) @ (a - b)) for a, b in itertools.combinations(sums, 2))
    else:
        worst = max(int(a @ a) for a in sums)  # a record that is gone, or all zeros, adds nothing
    assert 0.1 * bound**2 < worst <= squared_sensitivity(QueryKind.SANDWICH, bound, relation)


@pytest.mark.parametrize("relation", list(Relation))
def test_t35_persons_keep_the_bound_of_a_record(relation: Relation) -> None:
    bound, theta = 2**16, coefficients()
    query = CurvatureAndScore(theta, 1.0, None, SOFTMAX)
    persons = [table(rows, seed) for seed, rows in enumerate([1, 2, 5, 5, 5, 3, 4])]
    persons += [np.repeat(record[None], 5, axis=0) for record in hardest(theta)[30:]]
    sums = [integer_pairs(query, bound, person_store([person], 5)).ravel().astype(object) for person in persons]
    if relation is Relation.REPLACE_ONE:
        worst = max(int((a - b) @ (a - b)) for a, b in itertools.combinations(sums, 2))
    else:
        worst = max(int(a @ a) for a in sums)
    assert 0.1 * bound**2 < worst <= squared_sensitivity(QueryKind.SANDWICH, bound, relation)
    together = integer_pairs(query, bound, person_store(persons, 5)).ravel().astype(object)
    assert (together == sum(sums)).all()


def test_a_person_with_one_record_is_that_record() -> None:
    records, query = table(70), CurvatureAndScore(coefficients(), 1.0, None, SOFTMAX)
    alone = integer_pairs(query, 2**30, memory_store(records))
    grouped = integer_pairs(query, 2**30, person_store([record[None] for record in records], 1))
    np.testing.assert_array_equal(alone, grouped)


def test_a_person_is_scored_as_a_whole() -> None:
    rows, theta, bound = table(3, 4), coefficients(), 50.0
    rows[:, :WIDTH] /= np.linalg.norm(rows[:, :WIDTH], axis=1)[:, None]
    query = CurvatureAndScore(theta, bound, None, SOFTMAX)
    found = answer_curvature_and_score(query, Price(2**40, 0), person_store([rows], 3), None).value
    residual = classification.softmax_probability(rows[:, :WIDTH] @ theta) - np.eye(CLASSES)[rows[:, -1].astype(int)]
    score = (residual.T @ rows[:, :WIDTH]).ravel() / np.sqrt(2) / len(rows)
    np.testing.assert_allclose(found[1], np.outer(score, score), atol=0.01)
    np.testing.assert_allclose(found[0], expected(rows[:, :-1], rows[:, -1], theta, bound)[0] / len(rows), atol=0.01)


def test_weights_and_what_no_store_holds_stay_within_the_bound() -> None:
    bound, theta = 2**14, coefficients()
    query = CurvatureAndScore(theta, 1.0, None, SOFTMAX)
    with np.errstate(over="ignore", invalid="ignore"):
        for seed, weight in itertools.product(range(5), [0.0, 0.3, 1.0, 7.0, -1.0, np.inf, np.nan]):
            record = table(1, seed, weighted=True)
            record[0, -1] = weight
            q = integer_pairs(query, bound, memory_store(record, weighted=True)).ravel().astype(object)
            assert int(q @ q) <= bound**2
        for feature in (np.inf, np.nan, 1e300):
            record = table(1)
            record[0, 0] = feature
            q = integer_pairs(query, bound, memory_store(record)).ravel().astype(object)
            assert int(q @ q) <= bound**2


def test_order_and_blocks_do_not_matter() -> None:
    records, query = table(300), CurvatureAndScore(coefficients(), 1.0, None, SOFTMAX)
    whole = integer_pairs(query, 2**30, memory_store(records))
    turned = integer_pairs(query, 2**30, memory_store(records[::-1].copy(), block_rows=64))
    np.testing.assert_array_equal(whole, turned)


def test_both_matrices_are_noised_and_stay_symmetric() -> None:
    store, query = memory_store(table(50)), CurvatureAndScore(coefficients(), 1.0, None, SOFTMAX)
    noisy = answer_curvature_and_score(query, Price(2**24, 18), store, SeededEntropy(1)).value
    quiet = answer_curvature_and_score(query, Price(2**24, 18), store, None).value
    np.testing.assert_array_equal(noisy, noisy.transpose(0, 2, 1))
    size = CLASSES * WIDTH
    assert len(np.unique(np.round(noisy - quiet, 9))) == size * (size + 1)


def test_classes_and_loss_must_fit() -> None:
    for theta, loss, share in (
        (coefficients(), classification.LOGISTIC, None),
        (coefficients()[:, 0], SOFTMAX, None),
        (coefficients(), SOFTMAX, 0.4),
    ):
        with pytest.raises(SettingError, match="softmax"):
            CurvatureAndScore(theta, 1.0, None, loss, share)
