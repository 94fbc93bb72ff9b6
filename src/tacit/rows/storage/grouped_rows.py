"""Grouped integer rows: matrices (channel, position) of whole numbers, in groups, and one label a record. Private.

The rows come in as 16-bit integers, so that everything after is a function of integers. `mapped` applies a public
`ChannelMap` by products that are exact in float32: each of their partial sums is a whole number below 2^24 whatever
their order, by the Cauchy–Schwarz inequality. So a mapped row depends on its record and on released numbers alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tacit.contract.channel_map import ChannelMap, GroupMap
from tacit.errors import DataError
from tacit.kernel_compilation import compiled
from tacit.rows.storage.store import not_pickled, thread_count

UNIT = 1 << 14
"""Largest norm of a stored row of a group; it stands for 1."""
COLUMN_NORM, MAP_NORM = 1 << 13, 1 << 11
"""Largest norms of a position's channels and of a row of a whitening, in whole numbers; their product is 2^24."""
ROW_NORM = 1 << 13
"""Largest norm of a mapped row of whole numbers; it stands for 1."""
BLOCK = 256
"""Records of a block: both products of a gradient read it while it is in the cache."""

Groups = tuple[NDArray[np.int16], ...]
Integers = NDArray[np.int64]
Mapped = NDArray[np.float32]


class GroupedRows(NamedTuple):
    """Rows of every group (record, channel, position), and labels from 0 on. Neither pickled nor copied."""

    groups: Groups
    labels: NDArray[np.int16]

    def __reduce__(self) -> Never:
        raise not_pickled()

    @classmethod
    def admit(cls, groups: Groups, labels: NDArray[Any], classes: int) -> GroupedRows:
        """Take rows and labels in.

        Guarantee: every row of a group has norm at most UNIT, and every label is 0, …, classes - 1.
        """
        codes = np.asarray(labels)
        if codes.ndim != 1 or any(len(rows) != len(codes) for rows in groups):
            raise DataError("There must be one label for each image.")
        if len(codes) < 2:
            raise DataError("There are fewer than two records.")
        if codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= classes:
            raise DataError(f"Labels must be whole numbers from 0 to {classes - 1}, one for each declared class.")
        for rows in groups:
            if rows.dtype != np.int16 or rows.ndim != 3 or not rows.flags.c_contiguous:
                raise DataError("Rows must be a contiguous array (record, channel, position) of 16-bit integers.")
            if _longest(rows.reshape(len(rows), -1)) > UNIT**2:
                raise DataError("A row is longer than the norm that is promised of rows.")
        return cls(groups, codes.astype(np.int16))

    @property
    def length(self) -> int:
        """Number of records."""
        return len(self.labels)


@compiled
def _longest(rows: NDArray[np.int16]) -> int:
    longest = np.int64(0)
    for i in range(rows.shape[0]):
        square = np.int64(0)
        for j in range(rows.shape[1]):
            square += np.int64(rows[i, j]) * np.int64(rows[i, j])
        longest = max(longest, square)
    return int(longest)


class MappedRows(NamedTuple):
    """Rows of whole numbers as float32 (record, width), each of norm at most ROW_NORM, and labels."""

    rows: Mapped
    labels: NDArray[np.int16]
    largest: NDArray[np.float64]
    """Of each block of records the largest Σ x² of a column."""


def blocks_of(length: int, size: int = BLOCK) -> list[slice]:
    """Consecutive records, so many at a time."""
    return [slice(first, min(first + size, length)) for first in range(0, length, size)]


def summed(shape: tuple[int, ...], blocks: list[slice], add: Callable[[slice, Integers], None]) -> Integers:
    """Sum of the integers of all blocks, by several threads; sums of integers know no order."""

    def worker(part: list[slice]) -> Integers:
        total = np.zeros(shape, dtype=np.int64)
        for block in part:
            add(block, total)
        return total

    return np.asarray(sum(in_threads(worker, blocks), start=np.zeros(shape, dtype=np.int64)))


def in_threads(worker: Callable[[list[slice]], Any], blocks: list[slice]) -> Iterator[Any]:
    """Results of each thread's share of the blocks; BLAS itself uses one thread."""
    threads = max(1, min(thread_count(), len(blocks)))
    if threads == 1:
        with _blas().limit(limits=1, user_api="blas"):
            yield worker(blocks)
        return
    shares = [blocks[first::threads] for first in range(threads)]
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        yield from pool.map(worker, shares)


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


class _GroupPlan(NamedTuple):
    """A group's map in whole numbers: centre, matrix, factor of each of its rows, and the group's weight."""

    centre: NDArray[np.float32]
    matrix: NDArray[np.float32]
    factors: NDArray[np.float64]
    weight: float
    kept: int
    entries: int


