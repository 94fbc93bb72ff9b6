"""Compiled passes over persons: clipped gradients and second moments. Private: `block`.

Every person counts once: each of their k records has the share 1 / k. A person's gradient is so the mean over their
records, slot after slot, clipped as a whole. For second moments all records of a person are shrunk by one factor, so
that Σ‖v‖² over their integer vectors keeps the bound; a person's score is one vector, that of their mean slopes. The
integers depend on that person's records and on public numbers only. Proof: proofs/mechanisms/person_kernels.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.contract.sensitivity import FINEST_BOUND
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import curvatures, larger_slopes, slopes
from tacit.mechanisms import kernels
from tacit.mechanisms.softmax_gradient import class_margins, class_residuals
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.tiles import LANES, Floats, Integers, readonly

TILES_AT_ONCE = 32
"""Tiles in one product: its entries stay below 2^53, where float64 sums of integers are exact."""
if TILES_AT_ONCE * LANES * FINEST_BOUND > 2**53:
    raise AssertionError("Second moments would not be summed exactly.")


@compiled
def add_person_gradients(block: Any, theta: Floats, loss: Any, columns: Any, clip: Any, total: Integers) -> None:
    """Add rint(c s) of every person to `total`, s the mean of weight·loss'·z, c = scale within limit / ‖s‖.

    c is first multiplied by (radius / size)², size² the mean of ‖z‖² and at least radius², where radius is finite,
    or by min(1, limit / (scale·r)) where it is `BALANCED`, r² the mean of (‖z‖·the larger slope of the two
    labels)²: no other labels give a longer s.
    """
    score = np.empty((1, theta.shape[0], LANES))
    mean_square = np.empty(LANES)
    balanced = clip[2] == kernels.BALANCED
    for g in range(block.counts.shape[0]):
        mean_scores(block, g, theta, loss, columns, balanced, score[0], mean_square)
        _add_limited(score, mean_square, clip, total)


@compiled
def add_person_class_gradients(block: Any, theta: NDArray[Any], weighted: bool, clip: Any, total: Integers) -> None:
    """Add rint(c s) of every person to `total`, s the mean of weight·(p - e_y) z', c as for one predictor.

    `theta` is (class, width), of the tiles' type; `total` has class·width entries in that order.
    """
    classes, width = theta.shape
    score = np.empty((1, classes * width, LANES))
    square, mean_square = np.empty(LANES), np.empty(LANES)
    margins = np.empty((classes, LANES), dtype=theta.dtype)
    residuals = np.empty((classes, LANES))
    for g in range(block.counts.shape[0]):
        score[:], mean_square[:] = 0.0, 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            tile, slot = block.tiles[t], t - block.starts[g]
            class_margins(tile, theta, margins)
            class_residuals(margins, tile[width], residuals)
            square_scores(tile[:width], square)
            for lane in range(LANES):
                share = share_of(block.counts[g, lane], slot)
                mean_square[lane] += square[lane] * share if share > 0.0 else 0.0
            for k in range(classes):
                for lane in range(LANES):
                    weight = np.float64(tile[width + 1, lane]) if weighted else 1.0
                    share = share_of(block.counts[g, lane], slot)
                    value = residuals[k, lane] * weight * share
                    residuals[k, lane] = value if share > 0.0 and abs(value) < math.inf else 0.0
                for j in range(width):
                    for lane in range(LANES):
                        z = np.float64(tile[j, lane])
                        score[0, k * width + j, lane] += residuals[k, lane] * z
        _add_limited(score, mean_square, clip, total)


@numba.njit(nogil=True, error_model="numpy")
def share_of(records: int, slot: int) -> float:
    """Return 1 / k for each of a person's k records, and 0 for a slot without one."""
    return 1.0 / records if slot < records else 0.0


@numba.njit(nogil=True, error_model="numpy")
def mean_scores(
    block: Any, g: int, theta: Floats, loss: Any, columns: Any, balanced: bool, score: Floats, mean_square: Floats
) -> None:
    """Write the means of weight·loss'·z (column, lane) and of ‖z‖² over the records of group g's persons.

    ‖z‖ is multiplied by the larger slope of the two labels if `balanced`. A slope that is not
    finite counts as 0. What stands in empty slots enters no mean.
    """
    width = theta.shape[0]
    (code, shape), (weighted, shifted) = loss, columns
    margin, square, slope, larger = np.empty(LANES), np.empty(LANES), np.empty(LANES), np.ones(LANES)
    score[:], mean_square[:] = 0.0, 0.0
    for t in range(block.starts[g], block.starts[g + 1]):
        kernels.measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
        label = kernels.outcome_column(block.tiles, t, width, 0)
        slopes(code, shape, margin, label, slope)
        own = kernels.outcome_column(block.tiles, t, width, int(weighted))
        if balanced:
            larger_slopes(code, shape, margin, label, slope, larger)
        for lane in range(LANES):
            share = share_of(block.counts[g, lane], t - block.starts[g])
            if balanced:
                square[lane] *= larger[lane] * larger[lane]
            mean_square[lane] += square[lane] * share if share > 0.0 else 0.0
            value = slope[lane] * (np.float64(own[lane]) if weighted else 1.0) * share
            slope[lane] = value if share > 0.0 and abs(value) < math.inf else 0.0
        for j in range(width):
            for lane in range(LANES):
                score[j, lane] += slope[lane] * np.float64(block.tiles[t, j, lane])


