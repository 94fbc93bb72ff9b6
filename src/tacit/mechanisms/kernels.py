"""Compiled passes over blocks of records: clipped gradients and quantised rows. Private: `block`.

A dense block is an array (tile, column, lane) of 64 records side by side: features, then the outcome columns. A sparse
block (`rows.storage.record_store`) has the non-zero features of record after record, and the same outcome columns. Five
functions are compiled for the one or the other by the type of their first argument, so a pass is written once for both.
Every sum over a record runs over the columns in order, and a zero that is not stored would add nothing: a record has
the same integers in both. They depend on that record and on public numbers only.

Passes take public numbers as tuples. `loss` is its code, its shape and, for moments, the bounds on its curvature, its
slope and, for pairs, on both; `columns` is whether records have weights, and whether offsets; `limits` are the bound on
the norm of a row, and the norm of its integers before rounding; `clip` is integers per unit of gradient, their largest
norm, and a radius. Proof: proofs/mechanisms/kernels.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import overload

from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import curvatures, larger_slopes, slopes
from tacit.losses.float_bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.rows.storage.record_store import SparseBlock
from tacit.rows.storage.tiles import LANES, Floats, Integers

PLAIN, CURVATURE, SCORE = 0, 1, 2
"""`Weights` of second moments in their order, as the compiler takes them."""
Kernel = Callable[..., Any]
BALANCED = -1.0
"""Stands for a radius where rows are weighed by the larger slope of two labels."""
TINY = 2.0**-600
"""Added to squared norms, so that records below it cannot outgrow their limit."""


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


def either(dense: Kernel, sparse: Kernel) -> Kernel:
    """A function that compiled code gets in the form for its block's type."""

    def function(*_arguments: Any) -> None:
        """Stand for both forms; it is never run."""

    @overload(function, jit_options={"nogil": True, "error_model": "numpy"}, strict=False)
    def choose(block: Any, *_others: Any) -> Kernel | None:
        if isinstance(block, types.Array):
            return dense
        return sparse if getattr(block, "instance_class", None) is SparseBlock else None

    return function


count_tiles = either(lambda block: block.shape[0], lambda block: block.outcome.shape[0])
"""Tiles of a block."""
outcome_column = either(
    lambda block, t, width, place: block[t, width + place], lambda block, t, _width, place: block.outcome[t, place]
)
"""Outcome column of tile t: the response at place 0, then weight and offset."""
measure_tile = either(_dense_measure, _sparse_measure)
"""Write z·theta and 2^-600 + ‖z‖² of every record z of tile t, columns in order."""
add_tile = either(_dense_add, _sparse_add)
"""Add rint(factor·z) of every record z of tile t with a finite square to `total`."""
write_tile = either(_dense_write, _sparse_write)
"""Write rint(factor·z) of tile t into its 64 columns of (column, record); NaN becomes 0."""


def enforceable(bound: int, width: int) -> float:
    """Largest float norm before rounding for which the integer norm is at most `bound`.

    Rounding `width` coordinates adds at most √width / 2, and all float errors of the norm, the
    quotient and the product stay below (width + 16)·2^-52 relative.
    """
    available = bound - math.sqrt(width) / 2 * (1 + 2.0**-50)
    return max(0.0, available * (1 - (width + 16) * 2.0**-52))


