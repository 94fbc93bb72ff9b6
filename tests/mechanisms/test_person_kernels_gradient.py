"""Gradient sums over persons: the mean over a person's records, clipped as a whole."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import GradientSum
from tacit.contract.sensitivity import Price
from tacit.losses import classification, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.mechanisms.kernels import enforceable
from tacit.mechanisms.person_kernels import add_person_class_gradients, add_person_gradients
from tacit.rows.storage.tiles import LANES
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

THETA = np.array([1.5, -0.7, 0.4])
MATRIX = np.array([[3.0, 0.2, 0.0], [0.1, 0.5, -2.0], [0.0, 0.3, 1.0]])
SHAPE = np.array([0.0, 0.0])


def persons(sizes: Any, *, behind: int = 1, seed: int = 0, dtype: Any = np.float64) -> list[NDArray[Any]]:
    """Records (three features, response 0 or 1, weight in [0, 1], offset) of persons."""
    rng = np.random.default_rng(seed)
    found = []
    for size in sizes:
        rows = rng.normal(size=(size, 3 + behind)) * rng.choice([0.05, 1.0, 20.0], (size, 1))
        rows[:, 3] = rng.integers(0, 2, size)
        rows[:, 4:5] = rng.random((size, min(behind - 1, 1)))
        found.append(rows.astype(dtype))
    return found


SIZES = np.random.default_rng(3).integers(1, 8, 150)


def reference(people: list[NDArray[Any]], query: GradientSum, *, weighted: bool, shifted: bool) -> NDArray[np.float64]:
    total = np.zeros(query.theta.shape)
    for rows in people:
        Z, y = rows[:, :3], rows[:, 3]
        if query.matrix is not None:
            Z = Z @ query.matrix
        margin = Z @ query.theta
        weight = rows[:, 4] if weighted else np.ones(len(rows))
        if query.theta.ndim > 1:
            p = np.exp(margin - margin.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            p[np.arange(len(rows)), y.astype(int)] -= 1
            score = Z.T @ (p * weight[:, None]) / len(rows)
        else:
            if shifted:
                margin = margin + rows[:, -1]
            if query.loss is regression.SQUARED:
                slope = margin - y
            elif query.loss is classification.LOGISTIC:
                slope = 1 / (1 + np.exp(-margin)) - y
            else:
                slope = np.clip(margin - y, -query.loss.lipschitz, query.loss.lipschitz)
            score = Z.T @ (slope * weight) / len(rows)
        if query.balanced:
            p = 1 / (1 + np.exp(-margin))
            reach = math.sqrt(np.mean((np.linalg.norm(Z, axis=1) * np.maximum(p, 1 - p)) ** 2))
            score *= min(1.0, query.clip / reach)
        if query.downweighted:
            radius = query.clip / query.loss.lipschitz
            score *= min(1.0, radius**2 / np.mean(np.linalg.norm(Z, axis=1) ** 2))
        total += score * min(1.0, query.clip / max(float(np.linalg.norm(score)), 1e-300))
    return total


@pytest.mark.parametrize("loss", [classification.LOGISTIC, regression.SQUARED, regression.huber(0.7)], ids=str)
@pytest.mark.parametrize("matrix", [None, MATRIX], ids=["plain", "mapped"])
@pytest.mark.parametrize(("weighted", "shifted"), [(False, False), (True, False), (True, True)])
def test_the_sum_is_that_of_clipped_means_of_persons(
    loss: Loss, matrix: NDArray[np.float64] | None, weighted: bool, shifted: bool
) -> None:
    people = persons(SIZES, behind=1 + weighted + shifted)
    store = person_store(people, 7, weighted=weighted, shifted=shifted)
    for downweighted in (False, np.isfinite(loss.lipschitz)):
        query = GradientSum(THETA, 2.5, matrix, bool(downweighted), loss)
        rows = store if matrix is None else store.map(matrix)
        found = answer_gradient(query, Price(2**36, 0), rows, None).value
        expected = reference(people, query, weighted=weighted, shifted=shifted)
        np.testing.assert_allclose(found, expected, atol=1e-7)


def test_balanced_weights_of_persons_do_not_depend_on_their_labels() -> None:
    people = persons(SIZES)
    query = GradientSum(THETA, 2.5, balanced=True)
    found = answer_gradient(query, Price(2**36, 0), person_store(people, 7), None).value
    np.testing.assert_allclose(found, reference(people, query, weighted=False, shifted=False), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_softmax_gradients_are_clipped_as_one_matrix(weighted: bool) -> None:
    people = persons(SIZES, behind=1 + weighted)
    theta = np.random.default_rng(1).normal(size=(3, 4))
    query = GradientSum(theta, 2.0, loss=classification.SOFTMAX)
    store = person_store(people, 7, weighted=weighted)
    found = answer_gradient(query, Price(2**36, 0), store, None).value
    expected = reference(people, query, weighted=weighted, shifted=False)
    np.testing.assert_allclose(found, expected, atol=1e-7)


@pytest.mark.parametrize("theta", [THETA, np.outer(THETA, [1.0, -2.0, 0.5, 0.0])], ids=["1", "4"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_persons_integers_do_not_depend_on_who_stands_beside(
    theta: NDArray[np.float64], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bit by bit: alone, among others, in other groups, blocks and threads."""
    people = persons(SIZES, dtype=dtype)
    query = GradientSum(theta, 0.8, downweighted=theta.ndim == 1)
    alone = [integer_gradient_sum(query, 2**30, person_store([rows], 7)) for rows in people]
    rng = np.random.default_rng(0)
    for threads, block_tiles in (("1", 1), ("3", 5), ("2", None)):
        monkeypatch.setenv("TACIT_THREADS", threads)
        shuffled = [people[i] for i in rng.permutation(len(people))]
        store = person_store(shuffled, 7, block_tiles=block_tiles)
        np.testing.assert_array_equal(integer_gradient_sum(query, 2**30, store), np.sum(alone, axis=0))


