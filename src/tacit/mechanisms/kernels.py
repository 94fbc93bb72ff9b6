"""Compiled passes over blocks of records. Private: `tiles`.

A block is an array (tile, column, lane): 64 records side by side, their features column by column,
the response last. Every per-record sum runs over the columns in order, so a record's integers
depend on that record and on public numbers only, and the compiler vectorises over records, not
over a sum: no reassociation is needed or allowed. Proof: proofs/mechanisms/kernels.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses import logistic
from tacit.losses.bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.rows.tiles import LANES

PLAIN, CURVATURE, SCORE = 0, 1, 2
"""Weights of second moments, as the compiler takes them."""
TINY = 2.0**-600
"""Added to squared norms, so that records below it cannot outgrow their limit."""


def enforceable(bound: int, width: int) -> float:
    """Largest float norm before rounding for which the integer norm is at most `bound`.

    Rounding `width` coordinates adds at most √width / 2, and all float errors of the norm, the
    quotient and the product stay below (width + 16)·2^-52 relative.
    """
    room = bound - math.sqrt(width) / 2 * (1 + 2.0**-50)
    return max(0.0, room * (1 - (width + 16) * 2.0**-52))


@numba.njit(nogil=True, cache=True, error_model="numpy")
def add_gradients(
    tiles: NDArray[Any],
    theta: NDArray[np.float64],
    scale: float,
    limit: float,
    downweighted: bool,
    total: NDArray[np.int64],
) -> None:
    """Add rint(c z) of every record to `total`, c = loss'·scale kept within limit / ‖z‖.

    With `downweighted`, c is first multiplied by min(1, (limit / scale)² / ‖z‖²).
    """
    width = theta.shape[0]
    clip = limit / scale
    margin = np.empty(LANES)
    square = np.empty(LANES)
    factor = np.empty(LANES)
    for t in range(tiles.shape[0]):
        finite = True
        for lane in range(LANES):
            margin[lane] = 0.0
            square[lane] = TINY
        for j in range(width):
            weight = theta[j]
            for lane in range(LANES):
                z = np.float64(tiles[t, j, lane])
                margin[lane] += z * weight
                square[lane] += z * z
        for lane in range(LANES):
            slope = logistic.derivative(margin[lane], np.float64(tiles[t, width, lane])) * scale
            if downweighted:
                slope *= min(1.0, clip * clip / square[lane])
            largest = limit / math.sqrt(square[lane])
            # Written so that a slope that is not a number becomes 0.
            slope = slope if slope > -largest else (-largest if slope <= -largest else 0.0)
            factor[lane] = min(slope, largest)
            finite &= square[lane] < math.inf
        if not finite:
            _add_finite_rows(tiles[t], factor, square, total)
            continue
        for j in range(width):
            integers = np.int64(0)
            for lane in range(LANES):
                integers += float_to_bits(factor[lane] * np.float64(tiles[t, j, lane]) + MAGIC)
            total[j] += integers - LANES * MAGIC_BITS


@numba.njit(nogil=True, error_model="numpy")
def _add_finite_rows(
    tile: NDArray[Any],
    factor: NDArray[np.float64],
    square: NDArray[np.float64],
    total: NDArray[np.int64],
) -> None:
    """Add the rows of finite squared norm; no store holds others, and here they add nothing."""
    for lane in range(LANES):
        if square[lane] < math.inf:
            for j in range(total.shape[0]):
                shifted = factor[lane] * np.float64(tile[j, lane]) + MAGIC
                total[j] += float_to_bits(shifted) - MAGIC_BITS


@numba.njit(nogil=True, cache=True, error_model="numpy")
def quantise_rows(
    tiles: NDArray[Any],
    theta: NDArray[np.float64],
    weights: int,
    bound: float,
    limit: float,
    integers: NDArray[np.float64],
) -> None:
    """Write rint(f z), f = min(limit / bound, limit / ‖z‖), as float64 into (column, record).

    `weights` 1 multiplies z by the root of the loss's curvature at z·theta over its upper bound,
    2 by the loss's slope over its upper bound and min(1, bound / ‖z‖), 0 by nothing.
    """
    width = integers.shape[0]
    margin = np.empty(LANES)
    square = np.empty(LANES)
    for t in range(tiles.shape[0]):
        for lane in range(LANES):
            margin[lane] = 0.0
            square[lane] = TINY
        for j in range(width):
            weight = theta[j] if weights > 0 else 0.0
            for lane in range(LANES):
                z = np.float64(tiles[t, j, lane])
                margin[lane] += z * weight
                square[lane] += z * z
        for lane in range(LANES):
            norm = max(math.sqrt(square[lane]), bound)
            factor = limit / norm
            if weights == CURVATURE:
                share = logistic.curvature(margin[lane]) / logistic.SMOOTHNESS
                factor *= min(1.0, math.sqrt(share))
            elif weights == SCORE:
                slope = logistic.derivative(margin[lane], np.float64(tiles[t, width, lane]))
                factor *= min(1.0, abs(slope) / logistic.LIPSCHITZ) * (bound / norm)
            # A factor that is not a number, or above the limit's, becomes 0.
            square[lane] = factor if factor <= limit / bound else 0.0
        for j in range(width):
            for lane in range(LANES):
                v = square[lane] * np.float64(tiles[t, j, lane])
                # The product with an entry that is not finite is not a number, and counts as 0.
                integers[j, t * LANES + lane] = 0.0 if math.isnan(v) else (v + MAGIC) - MAGIC
