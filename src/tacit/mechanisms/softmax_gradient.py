"""Clipped gradient sums of one joint softmax model, as integers. Private: `tiles`.

A record's gradient is z (p - e_y)', a matrix (width, class) of norm ‖z‖·‖p - e_y‖ ≤ √2‖z‖, clipped
as a whole: one model and one charge, not one a class. Proof: proofs/mechanisms/softmax_gradient.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.kernel_compilation import compiled
from tacit.losses.float_bits import MAGIC, MAGIC_BITS, exp_negative, float_to_bits
from tacit.mechanisms.kernels import TINY
from tacit.rows.storage.tiles import LANES, Floats, Integers, combine


@compiled
def add_class_gradients(
    tiles: NDArray[Any], theta: NDArray[Any], weighted: bool, clip: tuple[float, float, float], total: Integers
) -> None:
    """Add rint(c_k z_j) of every record to `total`, c = weight·(p - e_y)·scale, ‖c‖‖z‖ ≤ limit.

    c is first multiplied by min(1, (radius / ‖z‖)²); the three numbers are `clip`.
    `theta` and `total` are (class, width); theta and so the margins are of the tiles' type.
    """
    classes, width = theta.shape
    margins = np.empty((classes, LANES), dtype=theta.dtype)
    factors = np.empty((classes, LANES))
    square = np.empty(LANES)
    features = np.empty((width, LANES))
    for t in range(tiles.shape[0]):
        _read(tiles[t], features, square)
        class_margins(tiles[t], theta, margins)
        class_residuals(margins, tiles[t, width], factors)
        if weighted:
            for k in range(classes):
                for lane in range(LANES):
                    factors[k, lane] *= np.float64(tiles[t, width + 1, lane])
        _limit(factors, square, clip)
        _add(factors, features, total)


@numba.njit(nogil=True, error_model="numpy")
def _read(tile: NDArray[Any], features: Floats, square: Floats) -> None:
    for lane in range(LANES):
        square[lane] = TINY
    for j in range(features.shape[0]):
        for lane in range(LANES):
            z = np.float64(tile[j, lane])
            features[j, lane] = z
            square[lane] += z * z
    for lane in range(LANES):
        if not square[lane] < math.inf:
            # No store holds such a record; here it adds nothing.
            for j in range(features.shape[0]):
                features[j, lane] = 0.0


@numba.njit(nogil=True, error_model="numpy")
def _add(factors: Floats, features: Floats, total: Integers) -> None:
    """Add a tile's integers, four columns at a time for speed; integer sums know no order."""
    classes, width = total.shape
    fours = width - width % 4
    for j in range(0, fours, 4):
        for k in range(classes):
            one, two, three, four = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for lane in range(LANES):
                factor = factors[k, lane]
                one += float_to_bits(factor * features[j, lane] + MAGIC)
                two += float_to_bits(factor * features[j + 1, lane] + MAGIC)
                three += float_to_bits(factor * features[j + 2, lane] + MAGIC)
                four += float_to_bits(factor * features[j + 3, lane] + MAGIC)
            total[k, j] += one - LANES * MAGIC_BITS
            total[k, j + 1] += two - LANES * MAGIC_BITS
            total[k, j + 2] += three - LANES * MAGIC_BITS
            total[k, j + 3] += four - LANES * MAGIC_BITS
    for j in range(fours, width):
        for k in range(classes):
            one = np.int64(0)
            for lane in range(LANES):
                one += float_to_bits(factors[k, lane] * features[j, lane] + MAGIC)
            total[k, j] += one - LANES * MAGIC_BITS


@numba.njit(nogil=True, error_model="numpy")
def class_margins(features: NDArray[Any], theta: NDArray[Any], margins: NDArray[Any]) -> None:
    """Write the margins of a tile, each sum over the columns in order."""
    pair, firsts = np.empty((2, LANES), dtype=theta.dtype), np.zeros(len(theta), dtype=np.int64)
    combine(features, theta.T, firsts, pair, margins)


@numba.njit(nogil=True, error_model="numpy")
def class_residuals(margins: NDArray[Any], label: NDArray[Any], out: Floats) -> None:
    """Write p - e_y."""
    classes = margins.shape[0]
    largest = np.full(LANES, -math.inf)
    total = np.zeros(LANES)
    for k in range(classes):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], np.float64(margins[k, lane]))
    for k in range(classes):
        for lane in range(LANES):
            out[k, lane] = exp_negative(np.float64(margins[k, lane]) - largest[lane])
            total[lane] += out[k, lane]
    for lane in range(LANES):
        total[lane] = 1.0 / total[lane]
    for k in range(classes):
        own = np.float64(k)
        for lane in range(LANES):
            hit = 1.0 if np.float64(label[lane]) == own else 0.0
            out[k, lane] = out[k, lane] * total[lane] - hit


@numba.njit(nogil=True, error_model="numpy")
def _limit(factors: Floats, square: Floats, clip: tuple[float, float, float]) -> None:
    """Scale residuals, and shrink those of a record whose gradient would exceed the limit."""
    classes = factors.shape[0]
    scale, limit, radius = clip
    norm = np.full(LANES, TINY)
    for k in range(classes):
        for lane in range(LANES):
            norm[lane] += factors[k, lane] * factors[k, lane]
    for lane in range(LANES):
        largest = limit / (math.sqrt(norm[lane]) * math.sqrt(square[lane]))
        # Written so that a factor is 0 where norm or limit is not a number.
        wanted = scale * min(1.0, radius * radius / square[lane]) if radius < math.inf else scale
        norm[lane] = wanted if wanted <= largest else (largest if wanted > largest else 0.0)
    for k in range(classes):
        for lane in range(LANES):
            value = factors[k, lane] * norm[lane]
            factors[k, lane] = 0.0 if math.isnan(value) else value
