"""Measures of gradient norms: what they are, within [0, S], the same for any layout."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.contract.query import GradientNorm, Measure, QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.errors import SettingError
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.counts import answer_counts, integer_measures
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore, SparseBlock, SparseStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, to_tiles
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

WIDTH, BOUND = 4, 2**36
THETA = np.array([1.5, -0.7, 0.4, 0.2])
COUNTS = poisson.weighted(1.0, 2.0, 30.0)
ANY = st.floats(allow_nan=True, allow_infinity=True)


def query_of(
    measure: Measure = Measure.SHARE, loss: Loss = regression.SQUARED, start: float = 0.3, cap: float = 0.8
) -> GradientNorm:
    return GradientNorm(THETA, 0.9, cap, None, loss, measure, start)


def table(rows: int, seed: int = 3) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(-1, 1, (rows, WIDTH + 1))


def stored(
    values: NDArray[Any], *, weighted: bool = False, shifted: bool = False, block_rows: int = 128
) -> MemoryStore:
    layout = Layout(len(values), WIDTH, values.dtype, block_rows, weighted, shifted)
    return MemoryStore.of_tiles(layout, to_tiles(values))


def sparse(values: NDArray[np.float64]) -> SparseStore:
    kept = [np.flatnonzero(row[:WIDTH]).astype(np.int32) for row in values]
    padded = [*(len(places) for places in kept), *[0] * (-len(values) % LANES)]
    block = SparseBlock(
        np.concatenate([[0], np.cumsum(padded)]),
        np.concatenate(kept),
        np.concatenate([row[places] for row, places in zip(values, kept, strict=True)]),
        np.ascontiguousarray(to_tiles(values)[:, WIDTH:]),
    )
    return SparseStore(Layout(len(values), WIDTH, np.dtype(np.float64), 2048), [block])


SLOPES: dict[Loss, Callable[[Any, Any], Any]] = {
    regression.SQUARED: lambda margin, y: margin - y,
    classification.LOGISTIC: lambda margin, y: 1 / (1 + np.exp(-margin)) - y,
    COUNTS: lambda margin, y: np.minimum(1.0, 2.0 / np.exp(margin)) * (np.exp(margin) - y),
}


def share_by_hand(query: GradientNorm, norm: Any) -> Any:
    """The measure of norms, by its definition."""
    if query.measure is Measure.WITHIN:
        return ((norm > query.start) & (norm <= query.start + query.cap)).astype(float)
    return np.clip((norm - query.start) / query.cap, 0, 1)


def norms_by_hand(query: GradientNorm, values: NDArray[np.float64], weight: Any = 1.0, offset: Any = 0.0) -> Any:
    Z, y = values[:, :WIDTH], values[:, WIDTH]
    length = np.linalg.norm(Z, axis=1)
    shorter = np.minimum(1.0, query.row_bound**2 / length**2)
    shorter = np.sqrt(shorter) if query.shortened else shorter
    slope = SLOPES[query.loss](Z @ query.theta + offset, y)
    return weight * shorter * np.abs(slope) * length


@pytest.mark.parametrize("measure", [Measure.WITHIN, Measure.SHARE])
@pytest.mark.parametrize("loss", SLOPES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("rows", [1, 63, 65, 300])
def test_the_sum_is_that_of_the_norms_of_downweighted_gradients(measure: Measure, loss: Loss, rows: int) -> None:
    values, query = table(rows), query_of(measure, loss)
    if loss is COUNTS:
        values[:, WIDTH] = np.random.default_rng(0).poisson(2.0, rows)
    expected = share_by_hand(query, norms_by_hand(query, values))
    if rows == 300:
        assert 20 < (expected > 0).sum() < 300
        assert measure is Measure.WITHIN or ((expected > 0) & (expected < 1)).any()
    total = integer_measures(query, BOUND, memory_store(values))
    # Integers of 2^36 at most, from norms with errors of some 2^-50.
    assert abs(int(total[0]) - float(np.rint(BOUND * expected).sum())) <= 40 * rows


def test_a_record_counts_by_its_weight_and_so_does_its_gradient() -> None:
    rng, query = np.random.default_rng(4), query_of(start=0.1)
    values = np.column_stack([table(200), rng.random(200), rng.uniform(-1, 1, 200)])
    weight, offset = values[:, WIDTH + 1], values[:, WIDTH + 2]
    expected = share_by_hand(query, norms_by_hand(query, values, weight, offset)) * weight
    found = integer_measures(query, BOUND, stored(values, weighted=True, shifted=True))
    assert abs(float(found[0]) - BOUND * expected.sum()) <= 40 * len(values)


@pytest.mark.parametrize("loss", SLOPES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(("start", "inside"), [(-0.5, True), (0.0, False)])
def test_records_that_fill_up_a_tile_count_nothing(start: float, inside: bool, loss: Loss) -> None:
    """A zero row has a gradient of norm 0, which lies in the first interval and not the second."""
    query = query_of(Measure.WITHIN, loss, start, 1.0)
    half = query_of(Measure.SHARE, loss, start, 1.0)
    for rows in (1, 2, 63, 64, 65, 129):
        store = memory_store(np.zeros((rows, WIDTH + 1)))
        assert integer_measures(query, 8, store).tolist() == [8 * rows if inside else 0]
        assert integer_measures(half, 8, store).tolist() == [4 * rows if inside else 0]


@given(st.integers(1, 2**36), ANY, ANY, ANY, st.floats(-1e100, 1e100), st.floats(1e-100, 1e100))
def test_a_record_adds_a_whole_number_from_0_to_the_bound(
    bound: int, value: float, label: float, weight: float, start: float, cap: float
) -> None:
    """Whatever the numbers of the record are, also where none of them is a number."""
    row = np.full((1, WIDTH + 2), value)
    row[0, WIDTH:] = label, weight
    for loss in SLOPES:
        for measure in (Measure.WITHIN, Measure.SHARE):
            query = query_of(measure, loss, start, cap)
            for weighted in (False, True):
                store = stored(row[:, : WIDTH + 1 + weighted], weighted=weighted)
                assert 0 <= integer_measures(query, bound, store)[0] <= bound
            people = person_store([row] * 2 + [np.repeat(row, 3, axis=0)], 3, weighted=True)
            assert 0 <= integer_measures(query, bound, people)[0] <= 3 * bound


def test_neighbours_differ_by_at_most_the_bound() -> None:
    """One record in the middle of others is replaced by rows near and far, and by nothing."""
    values, bound = table(70), 2**20
    for measure in (Measure.WITHIN, Measure.SHARE):
        query = query_of(measure)
        sums = []
        for row in [*1e9 * table(10), *table(30), *1e-9 * table(10), np.zeros(WIDTH + 1)]:
            values[33] = row
            sums.append(int(integer_measures(query, bound, memory_store(values))[0]))
        allowed = squared_sensitivity(QueryKind.COUNTS, bound, Relation.REPLACE_ONE)
        assert 0.9 * allowed <= (max(sums) - min(sums)) ** 2 <= allowed


def test_integers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    values, rng, query = table(1000), np.random.default_rng(0), query_of()
    people = [table(1 + i % 5, i) for i in range(200)]
    whole = integer_measures(query, BOUND, memory_store(values))
    persons = sum(integer_measures(query, BOUND, person_store([p], 5)) for p in people)
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        for block_rows in (64, 128, 640):
            store = memory_store(values[rng.permutation(len(values))], block_rows)
            assert (integer_measures(query, BOUND, store) == whole).all()
            shuffled = [people[i] for i in rng.permutation(len(people))]
            grouped = person_store(shuffled, 5, block_tiles=block_rows // 64)
            assert (integer_measures(query, BOUND, grouped) == persons).all()


def test_sparse_records_have_the_norms_of_dense_ones() -> None:
    values = table(100)
    values[:, :WIDTH] *= np.random.default_rng(1).random((100, WIDTH)) < 0.5
    for query in (query_of(), query_of(Measure.WITHIN, start=-0.3)):
        dense = integer_measures(query, BOUND, memory_store(values))
        assert (integer_measures(query, BOUND, sparse(values)) == dense).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_person_has_the_norm_of_the_mean_of_their_gradients(weighted: bool) -> None:
    """Downweighted as a whole, with the mean of their weights, as persons are counted elsewhere."""
    query, rng = query_of(start=0.05), np.random.default_rng(2)
    people = [np.column_stack([table(1 + i % 6, i), rng.random(1 + i % 6)])[:, : 5 + weighted] for i in range(150)]
    expected = 0.0
    for rows in people:
        Z, weight = rows[:, :WIDTH], rows[:, 5] if weighted else np.ones(len(rows))
        lengths = np.linalg.norm(Z, axis=1)
        shorter = min(1.0, 0.9**2 / np.mean(lengths**2))
        score = Z.T @ (weight * (Z @ THETA - rows[:, WIDTH])) / len(rows)
        norm = shorter * float(np.linalg.norm(score))
        expected += float(share_by_hand(query, np.float64(norm))) * weight.mean()
    store = person_store(people, 6, weighted=weighted)
    found = integer_measures(query, BOUND, store)
    assert 0.05 * 150 < expected < 0.6 * 150
    assert abs(float(found[0]) / BOUND - expected) < 1e-7


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 64, 100])
def test_persons_with_one_record_count_as_their_records_do(n: int, weighted: bool) -> None:
    """Up to the rounding of a square root: lanes without a person count nothing."""
    values = np.column_stack([table(n), np.random.default_rng(0).random(n)])[:, : 5 + weighted]
    for query in (query_of(start=0.0), query_of(Measure.WITHIN, start=-0.4)):
        one = integer_measures(query, BOUND, person_store([*values[:, None]], 1, weighted=weighted))
        many = integer_measures(query, BOUND, stored(values, weighted=weighted))
        assert abs(int(one[0]) - int(many[0])) <= 40 * n


def test_answers_have_the_noise_that_is_stated() -> None:
    """800 answers; the sample deviation is within 15% but with probability below 1e-8."""
    store, query, price = memory_store(table(200)), query_of(), Price(bound=2**20, bits=22)
    exact = answer_counts(query, price, store, None)
    assert exact.noise_scale == 0.0
    expected = share_by_hand(query, norms_by_hand(query, table(200))).sum()
    assert exact.value[0] == pytest.approx(expected, abs=1e-3)
    entropy = SeededEntropy(3)
    answers = [answer_counts(query, price, store, entropy) for _ in range(800)]
    assert {answer.noise_scale for answer in answers} == {4.0}
    noise = np.array([answer.value[0] - exact.value[0] for answer in answers])
    assert abs(np.std(noise) / 4.0 - 1) < 0.15
    steps = np.array([answer.value[0] for answer in answers]) * price.bound
    np.testing.assert_array_equal(steps, np.rint(steps))


def test_several_predictors_have_no_gradient_norm() -> None:
    query = replace(query_of(), theta=np.zeros((WIDTH, 3)))
    with pytest.raises(SettingError, match="one linear predictor"):
        integer_measures(query, 1, memory_store(table(3)))


@pytest.mark.parametrize("loss", SLOPES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("rows", [1, 63, 65, 300])
def test_shortened_rows_keep_their_residuals_and_count_one_at_most(loss: Loss, rows: int) -> None:
    """As many as by hand, whatever the cap; a record more or less changes the sum by at most the bound."""
    values = table(rows)
    values[:, :WIDTH] *= 40.0
    query = replace(query_of(Measure.WITHIN, loss, start=0.3, cap=2.0**200), shortened=True)
    total = int(integer_measures(query, BOUND, memory_store(values))[0])
    assert total == BOUND * int(share_by_hand(query, norms_by_hand(query, values)).sum())
    fewer = int(integer_measures(query, BOUND, memory_store(values[:-1]))[0]) if rows > 1 else 0
    assert 0 <= total - fewer <= BOUND
