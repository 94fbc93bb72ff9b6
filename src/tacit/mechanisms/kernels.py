"""Compiled passes over blocks of records. Private: `tiles`.

A block is an array (tile, column, lane): 64 records side by side, their features column by column,
then the response, and a weight and an offset where declared. Every per-record sum runs over the columns in order, so a record's integers
depend on that record and on public numbers only, and the compiler vectorises over records, not
over a sum: no reassociation is needed or allowed. Proof: proofs/mechanisms/kernels.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.losses.switch import curvatures, slopes
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
def add_gradients(  # noqa: PLR0917 - compiled code takes no keywords
    tiles: NDArray[Any],
    theta: NDArray[np.float64],
    code: int,
    shape: tuple[float, float],
    weighted: bool,
    shifted: bool,
    scale: float,
    limit: float,
    downweighted: bool,
    total: NDArray[np.int64],
) -> None:
    """Add rint(c z) of every record to `total`, c = weight·loss'·scale kept within limit / ‖z‖.

    With `downweighted`, c is first multiplied by min(1, (limit / scale)² / ‖z‖²). A weight, if
    there is one, stands behind the response, and an offset of the margin behind that.
    """
    width = theta.shape[0]
    clip = limit / scale
    margin = np.empty(LANES)
    square = np.empty(LANES)
    factor = np.empty(LANES)
    for t in range(tiles.shape[0]):
        finite = True
        add_margins(tiles[t], theta, shifted, weighted, margin, square)
        slopes(code, shape[0], shape[1], margin, tiles[t, width], factor)
        if weighted:
            for lane in range(LANES):
                factor[lane] *= np.float64(tiles[t, width + 1, lane])
        for lane in range(LANES):
            slope = factor[lane] * scale
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
def add_margins(
    tile: NDArray[Any],
    theta: NDArray[np.float64],
    shifted: bool,
    weighted: bool,
    margin: NDArray[np.float64],
    square: NDArray[np.float64],
) -> None:
    """Write margin z·theta (plus offset) and squared norm of every record of a tile."""
    width = theta.shape[0]
    for lane in range(LANES):
        margin[lane] = 0.0
        square[lane] = TINY
    for j in range(width):
        weight = theta[j]
        for lane in range(LANES):
            z = np.float64(tile[j, lane])
            margin[lane] += z * weight
            square[lane] += z * z
    if shifted:
        for lane in range(LANES):
            margin[lane] += np.float64(tile[width + 1 + weighted, lane])


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
def quantise_rows(  # noqa: PLR0917 - compiled code takes no keywords
    tiles: NDArray[Any],
    theta: NDArray[np.float64],
    weights: int,
    code: int,
    constants: tuple[float, float, float, float],
    weighted: bool,
    shifted: bool,
    bound: float,
    limit: float,
    integers: NDArray[np.float64],
) -> None:
    """Write rint(f z), f = min(limit / bound, limit / ‖z‖), as float64 into (column, record).

    `weights` 1 multiplies z by the root of the loss's curvature at z·theta over its upper bound,
    2 by the loss's slope over its upper bound and min(1, bound / ‖z‖), 0 by nothing. A record's
    own weight w multiplies z by √w, for a score by w. `constants` are the loss's shape, smoothness
    and Lipschitz bound.
    """
    width = integers.shape[0]
    a, b, smoothness, lipschitz = constants
    margin = np.empty(LANES)
    square = np.empty(LANES)
    bend = np.empty(LANES)
    for t in range(tiles.shape[0]):
        add_margins(tiles[t], theta, shifted, weighted, margin, square)
        if weights == CURVATURE:
            curvatures(code, a, b, margin, tiles[t, width], bend)
            for lane in range(LANES):
                bend[lane] = math.sqrt(bend[lane] / smoothness)
        elif weights == SCORE:
            slopes(code, a, b, margin, tiles[t, width], bend)
            for lane in range(LANES):
                bend[lane] = abs(bend[lane]) / lipschitz
        else:
            for lane in range(LANES):
                bend[lane] = 1.0
        for lane in range(LANES):
            norm = max(math.sqrt(square[lane]), bound)
            factor = limit / norm * min(1.0, bend[lane])
            if weights == SCORE:
                factor *= bound / norm
            if weighted:
                own = np.float64(tiles[t, width + 1, lane])
                factor *= own if weights == SCORE else math.sqrt(own)
            # A factor that is not a number, or above the limit's, becomes 0.
            square[lane] = factor if factor <= limit / bound else 0.0
        for j in range(width):
            for lane in range(LANES):
                v = square[lane] * np.float64(tiles[t, j, lane])
                # The product with an entry that is not finite is not a number, and counts as 0.
                integers[j, t * LANES + lane] = 0.0 if math.isnan(v) else (v + MAGIC) - MAGIC
