"""Second moments and sandwiches over persons: all records of a person within one bound."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import CurvatureAndScore, QueryKind, SecondMoments, Weights
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.losses import classification
from tacit.losses.loss import Loss
from tacit.mechanisms.moments import (
    answer_curvature_and_score,
    answer_second_moments,
    integer_pairs,
    integer_second_moments,
    moment_limit,
)
from tacit.mechanisms.person_kernels import write_products
from tacit.privacy.relation import Relation
from tacit.rows.storage.person_store import PersonStore
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

THETA = np.array([1.5, -0.7, 0.4])
MATRIX = np.array([[3.0, 0.2, 0.0], [0.1, 0.5, -2.0], [0.0, 0.3, 1.0]])
SIZES = np.random.default_rng(3).integers(1, 8, 150)
QUERIES: dict[str, SecondMoments | CurvatureAndScore] = {
    "plain": SecondMoments(1.8),
    "mapped": SecondMoments(0.5, MATRIX),
    "curvature": SecondMoments(1.8, None, THETA, Weights.CURVATURE),
    "score": SecondMoments(0.9, MATRIX, THETA, Weights.SCORE),
    "pair": CurvatureAndScore(THETA, 1.8, None, classification.LOGISTIC),
    "pair, mapped": CurvatureAndScore(THETA, 4.0, MATRIX, classification.LOGISTIC),
}


def persons(sizes: Any, *, weighted: bool = False, seed: int = 0) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    found = []
    for size in sizes:
        rows = rng.normal(size=(size, 4 + weighted)) * rng.choice([0.05, 1.0, 20.0], (size, 1))
        rows[:, 3] = rng.integers(0, 2, size)
        rows[:, 4:] = rng.random((size, int(weighted)))
        found.append(rows)
    return found


def integers(query: SecondMoments | CurvatureAndScore, bound: int, store: PersonStore) -> NDArray[Any]:
    """The sum that is noised, as a vector of exact integers."""
    if isinstance(query, SecondMoments):
        return integer_second_moments(query, bound, store).ravel().astype(object)
    return integer_pairs(query, bound, store).ravel().astype(object)


def reference(
    people: list[NDArray[np.float64]], query: SecondMoments | CurvatureAndScore, *, weighted: bool
) -> NDArray[np.float64]:
    """Curvature and score, or the one that is asked for."""
    both = np.zeros((2, 3, 3))
    for rows in people:
        Z = rows[:, :3] if query.matrix is None else rows[:, :3] @ query.matrix
        own = (rows[:, 4] if weighted else np.ones(len(rows))) / len(rows)
        norms = np.linalg.norm(Z, axis=1)
        if isinstance(query, SecondMoments) and query.theta is None:
            weight = min(1.0, query.row_bound**2 / (own * norms**2).sum())
            both[0] += weight * (Z.T * own) @ Z
            continue
        p = 1 / (1 + np.exp(-Z @ THETA))
        bound = query.row_bound
        weight = min(1.0, bound**2 / np.mean(norms**2))
        both[0] += weight * (Z.T * (4 * p * (1 - p) * own)) @ Z
        score = weight * Z.T @ ((p - rows[:, 3]) * own)
        both[1] += np.outer(score, score)
    if isinstance(query, CurvatureAndScore):
        return both
    return np.asarray(both[int(query.weights is Weights.SCORE)])


@pytest.mark.parametrize("case", QUERIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sums_are_those_of_persons_shrunk_as_a_whole(case: str, weighted: bool) -> None:
    people = persons(SIZES, weighted=weighted)
    query, store = QUERIES[case], person_store(people, 7, weighted=weighted)
    price = Price(2**36, 0)
    if isinstance(query, SecondMoments):
        found = answer_second_moments(query, price, store, None).value
    else:
        found = answer_curvature_and_score(query, price, store, None).value
    np.testing.assert_allclose(found, reference(people, query, weighted=weighted), atol=0.02)


@pytest.mark.parametrize("case", QUERIES)
def test_t04_neighbouring_persons_stay_within_the_sensitivity(case: str) -> None:
    """All pairs of persons with 1 … 7 rows, parallel, orthogonal and random, and of no person."""
    query, bound, store_rows = QUERIES[case], 2**16, 7
    people = persons(SIZES[:30])
    matrix = np.eye(3) if query.matrix is None else query.matrix
    for direction in np.vstack([np.eye(3), THETA, np.cross(THETA, [1, 0, 0])]):
        row = np.linalg.solve(matrix.T, direction / np.linalg.norm(direction)) * query.row_bound
        for size, length in itertools.product((1, 7), (1.0, 100.0)):
            rows = np.tile([*(length / size * row), 1.0], (size, 1))
            people += [rows, -rows, rows * [1, 1, 1, 0]]
    people.append(np.zeros((2, 4)))
    sums = [integers(query, bound, person_store([rows], store_rows)) for rows in people]
    kind = QueryKind.SECOND_MOMENTS if isinstance(query, SecondMoments) else QueryKind.SANDWICH
    alone = max(int(s @ s) for s in sums)
    assert 0.2 * bound**2 < alone
    assert alone <= squared_sensitivity(kind, bound, Relation.ADD_REMOVE) == bound**2
    replaced = max(int((a - b) @ (a - b)) for a, b in itertools.combinations(sums, 2))
    assert alone < replaced <= squared_sensitivity(kind, bound, Relation.REPLACE_ONE) == 2 * bound**2


@pytest.mark.parametrize("case", QUERIES)
def test_a_persons_integers_do_not_depend_on_who_stands_beside(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    people = persons(SIZES)
    query = QUERIES[case]
    alone = sum(integers(query, 2**30, person_store([rows], 7)) for rows in people)
    rng = np.random.default_rng(0)
    for threads, block_tiles in (("1", 1), ("3", 5), ("2", None)):
        monkeypatch.setenv("TACIT_THREADS", threads)
        shuffled = [people[i] for i in rng.permutation(len(people))]
        store = person_store(shuffled, 7, block_tiles=block_tiles)
        np.testing.assert_array_equal(integers(query, 2**30, store), alone)


@pytest.mark.parametrize("case", ["plain", "mapped", "curvature"])
def test_persons_with_one_record_have_the_integers_of_their_records(case: str) -> None:
    people, query = persons(np.ones(100, dtype=int)), QUERIES[case]
    assert isinstance(query, SecondMoments)
    np.testing.assert_array_equal(
        integer_second_moments(query, 2**30, person_store(people, 1)),
        integer_second_moments(query, 2**30, memory_store(np.concatenate(people))),
    )


def test_no_person_outgrows_the_bound() -> None:
    """In exact integers: hostile rows, many of them, any bound and a loss that lies."""
    rng = np.random.default_rng(5)
    liar = Loss("liar", classification.LOGISTIC.code, lipschitz=0.01, smoothness=0.001, joint=1.0)
    for _ in range(400):
        width, size = int(rng.choice([1, 2, 5, 40])), int(rng.choice([1, 2, 3, 30]))
        rows = 10.0 ** rng.uniform(-320, 150, (size, width + 1)) * rng.choice([-1, 1, 0])
        if rng.random() < 0.5:
            rows = np.tile(rng.normal(size=width + 1), (size, 1)) * 10.0 ** rng.uniform(-20, 20)
        rows[:, width] = rng.choice([0.0, 1.0, 7.0], size)
        bound = int(rng.choice([0, 1, int(2 ** rng.uniform(3, 36)), 2**36]))
        theta = rng.choice([0.0, 1e100, -1e100, 1.0], width)
        loss = liar if rng.random() < 0.5 else classification.LOGISTIC
        radius = float(10.0 ** rng.uniform(-100, 100))
        store = person_store([rows], size)
        for weights in Weights:
            at = None if weights is Weights.NONE else theta
            query = SecondMoments(radius, None, at, weights, loss)
            trace = int(np.trace(integers(query, bound, store).reshape(width, width)))
            assert 0 <= trace <= bound
        pair = integers(CurvatureAndScore(theta, radius, None, loss), bound, store)
        assert int(pair @ pair) <= bound**2


def test_the_bound_is_used_up_for_as_many_rows_as_are_declared() -> None:
    """Rounding of all the rows is provided for, and little more."""
    rows = np.tile([0.3, -0.2, 0.9, 0.0], (50, 1))
    store = person_store([rows], 50)
    bound = 2**20
    total = integer_second_moments(SecondMoments(1e-3), bound, store)
    assert 0.9 * bound < np.trace(total) <= bound
    assert moment_limit(bound, store.layout) < math.isqrt(bound) - math.sqrt(150) / 2


def test_a_group_of_many_slots_is_written_a_few_tiles_at_a_time() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(100, 3)), np.zeros(100)])
    few = [np.column_stack([rng.normal(size=(1, 3)), [[0.0]]]) for _ in range(70)]
    store = person_store([rows, *few], 100, block_tiles=8)
    query = SecondMoments(1.0)
    parts = [integers(query, 2**30, person_store([p], 100)) for p in (rows, *few)]
    np.testing.assert_array_equal(integers(query, 2**30, store), sum(parts))
    assert [len(store.block(i).tiles) for i in range(store.block_count)] == [100, 1]


def test_entries_that_are_no_number_become_zero() -> None:
    tiles = np.full((1, 2, 64), np.inf)
    tiles.flags.writeable = False
    written = np.empty((2, 64))
    write_products(tiles, np.zeros((1, 64)), written)
    assert not written.any()