@numba.njit(nogil=True, error_model="numpy")
def square_scores(score: Floats, square: Floats) -> None:
    """Write 2^-600 + ‖s‖² of every person, columns in order."""
    for lane in range(LANES):
        square[lane] = kernels.TINY
    for j in range(score.shape[0]):
        for lane in range(LANES):
            square[lane] += np.float64(score[j, lane]) * np.float64(score[j, lane])


@numba.njit(nogil=True, error_model="numpy")
def person_size(radius: float, mean_square: float) -> float:
    """Return the larger of radius and the root of the mean of ‖z‖², at which a person's weight falls.

    The weight w = (radius / size)² is 1 where that is not passed. The means of ‖z‖² and ‖z‖, times w, are then
    at most radius² and radius. For a single record it is min(1, (radius / ‖z‖)²).
    """
    return max(radius, math.sqrt(mean_square))


@numba.njit(nogil=True, error_model="numpy")
def _add_limited(score: Floats, mean_square: Floats, clip: Any, total: Integers) -> None:
    """Add the integers of a group whose scores stand in the one tile `score`."""
    scale, limit, radius = clip
    square, factor = np.empty(LANES), np.empty(LANES)
    square_scores(score[0], square)
    for lane in range(LANES):
        wanted = scale
        if radius == kernels.BALANCED:
            wanted *= min(1.0, limit / (scale * math.sqrt(mean_square[lane])))
        elif radius < math.inf:
            ratio = radius / person_size(radius, mean_square[lane])
            wanted *= ratio * ratio
        largest = limit / math.sqrt(square[lane])
        # Written so that a factor that is not a number becomes 0.
        factor[lane] = wanted if wanted <= largest else (largest if wanted > largest else 0.0)
    kernels.add_tile(score, 0, factor, square, total)


@compiled
def person_row_factors(
    block: Any, theta: Floats, weights: int, loss: Any, columns: Any, limits: Any, factors: Floats
) -> None:
    """Write the factor f of every record (tile, lane), so that Σ‖f z‖² ≤ limit² over a person.

    f = √(weight·h / k)·limit / size for each of k records, with h = 1 and size² = max(bound², the mean of weight·‖z‖²),
    or h the loss's curvature over its upper bound and size that of `person_size` (`weights` 1).
    """
    width = theta.shape[0]
    curved = weights == kernels.CURVATURE
    code, shape, (smoothness, _) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    margin, square, curvature = np.empty(LANES), np.empty(LANES), np.ones(LANES)
    mean_square = np.empty(LANES)
    for g in range(block.counts.shape[0]):
        mean_square[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            kernels.measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            if curved:
                curvatures(code, shape, margin, kernels.outcome_column(block.tiles, t, width, 0), curvature)
            for lane in range(LANES):
                share = share_of(block.counts[g, lane], t - block.starts[g])
                weight = np.float64(own[lane]) if weighted else 1.0
                # Stored weights lie in [0, 1]; a negative one would make room for other records.
                weight = weight if 0.0 <= weight <= 1.0 else 0.0
                h = curvature[lane] / smoothness * weight if curved else weight
                size = square[lane] if curved else square[lane] * weight
                factors[t, lane] = math.sqrt(min(h, 1.0) * share) if share > 0.0 else 0.0
                mean_square[lane] += size * share if share > 0.0 else 0.0
        for lane in range(LANES):
            size = person_size(bound, mean_square[lane])
            # No store holds records without a finite norm; here they add nothing.
            mean_square[lane] = limit / size if mean_square[lane] < math.inf else 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            for lane in range(LANES):
                factor = factors[t, lane] * mean_square[lane]
                # A factor that is not a number, or above the limit's, becomes 0.
                factors[t, lane] = factor if factor <= limit / bound else 0.0


@compiled
def person_pair_factors(block: Any, theta: Floats, loss: Any, columns: Any, limits: Any, out: Any) -> None:
    """Write factors of records (tile, lane), scores (group, column, lane) and factors of persons.

    With w = (bound / size)² as in `person_size`, h the curvature and s the slope over their bounds (times the record's
    weight and its share 1 / k), the person's pair is T = w Σ h‖z‖² / bound² and a = w‖Σ s z‖ / bound; both are shrunk
    where T² + a⁴ exceeds `joint`. With a `root` above 0 a person whose a is above 1 has a = 1 and T = 0, and a is
    multiplied by the root.
    """
    width = theta.shape[0]
    code, shape, (smoothness, lipschitz, joint, root) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    rows, scores, persons = out
    margin, square, curvature = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    mean_square, trace = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        mean_scores(block, g, theta, (code, shape), columns, False, scores[g], mean_square)
        trace[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            kernels.measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            curvatures(code, shape, margin, kernels.outcome_column(block.tiles, t, width, 0), curvature)
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                share = share_of(block.counts[g, lane], t - block.starts[g])
                h = curvature[lane] / smoothness * (np.float64(own[lane]) if weighted else 1.0) * share
                rows[t, lane] = h if share > 0.0 and h > 0.0 else 0.0
                trace[lane] += rows[t, lane] * square[lane]
        square_scores(scores[g], square)
        for lane in range(LANES):
            size = person_size(bound, mean_square[lane])
            curved = trace[lane] / size / size
            steep = bound / size * math.sqrt(square[lane]) / lipschitz / size
            shorter, flatter = 1.0, 1.0
            if root > 0.0:
                shorter = root
                if steep > 1.0:
                    shorter, flatter, curved = root / steep, 0.0, 0.0
                steep *= shorter
            # What keeps curved²·k⁴ + steep⁴·k⁴ within the joint bound; 0 if that is no number.
            excess = (curved * curved + steep * steep * steep * steep) / joint
            shrink = 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))
            shrink = shrink if excess < math.inf else 0.0
            persons[g, lane] = limit / size * (bound / size) * shrink / lipschitz * shorter
            trace[lane] = limit / size * shrink * flatter
        for t in range(block.starts[g], block.starts[g + 1]):
            for lane in range(LANES):
                rows[t, lane] = math.sqrt(rows[t, lane]) * trace[lane]


