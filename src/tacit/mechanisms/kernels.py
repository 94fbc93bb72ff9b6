"""Compiled passes over blocks of records: clipped gradients and quantised rows. Private: `block`.

A record's integers depend on that record and on public numbers only, in dense and sparse blocks.
Proof: proofs/mechanisms/kernels.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from tacit.compiling import compiled
from tacit.losses.dispatch import curvatures, slopes
from tacit.mechanisms.dense_and_sparse_blocks import (
    add_tile,
    count_tiles,
    measure_tile,
    outcome_column,
    write_tile,
)
from tacit.rows.storage.tiles import LANES, Floats, Integers

PLAIN, CURVATURE, SCORE = 0, 1, 2
"""Weights of second moments, as the compiler takes them."""
Columns = tuple[bool, bool]
"""Whether records have weights, and whether they have offsets."""
Limits = tuple[float, float]
"""Bound on the norm of a row, and what the norm of its integers is before rounding."""
BALANCED = -1.0
"""Stands for a radius where rows are weighed by the larger slope of two labels."""


def enforceable(bound: int, width: int) -> float:
    """Largest float norm before rounding for which the integer norm is at most `bound`.

    Rounding `width` coordinates adds at most √width / 2, and all float errors of the norm, the
    quotient and the product stay below (width + 16)·2^-52 relative.
    """
    available = bound - math.sqrt(width) / 2 * (1 + 2.0**-50)
    return max(0.0, available * (1 - (width + 16) * 2.0**-52))


@compiled
def add_gradients(  # noqa: PLR0917 - compiled code takes no keywords
    block: Any,
    theta: Floats,
    code: int,
    shape: Floats | None,
    weighted: bool,
    shifted: bool,
    scale: float,
    limit: float,
    radius: float,
    total: Integers,
) -> None:
    """Add rint(c z) of every record to `total`, c = weight·loss'·scale kept within limit / ‖z‖.

    c is first multiplied by min(1, (radius / ‖z‖)²) where radius is finite, or by min(1, limit /
    (scale·‖z‖·the larger slope of the two labels)) where it is `BALANCED`: that weighs both labels
    of a row alike.
    """
    width = theta.shape[0]
    margin, square, factor = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for t in range(count_tiles(block)):
        measure_tile(block, t, theta, margin, square)
        add_offset(block, t, width, weighted, shifted, margin)
        label = outcome_column(block, t, width, 0)
        slopes(code, shape, margin, label, factor)
        if radius == BALANCED:
            for lane in range(LANES):
                share = factor[lane] + np.float64(label[lane])
                norm = math.sqrt(square[lane]) * max(share, 1.0 - share)
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
def add_offset(
    block: Any, t: int, width: int, weighted: bool, shifted: bool, margin: Floats
) -> None:
    """Add the offsets of tile t to its margins, where there are any."""
    if shifted:
        offset = outcome_column(block, t, width, 1 + weighted)
        for lane in range(LANES):
            margin[lane] += np.float64(offset[lane])


@compiled
def quantise_rows(  # noqa: PLR0917 - compiled code takes no keywords
    block: Any,
    theta: Floats,
    weights: int | None,
    code: int,
    shape: Floats | None,
    bounds: tuple[float, float],
    weighted: bool,
    shifted: bool,
    bound: float,
    limit: float,
    integers: Floats,
) -> None:
    """Write rint(f z), f = √w·min(limit / bound, limit / ‖√w z‖), as float64 (column, record).

    w is the record's own weight, 1 without one. `weights` 1 multiplies z by the root of the loss's
    curvature at z·theta over its upper bound, 0 by nothing. For a score, 2, it is
    f = w·min(limit / bound, limit / ‖z‖)·min(1, bound / ‖z‖) times the loss's slope over its upper
    bound. `bounds` are those on the loss's curvature and slope. Without weights, None, it is 0 too,
    and the losses need not be compiled.
    """
    width = integers.shape[0]
    smoothness, lipschitz = bounds
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