def _whole_numbers(group: GroupMap, *, absolute: bool) -> _GroupPlan:
    centre = np.clip(np.rint(group.mean * UNIT), -(1 << 15), 1 << 15).astype(np.float32)
    # Squares of numbers below 1e-154 vanish: their norm would come out too small, and the row too long.
    norms = np.maximum(np.sqrt((group.whitening**2).sum(axis=1)), 1e-140)
    # Rounding moves a row of the matrix by at most half the root of its length.
    target = MAP_NORM - math.sqrt(len(group.mean)) / 2 - 1
    matrix = np.rint(group.whitening / norms[:, None] * target).astype(np.float32)
    entries = group.entries(absolute=absolute)
    return _GroupPlan(centre, matrix, norms / norms.max(), group.weight, group.kept, entries)


def map_rows(groups: Groups, channel_map: ChannelMap) -> Mapped:
    """Mapped rows of whole numbers, each of norm at most ROW_NORM.

    Guarantee: a mapped row is a function of its own record and the map: block size, threads, neighbours and the
    library of matrix products do not change a bit.
    """
    length, width = len(groups[0]), channel_map.width
    out = np.empty((length, width), dtype=np.float32)
    plans = [_whole_numbers(group, absolute=channel_map.absolute) for group in channel_map.groups]
    total = math.sqrt(sum(plan.weight**2 for plan in plans) + channel_map.constant**2)
    unit = (ROW_NORM - math.sqrt(width) / 2 - 1) / total

    def worker(part: list[slice]) -> None:
        for block in part:
            first = 0
            for rows, plan in zip(groups, plans, strict=True):
                images = _project(rows[block], plan)
                target = out[block, first : first + plan.entries]
                _write(images, plan.factors, plan.kept, channel_map.absolute, plan.weight * unit, target)
                first += plan.entries
            out[block, -1] = np.rint(channel_map.constant * unit)
            _require_norm(out[block])

    list(in_threads(worker, blocks_of(length, 64)))
    return out


def _project(rows: NDArray[np.int16], plan: _GroupPlan) -> NDArray[np.float32]:
    """W (x - m) in whole numbers below 2^24; a record with a longer position than COLUMN_NORM is shrunk first."""
    centred = rows.astype(np.float32)
    centred -= plan.centre
    _shrink(centred)
    return np.asarray(np.matmul(plan.matrix, centred))


@compiled
def _shrink(rows: Mapped) -> None:
    """Shrink each record so that the channels of every position have norm at most COLUMN_NORM."""
    count, channels, positions = rows.shape
    squares = np.empty(positions, dtype=np.int64)
    for i in range(count):
        squares[:] = 0
        for k in range(channels):
            for p in range(positions):
                value = np.int64(rows[i, k, p])
                squares[p] += value * value
        largest = squares.max()
        if largest > COLUMN_NORM * COLUMN_NORM:
            # Truncation towards zero makes no entry longer.
            factor = COLUMN_NORM / math.sqrt(float(largest)) * (1 - 2.0**-40)
            for k in range(channels):
                for p in range(positions):
                    rows[i, k, p] = np.float32(np.int64(np.float64(rows[i, k, p]) * factor))


@compiled
def _write(images: Mapped, factors: NDArray[np.float64], kept: int, absolute: bool, length: float, out: Mapped) -> None:
    """Scale the first `kept` rows of images, and with `absolute` |w| - mean |w| of all, to `length` and round them.

    Sums are of whole numbers.
    """
    count, channels, positions = images.shape
    first = kept * positions
    for i in range(count):
        square, linear, size = np.int64(0), np.int64(0), np.int64(0)
        for k in range(channels):
            for p in range(positions):
                w = np.int64(np.rint(np.float64(images[i, k, p]) * factors[k]))
                images[i, k, p] = w
                square += w * w
                size += abs(w)
            if k == kept - 1:
                linear = square
        middle = float(size) / (channels * positions)
        norm = float(linear) + (max(float(square) - float(size) * middle, 0.0) if absolute else 0.0)
        scale = length / math.sqrt(norm) if norm > 0.0 else 0.0
        for k in range(channels):
            for p in range(positions):
                value = np.float64(images[i, k, p])
                if k < kept:
                    out[i, k * positions + p] = np.rint(value * scale)
                if absolute:
                    out[i, first + k * positions + p] = np.rint((abs(value) - middle) * scale)


@compiled
def _require_norm(rows: Mapped) -> None:
    """Set rows above ROW_NORM to zero: none is, but the bound rests on this check alone."""
    for i in range(rows.shape[0]):
        # Whole numbers: exact below 2^53, and never too small above. What is no number is not below the bound.
        square = 0.0
        for j in range(rows.shape[1]):
            square += np.float64(rows[i, j]) * np.float64(rows[i, j])
        if not square <= ROW_NORM * ROW_NORM:
            rows[i] = 0.0


def mapped(rows: GroupedRows, channel_map: ChannelMap) -> MappedRows:
    """Map all records, and measure their blocks."""
    values = map_rows(rows.groups, channel_map)
    blocks = blocks_of(rows.length)
    largest = np.empty(len(blocks))

    def worker(part: list[slice]) -> None:
        for block in part:
            largest[block.start // BLOCK] = np.einsum("nj,nj->j", values[block], values[block], dtype=np.float64).max()

    list(in_threads(worker, blocks))
    return MappedRows(values, rows.labels, largest)