@compiled
def add_gradients(block: Any, theta: Floats, loss: Any, columns: Any, clip: Any, total: Integers) -> None:
    """Add rint(c z) of every record to `total`, c = weight·loss'·scale kept within limit / ‖z‖.

    c is first multiplied by min(1, (radius / ‖z‖)²) where radius is finite, or by min(1, limit / (scale·‖z‖·the larger
    slope of the two labels)) where it is `BALANCED`: that weighs both labels of a row alike.
    """
    width = theta.shape[0]
    (code, shape), (weighted, shifted), (scale, limit, radius) = loss, columns, clip
    margin, square, factor, larger = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for t in range(count_tiles(block)):
        measure_tile(block, t, theta, margin, square)
        add_offset(block, t, width, weighted, shifted, margin)
        label = outcome_column(block, t, width, 0)
        slopes(code, shape, margin, label, factor)
        if radius == BALANCED:
            larger_slopes(code, shape, margin, label, factor, larger)
            for lane in range(LANES):
                norm = math.sqrt(square[lane]) * larger[lane]
                factor[lane] *= min(1.0, limit / (scale * norm))
        if weighted:
            weight = outcome_column(block, t, width, 1)
            for lane in range(LANES):
                factor[lane] *= np.float64(weight[lane])
        for lane in range(LANES):
            slope = factor[lane] * scale
            if 0.0 < radius < math.inf:
                slope *= min(1.0, radius * radius / square[lane])
            largest = limit / math.sqrt(square[lane])
            # Written so that a slope that is not a number becomes 0.
            slope = slope if slope > -largest else (-largest if slope <= -largest else 0.0)
            factor[lane] = min(slope, largest)
        add_tile(block, t, factor, square, total)


@numba.njit(nogil=True, error_model="numpy")
def measure_records(
    block: Any, t: int, theta: Floats, weighted: bool, shifted: bool, margin: Floats, square: Floats
) -> None:
    """Write margin z·theta (plus offset) and squared norm of every record of tile t."""
    # Passes of records call both themselves: compiling the measure again costs 0.3 s.
    measure_tile(block, t, theta, margin, square)
    add_offset(block, t, theta.shape[0], weighted, shifted, margin)


@numba.njit(nogil=True, error_model="numpy")
def add_offset(block: Any, t: int, width: int, weighted: bool, shifted: bool, margin: Floats) -> None:
    """Add the offsets of tile t to its margins, where there are any."""
    if shifted:
        offset = outcome_column(block, t, width, 1 + weighted)
        for lane in range(LANES):
            margin[lane] += np.float64(offset[lane])


@compiled
def quantise_rows(
    block: Any, theta: Floats, weights: int | None, loss: Any, columns: Any, limits: Any, integers: Floats
) -> None:
    """Write rint(f z), f = √w·min(limit / bound, limit / ‖√w z‖), as float64 (column, record).

    w is the record's own weight, 1 without one. `weights` 1 multiplies z by the root of the loss's
    curvature at z·theta over its upper bound, 0 by nothing. For a score, 2, it is
    f = w·min(limit / bound, limit / ‖z‖)·min(1, bound / ‖z‖) times the loss's slope over its upper
    bound. Without weights, None, it is 0 too, and the losses need not be compiled.
    """
    width = integers.shape[0]
    code, shape, (smoothness, lipschitz) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    margin, square, ratio = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for t in range(count_tiles(block)):
        measure_tile(block, t, theta, margin, square)
        add_offset(block, t, width, weighted, shifted, margin)
        scored = False
        ratio[:] = 1.0
        if weights is not None:
            scored = weights == SCORE
            label = outcome_column(block, t, width, 0)
            if weights == CURVATURE:
                curvatures(code, shape, margin, label, ratio)
                for lane in range(LANES):
                    ratio[lane] = math.sqrt(ratio[lane] / smoothness)
            elif scored:
                slopes(code, shape, margin, label, ratio)
                for lane in range(LANES):
                    ratio[lane] = abs(ratio[lane]) / lipschitz
        own = outcome_column(block, t, width, int(weighted))
        for lane in range(LANES):
            weight = np.float64(own[lane]) if weighted else 1.0
            # Stored weights lie in [0, 1]; any other would outgrow the norm of z, and counts as 0.
            weight = weight if 0.0 <= weight <= 1.0 else 0.0
            if scored:
                norm = max(math.sqrt(square[lane]), bound)
                factor = limit / norm * (bound / norm) * weight
            else:
                root = math.sqrt(weight)
                factor = limit / max(root * math.sqrt(square[lane]), bound) * root
            factor *= min(1.0, ratio[lane])
            # A factor that is not a number, or above the limit's, becomes 0.
            square[lane] = factor if factor <= limit / bound else 0.0
        write_tile(block, t, square, integers)