@compiled
def person_score_factors(block: Any, theta: Floats, loss: Any, columns: Any, limits: Any, out: Any) -> None:
    """Write scores s (group, column, lane) and factors f (group, lane) with ‖f s‖ ≤ limit.

    f = limit / bound·w / lipschitz, w = (bound / size)² as in `person_size`, shrunk where f s is too long.
    """
    code, shape, (_, lipschitz) = loss
    bound, limit = limits
    scores, factors = out
    mean_square, square = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        mean_scores(block, g, theta, (code, shape), columns, False, scores[g], mean_square)
        square_scores(scores[g], square)
        for lane in range(LANES):
            size = person_size(bound, mean_square[lane])
            wanted = limit / size * (bound / size) / lipschitz
            largest = limit / math.sqrt(square[lane])
            # Written so that a factor that is not a number becomes 0.
            factor = wanted if wanted <= largest else (largest if wanted > largest else 0.0)
            factors[g, lane] = factor


@compiled
def write_products(tiles: NDArray[Any], factors: Floats, integers: Floats) -> None:
    """Write rint(f z) as float64 into (column, record), tile by tile."""
    for t in range(tiles.shape[0]):
        kernels.write_tile(tiles, t, factors[t], integers)


def add_person_moments(
    part: PersonBlock, theta: Floats, weights: int, how: tuple[Any, Any, Any], total: Integers
) -> None:
    """Add Σ v v' over the integer vectors of some persons, Σ‖v‖² ≤ limit² before rounding.

    `weights` and `how` (loss, columns, limits) are those of `quantise_rows`.
    """
    if weights == kernels.SCORE:
        scores, factors = _score_arrays(part, len(theta))
        person_score_factors(part, theta, *how, (scores, factors))
        total += _products(scores, factors, len(theta))
    else:
        factors = np.empty((len(part.tiles), LANES))
        person_row_factors(part, theta, weights, *how, factors)
        total += _products(part.tiles, factors, len(theta))


def add_person_pairs(part: PersonBlock, theta: Floats, how: tuple[Any, Any, Any], total: Integers) -> None:
    """Add (Σ v v', w w') over some persons."""
    scores, persons = _score_arrays(part, len(theta))
    rows = np.empty((len(part.tiles), LANES))
    person_pair_factors(part, theta, *how, (rows, scores, persons))
    total[0] += _products(part.tiles, rows, len(theta))
    total[1] += _products(scores, persons, len(theta))


def _score_arrays(part: PersonBlock, width: int) -> tuple[Floats, Floats]:
    groups = len(part.counts)
    return np.empty((groups, width, LANES)), np.empty((groups, LANES))


def _products(tiles: NDArray[Any], factors: Floats, width: int) -> Integers:
    """Sum of v v' over v = rint(f z), z the first `width` columns of (tile, column, lane)."""
    view = readonly(tiles)
    total = np.zeros((width, width), dtype=np.int64)
    for first in range(0, len(tiles), TILES_AT_ONCE):
        part = slice(first, first + TILES_AT_ONCE)
        integers = np.empty((width, len(view[part]) * LANES))
        write_products(view[part], factors[part], integers)
        total += (integers @ integers.T).astype(np.int64)
    return total