def test_persons_with_one_record_add_what_their_records_would() -> None:
    people = persons(np.ones(200, dtype=int))
    for query in (GradientSum(THETA, 0.7), GradientSum(THETA, 0.7, None, True)):
        one = integer_gradient_sum(query, 2**30, person_store(people, 1))
        other = integer_gradient_sum(query, 2**30, memory_store(np.concatenate(people)))
        # The same real numbers, rounded on another way: at most one integer apart each.
        assert np.abs(one - other).max() <= len(people)


def hostile(rng: np.random.Generator, width: int) -> NDArray[np.float64]:
    kind = rng.integers(4)
    if kind == 0:
        return rng.normal(size=width)
    if kind == 1:
        return np.full(width, 10.0 ** rng.uniform(-320, 150))
    if kind == 2:
        return np.asarray(10.0 ** rng.uniform(-320, 150, width) * rng.choice([-1, 1], width))
    return rng.choice([0.0, -0.0, 5e-324, 2.0**-300, 1.0, 1e100, -1e150, 1.7e308], width)


@pytest.mark.parametrize("classes", [1, 3])
def test_no_person_outgrows_the_bound(classes: int) -> None:
    """In exact integers: any rows, any number of them, huge parameters, scales that are none."""
    rng = np.random.default_rng(classes)
    for _ in range(600):
        width, size = int(rng.choice([1, 2, 5, 40])), int(rng.choice([1, 2, 3, 30]))
        bound = int(rng.choice([0, 1, int(2 ** rng.uniform(3, 36)), 2**36]))
        rows = np.array([hostile(rng, width + 1) for _ in range(size)])
        rows[:, width] = rng.choice([0.0, 1.0, 0.5, 7.0, -3.0], size)
        if rng.random() < 0.5:
            rows[1:] = rows[0]  # all in one direction
        block = person_store([rows], size).block(0)
        limit = enforceable(bound, width * classes)
        scale = float(rng.choice([0.0, math.inf, math.nan, 1e308, limit * 10 ** rng.uniform(-9, 9)]))
        radius = float(rng.choice([math.inf, 1e-100, 1.0, 1e100]))
        theta = rng.choice([0.0, 1e100, -1e100, 1.0], (classes, width))
        total = np.zeros(classes * width, dtype=np.int64)
        if classes == 1:
            code = int(rng.choice([classification.LOGISTIC.code, regression.SQUARED.code]))
            how = (code, SHAPE), (False, False), (scale, limit, radius)
            add_person_gradients(block, theta[0], *how, total)
        else:
            add_person_class_gradients(block, theta, False, (scale, limit, math.inf), total)
        assert sum(int(q) ** 2 for q in total) <= bound**2


def test_a_person_with_a_thousand_records_counts_no_more_than_the_bound() -> None:
    rng = np.random.default_rng(0)
    heavy = np.column_stack([np.full((1000, 3), 5.0), np.zeros(1000)])
    light = [np.column_stack([rng.normal(size=(1, 3)), [[1.0]]]) for _ in range(100)]
    query, bound = GradientSum(np.zeros(3), 1.0), 2**20
    both = integer_gradient_sum(query, bound, person_store([heavy, *light], 1000))
    without = integer_gradient_sum(query, bound, person_store(light, 1000))
    change = math.sqrt(sum(int(q) ** 2 for q in both - without))
    assert 0.99 * bound < change <= bound


def test_what_stands_in_empty_slots_is_not_read() -> None:
    people = persons([3, 1, 2])
    store = person_store(people, 3)
    query = GradientSum(THETA, 0.5, None, True)
    block = store.block(0)
    filled = block.tiles.copy()
    slot = np.arange(3)[:, None]
    filled[:, :, :][np.broadcast_to((slot >= block.counts[0])[:, None], filled.shape)] = 9.0
    assert (filled != block.tiles).any()
    totals = np.zeros((2, 3), dtype=np.int64)
    for total, tiles in zip(totals, (block.tiles, filled), strict=True):
        tiles.flags.writeable = False
        how = (int(query.loss.code), SHAPE), (False, False), (2.0**30, 2.0**29, 0.5)
        add_person_gradients(block._replace(tiles=tiles), THETA, *how, total)
    np.testing.assert_array_equal(*totals)
    assert block.counts[0, 3:].sum() == 0
    assert len(block.counts[0]) == LANES
