"""Access of compiled passes to dense and sparse blocks. Private: `block`.

A dense block is an array (tile, column, lane) of 64 records side by side: features, then the
outcome columns. A sparse block (`rows.storage.sparse_store`) has the non-zero features of record
after record, and the same outcome columns. The five functions below are compiled for the one or the
other by the type of their first argument, so a pass is written once for both.

Every sum over a record runs over the columns in order, and a zero that is not stored would add
nothing. So a record has the same integers in both.
Proof: proofs/mechanisms/dense_and_sparse_blocks.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from tacit.losses.float_bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.rows.storage.sparse_store import SparseBlock
from tacit.rows.storage.tiles import LANES, Floats, Integers

TINY = 2.0**-600
"""Added to squared norms, so that records below it cannot outgrow their limit."""


def count_tiles(block: Any) -> Any:
    """Tiles of a block."""


def outcome_column(block: Any, t: int, width: int, place: int) -> Any:
    """Outcome column of tile t: the response at place 0, then weight and offset."""


def measure_tile(block: Any, t: int, theta: Floats, margin: Floats, square: Floats) -> None:
    """Write z·theta and 2^-600 + ‖z‖² of every record z of tile t, columns in order."""


def add_tile(block: Any, t: int, factor: Floats, square: Floats, total: Integers) -> None:
    """Add rint(factor·z) of every record z of tile t with a finite square to `total`."""


def write_tile(block: Any, t: int, factor: Floats, integers: Floats) -> None:
    """Write rint(factor·z) of tile t into its 64 columns of (column, record); NaN becomes 0."""


def _dense_count(block: Any) -> Any:
    return block.shape[0]


def _sparse_count(block: Any) -> Any:
    return block.outcome.shape[0]


def _dense_outcome(block: Any, t: int, width: int, place: int) -> Any:
    return block[t, width + place]


def _sparse_outcome(block: Any, t: int, _width: int, place: int) -> Any:
    return block.outcome[t, place]


def _dense_measure(block: Any, t: int, theta: Floats, margin: Floats, square: Floats) -> None:
    tile = block[t]
    for lane in range(LANES):
        margin[lane] = 0.0
        square[lane] = TINY
    for j in range(theta.shape[0]):
        weight = theta[j]
        for lane in range(LANES):
            z = np.float64(tile[j, lane])
            margin[lane] += z * weight
            square[lane] += z * z


def _sparse_measure(block: Any, t: int, theta: Floats, margin: Floats, square: Floats) -> None:
    for lane in range(LANES):
        r = t * LANES + lane
        product, size = 0.0, TINY
        for k in range(np.uint64(block.starts[r]), np.uint64(block.starts[r + 1])):
            z = np.float64(block.values[k])
            product += z * theta[np.uint32(block.indices[k])]
            size += z * z
        margin[lane] = product
        square[lane] = size


def _dense_add(block: Any, t: int, factor: Floats, square: Floats, total: Integers) -> None:
    tile = block[t]
    finite = True
    for lane in range(LANES):
        finite &= square[lane] < math.inf
    if finite:
        for j in range(total.shape[0]):
            integers = np.int64(0)
            for lane in range(LANES):
                integers += float_to_bits(factor[lane] * np.float64(tile[j, lane]) + MAGIC)
            total[j] += integers - LANES * MAGIC_BITS
    else:
        # No store holds records without a finite norm; here they add nothing.
        for lane in range(LANES):
            if square[lane] < math.inf:
                for j in range(total.shape[0]):
                    shifted = factor[lane] * np.float64(tile[j, lane]) + MAGIC
                    total[j] += float_to_bits(shifted) - MAGIC_BITS


def _sparse_add(block: Any, t: int, factor: Floats, square: Floats, total: Integers) -> None:
    for lane in range(LANES):
        r = t * LANES + lane
        if square[lane] < math.inf:
            scale = factor[lane]
            for k in range(np.uint64(block.starts[r]), np.uint64(block.starts[r + 1])):
                shifted = scale * np.float64(block.values[k]) + MAGIC
                total[np.uint32(block.indices[k])] += float_to_bits(shifted) - MAGIC_BITS


def _dense_write(block: Any, t: int, factor: Floats, integers: Floats) -> None:
    tile = block[t]
    for j in range(integers.shape[0]):
        for lane in range(LANES):
            v = factor[lane] * np.float64(tile[j, lane])
            # The product with an entry that is not finite is not a number, and counts as 0.
            integers[j, t * LANES + lane] = 0.0 if math.isnan(v) else (v + MAGIC) - MAGIC


def _sparse_write(block: Any, t: int, factor: Floats, integers: Floats) -> None:
    for j in range(integers.shape[0]):
        for lane in range(LANES):
            integers[j, t * LANES + lane] = 0.0
    for lane in range(LANES):
        r = t * LANES + lane
        for k in range(block.starts[r], block.starts[r + 1]):
            v = factor[lane] * np.float64(block.values[k])
            integers[block.indices[k], r] = 0.0 if math.isnan(v) else (v + MAGIC) - MAGIC


def _compile(
    function: Callable[..., Any], dense: Callable[..., Any], sparse: Callable[..., Any]
) -> None:
    """Let compiled code that calls `function` get the form for its block's type."""

    @overload(function, jit_options={"nogil": True, "error_model": "numpy"}, strict=False)
    def choose(block: Any, *_others: Any) -> Callable[..., Any] | None:
        if isinstance(block, types.Array):
            return dense
        return sparse if getattr(block, "instance_class", None) is SparseBlock else None


_compile(count_tiles, _dense_count, _sparse_count)
_compile(outcome_column, _dense_outcome, _sparse_outcome)
_compile(measure_tile, _dense_measure, _sparse_measure)
_compile(add_tile, _dense_add, _sparse_add)
_compile(write_tile, _dense_write, _sparse_write)
