"""Grouped rows: admission, and a map that is exact and acts on each record alone."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.errors import DataError
from tacit.rows.storage import grouped_rows
from tacit.rows.storage.grouped_rows import ROW_NORM, UNIT, GroupedRows, blocks_of, map_rows, mapped, summed

RNG = np.random.default_rng(3)
SHAPES = ((6, 5), (9, 4))
COUNT = 150


def rows_of(count: int = COUNT) -> tuple[NDArray[np.int16], ...]:
    found = []
    for shape in SHAPES:
        values = RNG.standard_t(3, size=(count, *shape))
        values *= (UNIT - 10) / np.sqrt((values**2).sum(axis=(1, 2), keepdims=True))
        found.append(np.rint(values).astype(np.int16))
    return tuple(found)


def map_of(absolute: bool = True) -> ChannelMap:
    groups = tuple(
        GroupMap(
            RNG.normal(size=shape) * 0.05, RNG.normal(size=(4, shape[0])) * np.array([[1], [5], [0.2], [1]]), 0.7, kept
        )
        for shape, kept in zip(SHAPES, (None, 2 if absolute else 4), strict=True)
    )
    return ChannelMap(groups, absolute, 0.1)


def by_definition(groups: tuple[NDArray[np.int16], ...], channel_map: ChannelMap) -> NDArray[np.float64]:
    parts = []
    for rows, group in zip(groups, channel_map.groups, strict=True):
        full = np.einsum("kc,ncp->nkp", group.whitening, rows / UNIT - group.mean)
        z, size = full[:, : group.kept].reshape(len(rows), -1), np.abs(full.reshape(len(rows), -1))
        if channel_map.absolute:
            z = np.concatenate([z, size - size.mean(axis=1, keepdims=True)], axis=1)
        parts.append(group.weight * z / np.sqrt((z**2).sum(axis=1, keepdims=True)))
    whole = np.concatenate([*parts, np.full((len(groups[0]), 1), channel_map.constant)], axis=1)
    return np.asarray(whole / np.sqrt((whole**2).sum(axis=1, keepdims=True)))


@pytest.mark.parametrize("absolute", [False, True])
def test_it_is_the_map_of_the_definition(absolute: bool) -> None:
    groups, channel_map = rows_of(), map_of(absolute)
    found = map_rows(groups, channel_map)
    assert found.shape == (COUNT, channel_map.width)
    np.testing.assert_allclose(found / ROW_NORM, by_definition(groups, channel_map), atol=4e-3)


def test_mapped_rows_are_whole_numbers_within_the_norm() -> None:
    exact = map_rows(rows_of(), map_of())
    found = exact.astype(np.int64)
    assert np.array_equal(found, exact)
    assert ((found**2).sum(axis=1) <= ROW_NORM**2).all()
    assert ((found**2).sum(axis=1) >= (0.99 * ROW_NORM) ** 2).all()


def test_a_mapped_row_depends_on_its_record_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Order, neighbours, blocks and threads change no bit."""
    groups, channel_map = rows_of(), map_of()
    whole = map_rows(groups, channel_map)
    order = RNG.permutation(COUNT)
    assert np.array_equal(map_rows(tuple(rows[order] for rows in groups), channel_map), whole[order])
    assert np.array_equal(map_rows(tuple(rows[40:41] for rows in groups), channel_map), whole[40:41])
    monkeypatch.setattr(grouped_rows, "blocks_of", lambda length, _size=0: blocks_of(length, 7))
    monkeypatch.setenv("TACIT_THREADS", "1")
    assert np.array_equal(map_rows(groups, channel_map), whole)


def test_products_stay_below_two_to_the_24_for_the_longest_rows() -> None:
    """All channels in one direction, at one position, against a mean on the other side."""
    rows = np.zeros((2, 6, 5), dtype=np.int16)
    rows[0, :, 0] = int(UNIT / np.sqrt(6))
    whitening = np.ones((4, 6)) * np.array([[1.0], [-1.0], [1e6], [1e-6]])
    plan = grouped_rows._whole_numbers(GroupMap(np.full((6, 5), -2.0), whitening), absolute=True)
    centred = rows.astype(np.float32) - plan.centre
    grouped_rows._shrink(centred)
    exact = plan.matrix.astype(object) @ centred[0].astype(object)
    assert np.abs(exact).max() < 2**24
    assert np.abs(exact).max() > 2**23
    assert (np.matmul(plan.matrix, centred)[0].astype(object) == exact).all()


