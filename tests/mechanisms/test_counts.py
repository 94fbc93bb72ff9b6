"""Noised counts and residual sizes: integers within [0, S], the same for any layout."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from tacit.contract.query import ColumnCounts, Measure, ResidualSize
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.mechanisms.counts import answer_counts, integer_counts, integer_measures, part_of, residual_share
from tacit.noise.entropy import SeededEntropy
from tacit.rows.storage.record_store import MemoryStore, SparseBlock, SparseStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, to_tiles
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(21)
WIDTH = 4
BOUND = 2**36
COUNTS = ColumnCounts((0, 2, WIDTH, 2), np.array([-0.3, -np.inf, 0.5, 0.0]), np.array([0.4, 0.1, np.inf, 0.0]))
SIZES = ResidualSize(np.array([1.5, -0.7, 0.4, 0.2]), 0.6, lowest=-0.8, highest=0.9)
ANY = st.floats(allow_nan=True, allow_infinity=True)


def table(rows: int) -> NDArray[np.float64]:
    return RNG.uniform(-1, 1, (rows, WIDTH + 1))


def stored(
    values: NDArray[Any], *, weighted: bool = False, shifted: bool = False, block_rows: int = 128
) -> MemoryStore:
    layout = Layout(len(values), WIDTH, values.dtype, block_rows, weighted, shifted)
    return MemoryStore.of_tiles(layout, to_tiles(values))


def share_by_hand(values: NDArray[np.float64], offset: Any = 0.0) -> NDArray[np.float64]:
    margin = np.clip(values[:, :WIDTH] @ SIZES.theta + offset, SIZES.lowest, SIZES.highest)
    return np.asarray(np.minimum(np.abs(margin - values[:, WIDTH]) / SIZES.cap, 1))


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_are_the_counts(rows: int, dtype: Any) -> None:
    values = table(rows).astype(dtype)
    columns = values[:, list(COUNTS.columns)].astype(np.float64)
    expected = ((COUNTS.lower < columns) & (columns <= COUNTS.upper)).sum(axis=0)
    total = integer_counts(COUNTS, BOUND, memory_store(values))
    assert total.tolist() == [int(count) * BOUND for count in expected]


@pytest.mark.parametrize("rows", [1, 65, 300])
def test_residual_sizes_are_the_sizes(rows: int) -> None:
    values = table(rows)
    total = integer_measures(SIZES, BOUND, memory_store(values))
    expected = np.rint(BOUND * share_by_hand(values)).sum()
    # The order of a sum of four products can move one integer by a unit or two.
    assert abs(int(total[0]) - int(expected)) <= 2 * rows


@pytest.mark.parametrize("inside", [True, False])
def test_t08_records_that_fill_up_a_tile_count_nothing(inside: bool) -> None:
    """Zero lies in the first interval and not in the second; the residual of zero is not 0."""
    ends = (-1.0, 1.0) if inside else (0.0, 1.0)
    counts = ColumnCounts((0,), *(np.array([end]) for end in ends))
    sizes = ResidualSize(np.zeros(WIDTH), 2.0, lowest=0.5, highest=1.0)
    for rows in (1, 2, 63, 64, 65, 129):
        store = memory_store(np.zeros((rows, WIDTH + 1)))
        assert integer_counts(counts, 8, store).tolist() == [8 * rows if inside else 0]
        assert integer_measures(sizes, 8, store).tolist() == [2 * rows]


def test_t11_weights_multiply_what_a_record_adds() -> None:
    values = np.column_stack([table(200), RNG.random(200), RNG.uniform(-1, 1, 200)])
    weight, offset = values[:, WIDTH + 1], values[:, WIDTH + 2]
    columns = values[:, list(COUNTS.columns)]
    inside = (COUNTS.lower < columns) & (columns <= COUNTS.upper)
    store = stored(values, weighted=True, shifted=True)
    total = integer_counts(COUNTS, BOUND, store)
    expected = (inside * np.rint(BOUND * weight)[:, None]).sum(axis=0)
    assert total.tolist() == expected.astype(np.int64).tolist()
    sizes = integer_measures(SIZES, BOUND, store)
    by_hand = (BOUND * share_by_hand(values, offset) * weight).sum()
    assert abs(float(sizes[0]) - by_hand) <= 2 * len(values)
    shifted = stored(np.delete(values, WIDTH + 1, axis=1), shifted=True)
    alone = integer_measures(SIZES, BOUND, shifted)
    assert abs(float(alone[0]) - (BOUND * share_by_hand(values, offset)).sum()) <= 400


@given(st.integers(1, 2**36), ANY, ANY, ANY, ANY)
def test_t01_a_record_adds_a_whole_number_from_0_to_the_bound(
    bound: int, value: float, weight: float, low: float, high: float
) -> None:
    """Whatever the numbers of the record are, also where none of them is a number."""
    assert 0 <= part_of(float(bound), weight) <= bound
    row = np.full((1, WIDTH + 2), value)
    row[0, WIDTH + 1] = weight
    for weighted in (False, True):
        store = stored(row[:, : WIDTH + 1 + weighted], weighted=weighted)
        ends = np.nan_to_num(np.array([[low], [high]]), nan=0.0, posinf=np.inf, neginf=-np.inf)
        counted = integer_counts(ColumnCounts((WIDTH,), *ends), bound, store)
        sizes = integer_measures(SIZES, bound, store)
        assert 0 <= counted[0] <= bound
        assert 0 <= sizes[0] <= bound


@given(ANY, ANY, ANY, ANY, st.floats(1e-100, 1e100))
def test_t40_a_share_is_a_share_whatever_the_numbers_are(
    margin: float, label: float, lowest: float, highest: float, cap: float
) -> None:
    for measure in range(len(Measure)):
        for largest in (0.0, cap):
            numbers = (lowest, highest, lowest, cap, largest)
            assert 0.0 <= residual_share(margin, label, measure, numbers) <= 1.0


def lever(p: np.ndarray, query: ResidualSize) -> np.ndarray:
    longest = query.cap / np.maximum(expit(p), expit(-p))
    return np.clip(p - query.start, -longest, longest)


@pytest.mark.parametrize("exponential", [False, True])
@pytest.mark.parametrize("measure", list(Measure))
def test_every_measure_of_a_residual_is_what_it_says(measure: Measure, exponential: bool) -> None:
    values = table(200)
    values[:, WIDTH] = RNG.uniform(-1, 4, 200)
    query = replace(SIZES, measure=measure, start=-0.3, exponential=exponential)
    p = np.clip(values[:, :WIDTH] @ query.theta, query.lowest, query.highest)
    p = np.exp(p) if exponential else p
    gap = values[:, WIDTH] - p
    by_hand = {
        Measure.SIZE: np.abs(gap) / query.cap,
        Measure.WITHIN: (gap > query.start) & (gap <= query.start + query.cap),
        Measure.SHARE: (gap - query.start) / query.cap,
        Measure.DISPERSION: gap**2 / (np.maximum(1, p) * query.cap),
        Measure.TILT: 0.5 + gap * (p - query.start) / (2 * query.cap),
        Measure.SQUARE: (gap / query.cap) ** 2,
        Measure.FOURTH: (gap / query.cap) ** 4,
        Measure.CROSS: (gap * (values[:, WIDTH] - query.start) / query.cap**2) ** 2,
        Measure.LOG_LOSS: (np.logaddexp(0, p) - values[:, WIDTH] * p) / query.cap,
        Measure.SQUARED_LOG_LOSS: ((np.logaddexp(0, p) - values[:, WIDTH] * p) / query.cap) ** 2,
        Measure.LABEL_TILT: 0.5 + (values[:, WIDTH] - expit(p)) * lever(p, query) / (2 * query.cap),
    }[measure]
    expected = BOUND * np.clip(by_hand, 0, 1).sum()
    total = integer_measures(query, BOUND, memory_store(values))
    # Integers of 2^36 at most, from margins with errors of some 2^-51.
    assert abs(float(total[0]) - expected) <= 2 * len(values)


def test_t02_a_residual_beyond_the_cap_counts_as_the_cap() -> None:
    near, far = np.zeros((1, WIDTH + 1)), np.zeros((1, WIDTH + 1))
    near[0, WIDTH], far[0, WIDTH] = SIZES.cap, 1e6
    for row in (near, far):
        assert integer_measures(SIZES, BOUND, memory_store(row)).tolist() == [BOUND]


def test_a_record_that_is_not_a_number_is_inside_of_nothing() -> None:
    values = table(70)
    values[5] = np.nan
    everywhere = np.full(2, np.inf)
    query = ColumnCounts((0, WIDTH), -everywhere, everywhere)
    assert integer_counts(query, 1, memory_store(values)).tolist() == [69, 69]


def test_t20_integers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    values = table(1000)
    counts = integer_counts(COUNTS, BOUND, memory_store(values))
    sizes = integer_measures(SIZES, BOUND, memory_store(values))
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        for block_rows in (64, 128, 640):
            store = memory_store(values[RNG.permutation(len(values))], block_rows)
            assert (integer_counts(COUNTS, BOUND, store) == counts).all()
            assert (integer_measures(SIZES, BOUND, store) == sizes).all()


def test_t12_answers_are_counts_with_the_noise_that_is_stated() -> None:
    """800 answers of 4 counts; the sample deviation is within 9% but with probability < 1e-12."""
    store, price = memory_store(table(200)), Price(bound=2**20, bits=22)
    exact = answer_counts(COUNTS, price, store, None)
    assert exact.noise_scale == 0.0
    assert (exact.value == integer_counts(COUNTS, 1, store)).all()
    entropy = SeededEntropy(3)
    answers = [answer_counts(COUNTS, price, store, entropy) for _ in range(800)]
    noise = np.concatenate([answer.value - exact.value for answer in answers])
    assert {answer.noise_scale for answer in answers} == {4.0}
    assert abs(np.std(noise) / 4.0 - 1) < 0.09
    size = answer_counts(SIZES, price, store, None)
    assert abs(size.value[0] - share_by_hand_of(store).sum()) < 1e-3


def share_by_hand_of(store: MemoryStore) -> NDArray[np.float64]:
    rows = np.concatenate([store.block(index) for index in range(store.block_count)])
    return share_by_hand(rows.transpose(0, 2, 1).reshape(-1, WIDTH + 1)[: store.length])


def test_t16_counts_of_any_table_lie_on_one_lattice() -> None:
    price = Price(bound=2**12, bits=6)
    for values in (table(5), np.zeros((5, WIDTH + 1))):
        answer = answer_counts(COUNTS, price, memory_store(values), SeededEntropy(1))
        steps = answer.value * price.bound
        np.testing.assert_array_equal(steps, np.rint(steps))


def test_sparse_records_have_the_sizes_of_dense_ones() -> None:
    values = table(100)
    values[:, :WIDTH] *= RNG.random((100, WIDTH)) < 0.5
    store = sparse(values)
    dense = integer_measures(SIZES, BOUND, memory_store(values))
    assert (integer_measures(SIZES, BOUND, store) == dense).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [1, 64, 100])
def test_features_of_sparse_records_are_counted_with_their_zeros(rows: int, weighted: bool) -> None:
    values = np.column_stack([table(rows), RNG.random(rows)])[:, : WIDTH + 1 + weighted]
    values[:, :WIDTH] *= RNG.random((rows, WIDTH)) < 0.5
    columns = (*range(WIDTH + 1), 0)
    count = len(columns)
    for low, high in ((-0.1, 0.4), (0.0, 0.4), (-np.inf, 0.0), (-0.4, -0.1)):
        query = ColumnCounts(columns, np.full(count, low), np.full(count, high))
        counts = integer_counts(query, BOUND, sparse(values, weighted=weighted))
        assert (counts == integer_counts(query, BOUND, stored(values, weighted=weighted))).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [1, 64, 100])
def test_the_response_of_sparse_records_is_counted_as_of_dense_ones(rows: int, weighted: bool) -> None:
    values = np.column_stack([table(rows), RNG.random(rows)])[:, : WIDTH + 1 + weighted]
    values[:, :WIDTH] *= RNG.random((rows, WIDTH)) < 0.5
    ends = np.array([-np.inf, -0.3, 0.0]), np.array([np.inf, 0.4, 0.5])
    query = ColumnCounts((WIDTH,) * 3, *ends)
    counts = integer_counts(query, BOUND, sparse(values, weighted=weighted))
    assert (counts == integer_counts(query, BOUND, stored(values, weighted=weighted))).all()
    assert counts[0] == (np.rint(BOUND * values[:, -1]).sum() if weighted else BOUND * rows)


def sparse(values: NDArray[np.float64], *, weighted: bool = False) -> SparseStore:
    kept = [np.flatnonzero(row[:WIDTH]).astype(np.int32) for row in values]
    padded = [*(len(places) for places in kept), *[0] * (-len(values) % LANES)]
    block = SparseBlock(
        np.concatenate([[0], np.cumsum(padded)]),
        np.concatenate(kept),
        np.concatenate([row[places] for row, places in zip(values, kept, strict=True)]),
        np.ascontiguousarray(to_tiles(values)[:, WIDTH:]),
    )
    layout = Layout(len(values), WIDTH, np.dtype(np.float64), 2048, weighted)
    return SparseStore(layout, [block])


@pytest.mark.parametrize("column", [-1, WIDTH + 1])
def test_weights_and_offsets_are_not_counted(column: int) -> None:
    query = ColumnCounts((column,), np.zeros(1), np.ones(1))
    with pytest.raises(SettingError, match="no other column"):
        integer_counts(query, 1, stored(np.zeros((3, WIDTH + 2)), weighted=True))


def test_several_predictors_have_no_residual_size() -> None:
    query = ResidualSize(np.zeros((WIDTH, 3)), 1.0)
    with pytest.raises(SettingError, match="one linear predictor"):
        integer_measures(query, 1, memory_store(table(3)))


@pytest.mark.parametrize("rows", [100, 64 * 7, 1000])
def test_residuals_of_a_part_answer_for_the_whole(rows: int) -> None:
    """Zero records that fill up tiles of the part are not counted."""
    values = table(rows)
    theta = np.linspace(-1, 1, values.shape[1] - 1)
    drawn = RNG.integers(0, 256, rows, dtype=np.uint8)
    gaps = np.abs(values[:, -1] - np.clip(values[:, :-1] @ theta, 0.3, 1))
    query = ResidualSize(theta, 0.7, lowest=0.3, every=4)
    store = memory_store(values, 128, drawn=drawn)
    answer = answer_counts(query, Price(2**36, 0), store, None)
    expected = np.minimum(gaps[drawn < 64] / 0.7, 1).sum() * 4
    np.testing.assert_allclose(answer.value, expected, rtol=1e-8)
    whole, part = (
        answer_counts(replace(query, every=every), Price(2**20, 4), store, SeededEntropy(1)).noise_scale
        for every in (1, 4)
    )
    assert math.isclose(part / whole, 4.0, rel_tol=1e-12)
