"""Clipped gradient sums over persons, as integers. Private: `block`.

A person's gradient is the sum over their records, slot after slot, clipped as a whole: its integers
depend on that person's records and on public numbers only, and their norm is at most the bound.
Proof: proofs/mechanisms/person_gradient.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.losses.dispatch import slopes
from tacit.mechanisms.dense_and_sparse_blocks import TINY, add_tile, outcome_column
from tacit.mechanisms.kernels import BALANCED, measure_records
from tacit.mechanisms.softmax_gradient import class_margins, class_residuals
from tacit.rows.storage.tiles import LANES, Floats, Integers


@compiled
def add_person_gradients(  # noqa: PLR0917 - compiled code takes no keywords
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
    """Add rint(c s) of every person to `total`, s = Σ weight·loss'·z, c = scale within limit / ‖s‖.

    c is first multiplied by (radius / size)², size that of `person_size`, where radius is finite,
    or by min(1, limit / (scale·r)) where it is `BALANCED`, r² = Σ (‖z‖·the larger slope of the two
    labels)²: about the longest s that other labels would give, in rows that are not parallel.
    """
    score = np.empty((1, theta.shape[0], LANES))
    norm_sum, square_sum = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        balanced = radius == BALANCED
        how = code, shape, weighted, shifted, balanced
        sum_scores(block, g, theta, how, score[0], norm_sum, square_sum)
        _add_limited(score, norm_sum, square_sum, scale, limit, radius, total)


@compiled
def add_person_class_gradients(
    block: Any, theta: NDArray[Any], weighted: bool, scale: float, limit: float, total: Integers
) -> None:
    """Add rint(c s) of every person to `total`, s = Σ weight·(p - e_y) z', c as for one predictor.

    `theta` is (class, width), of the tiles' type; `total` has class·width entries in that order.
    """
    classes, width = theta.shape
    score = np.empty((1, classes * width, LANES))
    nothing = np.zeros(LANES)
    margins = np.empty((classes, LANES), dtype=theta.dtype)
    residuals = np.empty((classes, LANES))
    for g in range(block.counts.shape[0]):
        score[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            tile, slot = block.tiles[t], t - block.starts[g]
            class_margins(tile, theta, margins)
            class_residuals(margins, tile[width], residuals)
            for k in range(classes):
                for lane in range(LANES):
                    weight = np.float64(tile[width + 1, lane]) if weighted else 1.0
                    value = residuals[k, lane] * weight
                    there = slot < block.counts[g, lane]
                    residuals[k, lane] = value if there and abs(value) < math.inf else 0.0
                for j in range(width):
                    for lane in range(LANES):
                        z = np.float64(tile[j, lane])
                        score[0, k * width + j, lane] += residuals[k, lane] * z
        _add_limited(score, nothing, nothing, scale, limit, math.inf, total)


@numba.njit(nogil=True, error_model="numpy")
def sum_scores(
    block: Any,
    g: int,
    theta: Floats,
    how: tuple[int, Floats | None, bool, bool, bool],
    score: Floats,
    norm_sum: Floats,
    square_sum: Floats,
) -> None:
    """Write Σ weight·loss'·z (column, lane), Σ‖z‖ and Σ‖z‖² over the records of group g's persons.

    `how` are the loss's code and shape, whether there are weights and offsets, and
    whether ‖z‖ is to be multiplied by the larger slope of the two labels. A slope that is not
    finite counts as 0. What stands in empty slots enters no sum.
    """
    width = theta.shape[0]
    code, shape, weighted, shifted, balanced = how
    margin, square, slope = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    score[:] = 0.0
    norm_sum[:], square_sum[:] = 0.0, 0.0
    for t in range(block.starts[g], block.starts[g + 1]):
        measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
        label = outcome_column(block.tiles, t, width, 0)
        slopes(code, shape, margin, label, slope)
        own = outcome_column(block.tiles, t, width, int(weighted))
        for lane in range(LANES):
            there = t - block.starts[g] < block.counts[g, lane]
            if balanced:
                share = slope[lane] + np.float64(label[lane])
                larger = max(share, 1.0 - share)
                square[lane] *= larger * larger
            norm_sum[lane] += math.sqrt(square[lane]) if there else 0.0
            square_sum[lane] += square[lane] if there else 0.0
            value = slope[lane] * (np.float64(own[lane]) if weighted else 1.0)
            slope[lane] = value if there and abs(value) < math.inf else 0.0
        for j in range(width):
            for lane in range(LANES):
                score[j, lane] += slope[lane] * np.float64(block.tiles[t, j, lane])


@numba.njit(nogil=True, error_model="numpy")
def square_scores(score: Floats, square: Floats) -> None:
    """Write 2^-600 + ‖s‖² of every person, columns in order."""
    for lane in range(LANES):
        square[lane] = TINY
    for j in range(score.shape[0]):
        for lane in range(LANES):
            square[lane] += score[j, lane] * score[j, lane]


@numba.njit(nogil=True, error_model="numpy")
def person_size(radius: float, norm_sum: float, square_sum: float) -> float:
    """Return the larger of radius, √Σ‖z‖² and √(radius·Σ‖z‖), at which a person's weight falls.

    The weight w = (radius / size)² is 1 where no bound is reached. With it w Σ‖z‖² ≤ radius² and
    w Σ‖z‖ ≤ radius. For a single record it is min(1, (radius / ‖z‖)²).
    """
    return max(radius, math.sqrt(square_sum), math.sqrt(radius * norm_sum))


@numba.njit(nogil=True, error_model="numpy")
def _add_limited(
    score: Floats,
    norm_sum: Floats,
    square_sum: Floats,
    scale: float,
    limit: float,
    radius: float,
    total: Integers,
) -> None:
    """Add the integers of a group whose scores stand in the one tile `score`."""
    square, factor = np.empty(LANES), np.empty(LANES)
    square_scores(score[0], square)
    for lane in range(LANES):
        wanted = scale
        if radius == BALANCED:
            wanted *= min(1.0, limit / (scale * math.sqrt(square_sum[lane])))
        elif radius < math.inf:
            ratio = radius / person_size(radius, norm_sum[lane], square_sum[lane])
            wanted *= ratio * ratio
        largest = limit / math.sqrt(square[lane])
        # Written so that a factor that is not a number becomes 0.
        factor[lane] = wanted if wanted <= largest else (largest if wanted > largest else 0.0)
    add_tile(score, 0, factor, square, total)