def test_a_record_of_zeros_has_the_constant_alone_and_far_means_are_no_fault() -> None:
    zero = tuple(np.zeros((3, *shape), dtype=np.int16) for shape in SHAPES)
    groups = tuple(GroupMap(np.zeros(shape), np.eye(shape[0])) for shape in SHAPES)
    found = map_rows(zero, ChannelMap(groups, absolute=True))
    assert not found[:, :-1].any()
    assert (found[:, -1] > 0).all()
    far = tuple(GroupMap(np.full(shape, 1e9), np.eye(shape[0])) for shape in SHAPES)
    assert np.isfinite(map_rows(zero, ChannelMap(far))).all()


@pytest.mark.parametrize("entry", [ROW_NORM + 1, 2.0**32, -(2.0**33), 2.0**100, np.inf, np.nan])
def test_a_row_that_is_too_long_or_no_number_becomes_zero(entry: float) -> None:
    """The squares of 2^32 and of NaN wrap to 0 in 64-bit integers, which would pass for a bound."""
    rows = np.ones((2, 3), dtype=np.float32)
    rows[0, 1] = entry
    grouped_rows._require_norm(rows)
    assert (rows == [[0, 0, 0], [1, 1, 1]]).all()


def test_a_whitening_whose_squares_vanish_does_not_outgrow_its_norm() -> None:
    whitening = np.full((2, 9), 1.5e-162)
    whitening[0, 0] = 1.6e-162
    plan = grouped_rows._whole_numbers(GroupMap(np.zeros((9, 1)), whitening), absolute=False)
    assert ((plan.matrix.astype(np.float64) ** 2).sum(axis=1) <= grouped_rows.MAP_NORM**2).all()


def test_blocks_know_their_largest_column() -> None:
    rows = GroupedRows.admit(rows_of(600), RNG.integers(0, 3, 600), 3)
    found = mapped(rows, map_of())
    wanted = [(found.rows[block].astype(float) ** 2).sum(axis=0).max() for block in blocks_of(600)]
    assert found.largest.tolist() == wanted


def test_sums_know_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    values = RNG.integers(-(2**40), 2**40, (500, 3))

    def add(block: slice, total: NDArray[np.int64]) -> None:
        total += values[block].sum(axis=0)

    for threads in "1", "5":
        monkeypatch.setenv("TACIT_THREADS", threads)
        assert np.array_equal(summed((3,), blocks_of(500, 9), add), values.sum(axis=0))


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 1, 3], "from 0 to 2"),
        ([0, 1, -1], "from 0 to 2"),
        ([0.0, 1.0, 2.0], "whole numbers"),
        ([0, 1], "one label for each"),
    ],
)
def test_labels_outside_the_classes_are_refused(labels: list[int], says: str) -> None:
    with pytest.raises(DataError, match=says):
        GroupedRows.admit(rows_of(3), np.array(labels), 3)


def test_rows_that_are_too_long_or_of_another_kind_are_refused() -> None:
    labels = np.zeros(3, dtype=int)
    long = rows_of(3)
    long[1][2] = 4 * UNIT // 9
    wrong: list[tuple[Any, str]] = [
        (long, "longer"),
        (tuple(rows.astype(np.int32) for rows in rows_of(3)), "16-bit"),
        (tuple(rows.transpose(0, 2, 1) for rows in rows_of(3)), "contiguous"),
    ]
    for groups, says in wrong:
        with pytest.raises(DataError, match=says):
            GroupedRows.admit(groups, labels, 3)
    with pytest.raises(DataError, match="fewer than two"):
        GroupedRows.admit(rows_of(1), labels[:1], 3)
