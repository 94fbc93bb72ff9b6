"""Sums of values and squares of columns: exact, bounded, the same however records are cut into blocks."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.column_query import ColumnMoments
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.errors import SettingError
from tacit.mechanisms import column_moments
from tacit.mechanisms.column_moments import answer_column_moments, integer_column_moments
from tacit.mechanisms.kernels import enforceable
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import to_tiles
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

RNG = np.random.default_rng(19)
WIDTH = 5
BOUND = 2**30
SCALE, SHIFT = np.array([1.0, 2.0, 0.5, 3.0, 1.0]), np.array([0.1, -0.5, 0.0, 2.0, 0.0])
Matrix = NDArray[np.float64]


def rows_of(count: int, size: float = 1.0) -> Matrix:
    rows = RNG.uniform(-size, size, (count, WIDTH))
    rows[:, -1] = 1.0
    return rows


def store_of(rows: Matrix, block_rows: int | None = None) -> MemoryStore:
    return memory_store(np.column_stack([rows, np.zeros(len(rows))]), block_rows)


def query_of(clip: float = 3.0) -> ColumnMoments:
    return ColumnMoments(SCALE, SHIFT, clip)


def by_definition(rows: Matrix, clip: float) -> Matrix:
    z = rows * SCALE + rows[:, -1:] * SHIFT
    both = np.column_stack([z, z**2])
    both *= np.minimum(1.0, clip / np.linalg.norm(both, axis=1))[:, None]
    return np.asarray(both.sum(axis=0).reshape(2, -1))


def norm_of(integers: NDArray[np.int64]) -> int:
    return sum(int(value) ** 2 for value in integers.ravel())


def test_sums_are_those_of_the_definition() -> None:
    rows = np.concatenate([rows_of(200, 0.3), rows_of(150, 9.0)])
    answer = answer_column_moments(query_of(), Price(2**36, 0), store_of(rows), None)
    np.testing.assert_allclose(answer.value, by_definition(rows, 3.0), rtol=1e-8, atol=1e-6)
    assert answer.noise_scale == 0.0


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-8, 0.1, 1.0, 30.0, 1e8, 1e15])
@pytest.mark.parametrize("clip", [1e-6, 1.0, 1e4])
def test_a_record_stays_within_the_bound(size: float, clip: float) -> None:
    for bound in (320, 2**20, 2**36):
        for row in rows_of(20, size):
            assert norm_of(integer_column_moments(query_of(clip), bound, store_of(row[None]))) <= bound**2


def test_t04_opposite_records_move_the_sum_by_twice_the_bound_and_no_pair_by_more() -> None:
    allowed = squared_sensitivity(QueryKind.COLUMN_MOMENTS, BOUND, Relation.REPLACE_ONE)
    assert allowed == 4 * BOUND**2
    assert squared_sensitivity(QueryKind.COLUMN_MOMENTS, BOUND, Relation.ZERO_OUT) == BOUND**2
    tiny = ColumnMoments(np.full(WIDTH, 1e-4), np.zeros(WIDTH), 1e-5)
    there, back = (integer_column_moments(tiny, BOUND, store_of(sign * np.eye(WIDTH)[:1])) for sign in (1, -1))
    assert allowed * (1 - 1e-3) < norm_of(there - back) <= allowed
    for first, second in zip(rows_of(100, 5.0), rows_of(100, 0.7), strict=True):
        one, other = (integer_column_moments(query_of(), BOUND, store_of(row[None])) for row in (first, second))
        assert norm_of(one - other) <= allowed


def test_zero_records_and_fillers_add_nothing() -> None:
    # The shift belongs to the constant, which is 0 in a blank record.
    assert not integer_column_moments(query_of(), BOUND, store_of(np.zeros((70, WIDTH)))).any()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_record_that_is_not_finite_adds_nothing(value: float) -> None:
    rows = rows_of(130)
    spoilt = rows.copy()
    spoilt[[3, 80], [0, 3]] = value
    left = np.delete(rows, [3, 80], axis=0)
    found = integer_column_moments(query_of(), BOUND, store_of(spoilt))
    np.testing.assert_array_equal(found, integer_column_moments(query_of(), BOUND, store_of(left)))


def test_bits_do_not_depend_on_order_blocks_or_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(1000, 2.0)
    whole = integer_column_moments(query_of(), BOUND, store_of(rows))
    for threads, block_rows in (("1", 64), ("2", 128), ("3", None)):
        monkeypatch.setenv("TACIT_THREADS", threads)
        shuffled = store_of(RNG.permutation(rows), block_rows)
        np.testing.assert_array_equal(integer_column_moments(query_of(), BOUND, shuffled), whole)


def weighted_store(rows: Matrix, weights: Matrix) -> MemoryStore:
    tiles = to_tiles(np.column_stack([rows, np.zeros(len(rows)), weights]))
    layout = Layout(len(rows), WIDTH, np.dtype(np.float64), 64, weighted=True)
    return MemoryStore(layout, [tiles[k : k + 1] for k in range(len(tiles))])


@pytest.mark.parametrize("weight", [0.25, 0.0, -1.0, 7.0, math.nan])
def test_a_weight_multiplies_a_record_and_counts_only_within_zero_and_one(weight: float) -> None:
    rows = rows_of(1, 0.2)
    found = integer_column_moments(query_of(99.0), BOUND, weighted_store(rows, np.array([weight])))
    plain = integer_column_moments(query_of(99.0), BOUND, store_of(rows))
    expected = plain * weight if 0.0 <= weight <= 1.0 else np.zeros_like(plain)
    np.testing.assert_allclose(found, expected, atol=1.0)
    assert norm_of(found) <= BOUND**2


def test_a_person_counts_once_and_their_order_plays_no_part() -> None:
    rows = rows_of(60, 2.0)
    persons = np.split(np.column_stack([rows, np.zeros(60)]), 20)
    store = person_store(persons, 3)
    z = rows * SCALE + rows[:, -1:] * SHIFT
    means = np.column_stack([z, z**2]).reshape(20, 3, -1).mean(axis=1)
    means *= np.minimum(1.0, 3.0 / np.linalg.norm(means, axis=1))[:, None]
    answer = answer_column_moments(query_of(), Price(2**36, 0), store, None)
    np.testing.assert_allclose(answer.value, means.sum(axis=0).reshape(2, -1), rtol=1e-8, atol=1e-6)
    for person in persons[:5]:
        alone = person_store([person * 50], 3)
        assert norm_of(integer_column_moments(query_of(), 2**20, alone)) <= 2**40


def test_noise_has_the_deviation_that_is_stated() -> None:
    """2·5·400 answers of pure noise: the mean square is within 6.5 standard errors, a false alarm below 1e-9."""
    price, store = Price(2**20, 24), store_of(np.zeros((1, WIDTH)))
    entropy = SeededEntropy(3)
    answers = [answer_column_moments(query_of(), price, store, entropy) for _ in range(400)]
    values = np.array([answer.value for answer in answers]) / answers[0].noise_scale
    assert answers[0].noise_scale == 2.0**24 / (enforceable(2**20, 2 * WIDTH) / 3.0)
    assert abs(np.mean(values**2) - 1) < 6.5 * math.sqrt(2 / values.size)


def test_a_wrong_bound_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    # A bound for half of the entries forgets the squares' rounding and, here, ten times as much.
    monkeypatch.setattr(column_moments, "enforceable", lambda bound, width: 1.1 * enforceable(bound, width))
    found = integer_column_moments(query_of(), BOUND, store_of(rows_of(1, 50.0)))
    assert norm_of(found) > BOUND**2


def test_there_is_a_scale_for_every_column() -> None:
    with pytest.raises(SettingError, match="each of the 5 columns"):
        integer_column_moments(ColumnMoments(SCALE[:2], SHIFT[:2], 1.0), BOUND, store_of(rows_of(3)))
