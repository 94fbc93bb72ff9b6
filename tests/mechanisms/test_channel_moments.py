"""Sums and channel moments: exact, bounded for every record, and noised."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.grouped_query import ChannelMoments, GroupSum
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price, price_for, squared_sensitivity
from tacit.errors import SettingError
from tacit.mechanisms import channel_moments
from tacit.mechanisms.channel_moments import (
    FROBENIUS,
    answer_channel_moments,
    answer_group_sum,
    bounded_rows,
    integer_moments,
    integer_sum,
    multiple_of,
)
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.grouped_rows import UNIT, GroupedRows

RNG = np.random.default_rng(8)
CHANNELS, POSITIONS, ENDS = 7, 6, (0, 4, 7)
CLIP = 0.05


def unit_rows(values: NDArray[np.float64]) -> NDArray[np.int16]:
    norm = np.sqrt((values**2).sum(axis=(1, 2), keepdims=True))
    return np.asarray(np.rint(values * (UNIT - 8) / np.maximum(norm, 1e-300)), dtype=np.int16)


def adversarial() -> NDArray[np.int16]:
    """Gaussian, heavy-tailed, one entry, one channel, one position, alternating signs, equal entries, zeros."""
    shape = (CHANNELS, POSITIONS)
    kinds = [RNG.normal(size=(40, *shape)), RNG.standard_t(1.5, size=(40, *shape))]
    for _ in range(10):
        spike, channel, position = (np.zeros((1, *shape)) for _ in range(3))
        spike[0, RNG.integers(CHANNELS), RNG.integers(POSITIONS)] = RNG.choice([-1.0, 1.0])
        channel[0, RNG.integers(CHANNELS)] = RNG.choice([-1.0, 1.0], POSITIONS)
        position[0, :, RNG.integers(POSITIONS)] = 1.0
        kinds += [spike, channel, position]
    kinds += [np.ones((1, *shape)), np.indices(shape).sum(axis=0)[None] % 2 * 2.0 - 1.0, np.zeros((1, *shape))]
    return unit_rows(np.concatenate(kinds))


def table(rows: NDArray[np.int16]) -> GroupedRows:
    return GroupedRows.admit((np.ascontiguousarray(rows),), np.zeros(len(rows), dtype=int), 3)


def blocks_of_products(b: NDArray[np.float32]) -> NDArray[np.object_]:
    whole = b.astype(np.int64).astype(object)
    products = whole @ whole.T
    for first, last in ((0, 4), (4, 7)):
        products[first:last, :first] = products[first:last, last:] = 0
    return np.asarray(products)


@pytest.mark.parametrize("clip", [1e-4, 0.05, 1.0, 4.0])
@pytest.mark.parametrize("size", [0.0, 0.2, 30.0])
def test_every_records_matrix_is_within_the_bound(clip: float, size: float) -> None:
    """In exact integers, for rows and means of any size."""
    rows = adversarial()
    centre = np.rint(RNG.normal(size=(CHANNELS, POSITIONS)) * size * UNIT).clip(-(2**15), 2**15).astype(np.float32)
    found = bounded_rows(rows, centre, math.sqrt(FROBENIUS / clip) / UNIT, ENDS)
    squares = [int((blocks_of_products(b) ** 2).sum()) for b in found]
    assert max(squares) <= FROBENIUS**2
    if clip == CLIP and size < 30:
        assert max(squares) > 0.9 * FROBENIUS**2


def test_a_bound_that_is_not_enforced_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel_moments, "_squared_norms", lambda rows, _: np.zeros(len(rows), dtype=np.int64))
    found = bounded_rows(adversarial(), np.zeros((CHANNELS, POSITIONS), np.float32), 0.3, ENDS)
    assert max(int((blocks_of_products(b) ** 2).sum()) for b in found) > FROBENIUS**2


@pytest.mark.parametrize(("positions", "entry"), [(1024, 512), (512, 724), (400, 814), (300, 940)])
def test_a_sum_of_squares_that_64_bits_would_wrap_is_above_the_bound(positions: int, entry: int) -> None:
    """The attack: 1024 equal positions of 4·512 have Σ (b_p·b_q)² = 2^64, which 64 bits read as 0."""
    rows = np.zeros((2, CHANNELS, positions), dtype=np.int16)
    rows[0, 2] = entry
    query = ChannelMoments(0, np.zeros((CHANNELS, positions)), (0, CHANNELS), 2.0**-12)
    found = bounded_rows(rows, np.zeros((CHANNELS, positions), np.float32), 4.0, query.ends)
    assert int((found[0].astype(np.int64).astype(object) ** 2).sum()) <= FROBENIUS
    moved = integer_moments(query, table(rows))[0] - integer_moments(query, table(np.zeros_like(rows)))[0]
    assert int((moved.astype(object) ** 2).sum()) <= FROBENIUS**2
    assert moved.any()


def test_sums_of_squares_of_several_blocks_do_not_wrap_either() -> None:
    products = np.full((2, 256, 256), 2.0**24 - 1, dtype=np.float32)
    squares = np.zeros(2, dtype=np.int64)
    for _ in range(20):
        channel_moments._frobenius(products, squares)
        assert (squares > FROBENIUS**2).all()


def test_more_positions_than_the_largest_image_has_are_refused() -> None:
    rows = table(np.zeros((2, 1, 4097), dtype=np.int16))
    with pytest.raises(SettingError, match="4096 positions"):
        integer_moments(ChannelMoments(0, np.zeros((1, 4097)), (0, 1), CLIP), rows)


def test_moments_are_those_of_the_clipped_rows() -> None:
    rows = unit_rows(RNG.normal(size=(200, CHANNELS, POSITIONS)))
    mean = rows.mean(axis=0) / UNIT
    total, unit = integer_moments(ChannelMoments(0, mean, ENDS, CLIP), table(rows))
    wanted = np.zeros((CHANNELS, CHANNELS))
    for x in rows / UNIT - mean:
        matrix = x @ x.T
        matrix[:4, 4:] = matrix[4:, :4] = 0.0
        wanted += matrix * min(1.0, CLIP / np.sqrt((matrix**2).sum()))
    np.testing.assert_allclose(total / unit, wanted, atol=0.02 * np.abs(wanted).max())


def test_sums_do_not_depend_on_order_blocks_or_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = adversarial()
    query = ChannelMoments(0, np.full((CHANNELS, POSITIONS), 0.01), ENDS, CLIP)
    moments, sums = integer_moments(query, table(rows))[0], integer_sum(table(rows), 0)
    for threads, records in (("1", 3), ("3", 64)):
        monkeypatch.setenv("TACIT_THREADS", threads)
        monkeypatch.setattr(channel_moments, "RECORDS", records)
        turned = table(rows[RNG.permutation(len(rows))])
        assert np.array_equal(integer_moments(query, turned)[0], moments)
        assert np.array_equal(integer_sum(turned, 0), sums)
    assert np.array_equal(sums, rows.astype(np.int64).sum(axis=0))


@pytest.mark.parametrize("relation", [Relation.ZERO_OUT, Relation.REPLACE_ONE])
def test_neighbours_differ_by_at_most_the_sensitivity(relation: Relation) -> None:
    """A record contributes nothing, or another one stands in its place."""
    rows = adversarial()
    query = ChannelMoments(0, np.full((CHANNELS, POSITIONS), 0.02), ENDS, CLIP)
    price = price_for(QueryKind.GRADIENT, Fraction(1, 100), relation, records=len(rows), width=42)
    for place in range(0, len(rows), 7):
        changed = np.delete(rows, place, axis=0)
        if relation is Relation.REPLACE_ONE:
            changed = np.insert(changed, place, -rows[place], axis=0)
        sums = integer_sum(table(rows), 0) - integer_sum(table(changed), 0)
        moments = integer_moments(query, table(rows))[0] - integer_moments(query, table(changed))[0]
        for kind, bound, difference in (
            (QueryKind.GRADIENT, UNIT, sums),
            (QueryKind.SECOND_MOMENTS, FROBENIUS, moments),
        ):
            moved = multiple_of(price, bound) * difference.astype(object)
            assert int((moved**2).sum()) <= squared_sensitivity(kind, price.bound, relation)


def test_answers_are_sums_with_noise_of_the_stated_scale() -> None:
    """5,000 draws; the standard deviation is off by 7% in one case of 10^11."""
    rows = table(unit_rows(RNG.normal(size=(50, 100, 50))))
    price = Price(2**30, 32)
    exact = answer_group_sum(GroupSum(0), price, rows, None)
    noised = answer_group_sum(GroupSum(0), price, rows, SeededEntropy(4))
    np.testing.assert_allclose(exact.value, rows.groups[0].sum(axis=0) / UNIT)
    assert abs((noised.value - exact.value).std() / noised.noise_scale - 1) < 0.07
    assert noised.noise_scale == pytest.approx(4.0)


def test_moments_have_symmetric_noise_of_the_stated_scale() -> None:
    """100·99/2 draws off the diagonal; their standard deviation is off by 7% in one case of 10^11."""
    rows = table(unit_rows(RNG.normal(size=(50, 100, 6))))
    query, price = ChannelMoments(0, np.zeros((100, 6)), (0, 100), CLIP), Price(2**30, 32)
    exact = answer_channel_moments(query, price, rows, None)
    noised = answer_channel_moments(query, price, rows, SeededEntropy(4))
    assert np.array_equal(noised.value, noised.value.T)
    off = (noised.value - exact.value)[np.triu_indices(100, 1)]
    assert abs(off.std() / (noised.noise_scale / math.sqrt(2)) - 1) < 0.07
    assert noised.noise_scale == pytest.approx(4 * CLIP, rel=1e-3)


def test_a_price_for_a_coarser_lattice_and_wrong_blocks_are_refused() -> None:
    rows = table(adversarial())
    with pytest.raises(SettingError, match="coarser"):
        answer_group_sum(GroupSum(0), Price(UNIT - 1, 10), rows, None)
    for query in (
        ChannelMoments(0, np.zeros((CHANNELS, POSITIONS + 1)), ENDS, CLIP),
        ChannelMoments(0, np.zeros((CHANNELS, POSITIONS)), (0, 4, 8), CLIP),
    ):
        with pytest.raises(SettingError, match="blocks"):
            answer_channel_moments(query, Price(2**30, 32), rows, None)
