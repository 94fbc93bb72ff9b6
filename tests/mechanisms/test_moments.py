"""Noised second moments: exact sums, √2 under replacement, isometric symmetric noise."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import QueryKind, SecondMoments, Weights
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.mechanisms.moments import answer_second_moments, integer_second_moments
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(12)
WIDTH = 4


def store_of(rows: NDArray[np.float64], block_rows: int | None = None) -> MemoryStore:
    return memory_store(np.column_stack([rows, np.zeros(len(rows))]), block_rows)


def unit_rows(count: int) -> NDArray[np.float64]:
    rows = RNG.normal(size=(count, WIDTH))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_t04_replacing_orthogonal_rows_moves_the_sum_by_root_two() -> None:
    """The pair e1, e2 reaches √2·S, the constant that is charged, and no pair exceeds it."""
    bound = 2**30
    query = SecondMoments(1.0)
    allowed = squared_sensitivity(QueryKind.SECOND_MOMENTS, bound, Relation.REPLACE_ONE)
    one = integer_second_moments(query, bound, store_of(np.eye(WIDTH)[:1]))
    two = integer_second_moments(query, bound, store_of(np.eye(WIDTH)[1:2]))
    gap = sum(int(value) ** 2 for value in (one - two).ravel())
    assert allowed * (1 - 1e-3) < gap <= allowed == 2 * bound**2
    for first, second in zip(unit_rows(200) * 5, unit_rows(200) * 0.9, strict=True):
        change = integer_second_moments(query, bound, store_of(first[None])) - (
            integer_second_moments(query, bound, store_of(second[None]))
        )
        assert sum(int(value) ** 2 for value in change.ravel()) <= allowed


def test_one_row_stays_within_the_bound_of_zero_out() -> None:
    bound = 2**24
    for row in unit_rows(100) * 3:
        integers = integer_second_moments(SecondMoments(1.0), bound, store_of(row[None]))
        assert sum(int(value) ** 2 for value in integers.ravel()) <= bound**2


def test_sum_equals_the_formula_and_rows_are_shrunk() -> None:
    rows = np.concatenate([unit_rows(300) * 0.8, unit_rows(50) * 7])
    answer = answer_second_moments(SecondMoments(1.0), Price(2**36, 0), store_of(rows), None)
    shrunk = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    np.testing.assert_allclose(answer.value, shrunk.T @ shrunk, atol=1e-2)


def test_t11_a_row_is_shrunk_with_its_weight_and_not_before() -> None:
    """A row of small weight is within the bound however long it is, and enters in full."""
    rows = unit_rows(300) * RNG.uniform(0.5, 5.0, (300, 1))
    weights = RNG.random(300) ** 4
    store = memory_store(np.column_stack([rows, np.zeros(300), weights]), weighted=True)
    answer = answer_second_moments(SecondMoments(1.0), Price(2**36, 0), store, None)
    weighed = rows * np.sqrt(weights)[:, None]
    shrunk = weighed / np.maximum(1.0, np.linalg.norm(weighed, axis=1, keepdims=True))
    np.testing.assert_allclose(answer.value, shrunk.T @ shrunk, atol=1e-2)


def test_curvature_weights() -> None:
    rows, theta = unit_rows(400), RNG.normal(size=WIDTH)
    query = SecondMoments(1.0, theta=theta, weights=Weights.CURVATURE)
    answer = answer_second_moments(query, Price(2**36, 0), store_of(rows), None)
    probability = 1 / (1 + np.exp(-rows @ theta))
    weights = 4 * probability * (1 - probability)
    np.testing.assert_allclose(answer.value, (rows.T * weights) @ rows, atol=1e-2)


def test_score_weights() -> None:
    rows, theta = unit_rows(300) * 2, RNG.normal(size=WIDTH)
    labels = (RNG.random(300) < 0.5).astype(float)
    store = memory_store(np.column_stack([rows, labels]))
    query = SecondMoments(1.5, theta=theta, weights=Weights.SCORE)
    answer = answer_second_moments(query, Price(2**36, 0), store, None)
    slopes = 1 / (1 + np.exp(-rows @ theta)) - labels
    scores = rows * (slopes * (1.5 / 2) ** 2)[:, None]
    np.testing.assert_allclose(answer.value, scores.T @ scores, atol=1e-2)


def test_working_coordinates() -> None:
    rows, matrix = unit_rows(100), RNG.normal(size=(WIDTH, WIDTH))
    query = SecondMoments(100.0, matrix=matrix)
    answer = answer_second_moments(query, Price(2**36, 0), store_of(rows), None)
    mapped = rows @ matrix
    np.testing.assert_allclose(answer.value, mapped.T @ mapped, atol=0.1)


def test_t20_integers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG.normal(size=(3000, WIDTH))
    query = SecondMoments(1.5, matrix=RNG.normal(size=(WIDTH, WIDTH)))
    reference = integer_second_moments(query, 2**36, store_of(rows))
    for threads in ("1", "3"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        for block_rows in (64, 192, 2048 + 64):
            shuffled = rows[RNG.permutation(len(rows))]
            store = store_of(shuffled, block_rows)
            assert (integer_second_moments(query, 2**36, store) == reference).all()


def test_noise_is_symmetric_and_isometric() -> None:
    """2000 matrices: variances 1 on the diagonal and 1/2 beside it, in units of the noise scale.

    A sample variance of 8000 or 12000 numbers is within 10% but with probability < 1e-9.
    """
    store = store_of(np.zeros((1, WIDTH)))
    entropy = SeededEntropy(3)
    query, price = SecondMoments(1.0), Price(2**20, 24)
    answers = [answer_second_moments(query, price, store, entropy) for _ in range(2000)]
    noise = np.array([answer.value / answer.noise_scale for answer in answers])
    assert (noise == noise.transpose(0, 2, 1)).all()
    diagonal = noise[:, range(WIDTH), range(WIDTH)]
    attached = noise[:, *np.triu_indices(WIDTH, 1)]
    assert abs(np.var(diagonal) - 1) < 0.1
    assert abs(np.var(attached) - 0.5) < 0.05
    assert math.isclose(answers[0].noise_scale, 2.0**24 / 2**20, rel_tol=1e-2)


def test_a_part_stands_for_all_by_the_chance_of_a_record() -> None:
    rows = unit_rows(64 * 7 + 10)
    drawn = RNG.integers(0, 256, len(rows), dtype=np.uint8)
    read = rows[drawn < 64]
    table = np.column_stack([rows, np.zeros(len(rows))])
    for block_rows in (64, 128, 640):
        store = memory_store(table, block_rows, drawn=drawn)
        answer = answer_second_moments(SecondMoments(2.0, every=4), Price(2**40, 0), store, None)
        assert answer.value == pytest.approx(read.T @ read * 4, abs=3e-3)


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ADD_REMOVE])
def test_one_record_changes_a_part_by_no_more_than_the_whole(relation: Relation) -> None:
    """Whatever its place, one record changes its own term; one that is not read changes nothing."""
    bound, price = 2**20, Price(2**20, 4)
    rows = np.column_stack([unit_rows(200), np.zeros(200)])
    drawn = RNG.integers(0, 256, 200, dtype=np.uint8)
    for place in (3, 70, 150, 199):
        kept = np.delete(np.arange(200), place)
        other, lots = rows[kept], drawn[kept]
        if relation is Relation.REPLACE_ONE:
            # The other record stands first: all that stood before it are shifted by one.
            new = np.column_stack([unit_rows(1), np.zeros(1)])
            other, lots = np.vstack([new, other]), np.append(drawn[place], lots)
        answers = [
            answer_second_moments(
                SecondMoments(1.0, every=4), price, memory_store(table, 64, drawn=own), SeededEntropy(3)
            )
            for table, own in ((rows, drawn), (other, lots))
        ]
        unit = 2.0**price.bits / answers[0].noise_scale
        gap = float(np.sum(((answers[0].value - answers[1].value) * unit) ** 2))
        assert gap <= squared_sensitivity(QueryKind.SECOND_MOMENTS, bound, relation) * 1.001
        assert (gap > 0) == (drawn[place] < 64)
