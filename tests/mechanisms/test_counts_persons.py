"""Counts over persons: a person adds the mean over their kept records, within [0, S]."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import ColumnCounts, Measure, ResidualSize
from tacit.mechanisms.counts import integer_counts, integer_measures
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

BOUND = 2**30
COUNTS = ColumnCounts((0, 2, 3), np.array([-0.5, -np.inf, 0.0]), np.array([0.7, 0.1, 1.0]))
THETA = np.array([1.5, -0.7, 0.4])
SIZES = ResidualSize(THETA, 0.6, lowest=-0.8, highest=0.9)
OUTSIDE = ResidualSize(THETA, 2.0, lowest=0.5, highest=0.9, measure=Measure.SHARE, start=-1.0)


def persons(sizes: Any, *, weighted: bool = False, shifted: bool = False) -> list[NDArray[Any]]:
    rng = np.random.default_rng(5)
    behind = 1 + weighted + shifted
    found = [rng.uniform(-1, 1, (size, 3 + behind)) for size in sizes]
    for rows in found:
        rows[:, 4 : 4 + weighted] = rng.random((len(rows), int(weighted)))
    return found


def part(share: float) -> int:
    return int(np.rint(BOUND * share))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_person_adds_the_mean_of_their_records(weighted: bool) -> None:
    people = persons(np.arange(150) % 6 + 1, weighted=weighted)
    store = person_store(people, 6, weighted=weighted)
    expected = np.zeros(3, dtype=np.int64)
    for rows in people:
        inside = (rows[:, COUNTS.columns] > COUNTS.lower) & (rows[:, COUNTS.columns] <= COUNTS.upper)
        weight = rows[:, 4] if weighted else np.ones(len(rows))
        expected += [part(share) for share in (inside * weight[:, None]).sum(axis=0) / len(rows)]
    np.testing.assert_array_equal(integer_counts(COUNTS, BOUND, store), expected)


@pytest.mark.parametrize(("weighted", "shifted"), [(False, False), (True, False), (True, True)])
def test_residuals_of_a_person_are_averaged(weighted: bool, shifted: bool) -> None:
    people = persons(np.arange(150) % 6 + 1, weighted=weighted, shifted=shifted)
    store = person_store(people, 6, weighted=weighted, shifted=shifted)
    expected = 0.0
    for rows in people:
        margin = rows[:, :3] @ THETA + (rows[:, -1] if shifted else 0.0)
        size = np.minimum(np.abs(np.clip(margin, -0.8, 0.9) - rows[:, 3]) / 0.6, 1)
        expected += BOUND * float(np.mean(size * (rows[:, 4] if weighted else 1.0)))
    found = int(integer_measures(SIZES, BOUND, store)[0])
    assert abs(found - expected) <= len(people)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_persons_with_one_record_count_as_their_records_do(n: int) -> None:
    """Bit by bit, though lanes without a person are left out and those without a record not."""
    people = persons(np.ones(n, dtype=int))
    one, many = person_store(people, 1), memory_store(np.concatenate(people))
    np.testing.assert_array_equal(integer_counts(COUNTS, BOUND, one), integer_counts(COUNTS, BOUND, many))
    for query in (SIZES, OUTSIDE):
        np.testing.assert_array_equal(integer_measures(query, BOUND, one), integer_measures(query, BOUND, many))


def test_t35_no_person_counts_more_than_once_whatever_their_records() -> None:
    hostile = [np.nan, np.inf, -np.inf, 1e300, 0.0, 0.5]
    rng = np.random.default_rng(0)
    for _ in range(200):
        rows = rng.choice(hostile, (int(rng.choice([1, 3, 100])), 4))
        store = person_store([rows], 100)
        found = [*integer_counts(COUNTS, BOUND, store), *integer_measures(SIZES, BOUND, store)]
        assert all(0 <= count <= BOUND for count in found)


def test_empty_slots_count_as_nothing_though_zero_lies_inside() -> None:
    inside = ColumnCounts((0,), np.array([-1.0]), np.array([1.0]))
    people = [np.full((5, 4), 3.0), np.full((1, 4), 3.0), np.zeros((2, 4))]
    assert integer_counts(inside, BOUND, person_store(people, 5)).tolist() == [BOUND]


def test_records_that_are_no_numbers_count_nowhere_but_count_as_records() -> None:
    rows = np.array([[0.5, 0, 0, 0], [np.nan] * 4])
    found = integer_counts(COUNTS, BOUND, person_store([rows], 2))
    assert found.tolist() == [BOUND // 2, BOUND // 2, 0]
