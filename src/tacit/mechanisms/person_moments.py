"""Second moments over persons, and their pair of curvature and score. Private: `block`.

All records of a person are shrunk by one factor, so that Σ‖v‖² over their integer vectors keeps the
bound; a person's score is one vector, that of their summed slopes. Proof:
proofs/mechanisms/person_moments.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.contract.sensitivity import FINEST_BOUND
from tacit.losses.dispatch import curvatures
from tacit.mechanisms.dense_and_sparse_blocks import outcome_column, write_tile
from tacit.mechanisms.kernels import CURVATURE, SCORE, Columns, Limits, measure_records
from tacit.mechanisms.person_gradient import person_size, square_scores, sum_scores
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.tiles import LANES, Floats, Integers, map_tiles, readonly

TILES_AT_ONCE = 32
"""Tiles in one product: its entries stay below 2^53, where float64 sums of integers are exact."""
if TILES_AT_ONCE * LANES * FINEST_BOUND > 2**53:
    raise AssertionError("Second moments would not be summed exactly.")


PairLoss = tuple[int, Floats | None, tuple[float, float, float]]
"""A loss's code and shape, and its smoothness, Lipschitz and joint bounds."""
BoundedLoss = tuple[int, Floats | None, tuple[float, float]]
"""The same without the joint bound."""


@compiled
def person_row_factors(
    block: Any,
    theta: Floats,
    weights: int,
    loss: BoundedLoss,
    columns: Columns,
    limits: Limits,
    factors: Floats,
) -> None:
    """Write the factor f of every record (tile, lane), so that Σ‖f z‖² ≤ limit² over a person.

    f = √(weight·h)·limit / size, with h = 1 and size = max(bound, √Σ weight·‖z‖²), or h the loss's
    curvature over its upper bound and size that of `person_size` (`weights` 1).
    """
    width = theta.shape[0]
    code, shape, (smoothness, _) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    margin, square, curvature = np.empty(LANES), np.empty(LANES), np.ones(LANES)
    norm_sum, square_sum = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        norm_sum[:], square_sum[:] = 0.0, 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            own = outcome_column(block.tiles, t, width, int(weighted))
            if weights == CURVATURE:
                curvatures(code, shape, margin, outcome_column(block.tiles, t, width, 0), curvature)
            for lane in range(LANES):
                there = t - block.starts[g] < block.counts[g, lane]
                weight = np.float64(own[lane]) if weighted else 1.0
                # Stored weights lie in [0, 1]; a negative one would make room for other records.
                weight = weight if 0.0 <= weight <= 1.0 else 0.0
                h = curvature[lane] / smoothness * weight if weights == CURVATURE else weight
                size = square[lane] if weights == CURVATURE else square[lane] * weight
                factors[t, lane] = math.sqrt(min(h, 1.0)) if there else 0.0
                norm_sum[lane] += math.sqrt(square[lane]) if there else 0.0
                square_sum[lane] += size if there else 0.0
        for lane in range(LANES):
            size = max(math.sqrt(square_sum[lane]), bound)
            if weights == CURVATURE:
                size = person_size(bound, norm_sum[lane], square_sum[lane])
            # No store holds records without a finite norm; here they add nothing.
            square_sum[lane] = limit / size if square_sum[lane] < math.inf else 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            for lane in range(LANES):
                factor = factors[t, lane] * square_sum[lane]
                # A factor that is not a number, or above the limit's, becomes 0.
                factors[t, lane] = factor if factor <= limit / bound else 0.0


@compiled
def person_pair_factors(
    block: Any, theta: Floats, loss: PairLoss, columns: Columns, limits: Limits, out: Any
) -> None:
    """Write factors of records (tile, lane), scores (group, column, lane) and factors of persons.

    With w = (bound / size)² as in `person_size`, h the curvature and s the slope over their bounds
    (times the record's weight), the person's pair is T = w Σ h‖z‖² / bound² and a = w‖Σ s z‖ /
    bound; both are shrunk where T² + a⁴ exceeds `joint`.
    """
    width = theta.shape[0]
    code, shape, (smoothness, lipschitz, joint) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    rows, scores, persons = out
    margin, square, curvature = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    norm_sum, square_sum, trace = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        how = code, shape, weighted, shifted, False
        sum_scores(block, g, theta, how, scores[g], norm_sum, square_sum)
        trace[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            curvatures(code, shape, margin, outcome_column(block.tiles, t, width, 0), curvature)
            own = outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                there = t - block.starts[g] < block.counts[g, lane]
                h = curvature[lane] / smoothness * (np.float64(own[lane]) if weighted else 1.0)
                rows[t, lane] = h if there and h > 0.0 else 0.0
                trace[lane] += rows[t, lane] * square[lane]
        square_scores(scores[g], square)
        for lane in range(LANES):
            size = person_size(bound, norm_sum[lane], square_sum[lane])
            curved = trace[lane] / size / size
            steep = bound / size * math.sqrt(square[lane]) / lipschitz / size
            shrink = _shrink(curved, steep, joint)
            persons[g, lane] = limit / size * (bound / size) * shrink / lipschitz
            trace[lane] = limit / size * shrink
        for t in range(block.starts[g], block.starts[g + 1]):
            for lane in range(LANES):
                rows[t, lane] = math.sqrt(rows[t, lane]) * trace[lane]


@numba.njit(nogil=True, error_model="numpy")
def _shrink(curved: float, steep: float, joint: float) -> float:
    """Return what keeps curved²·k⁴ + steep⁴·k⁴ within the joint bound; 0 if that is no number."""
    excess = (curved * curved + steep * steep * steep * steep) / joint
    if not excess < math.inf:
        return 0.0
    return 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))


@compiled
def person_score_factors(
    block: Any, theta: Floats, loss: BoundedLoss, columns: Columns, limits: Limits, out: Any
) -> None:
    """Write scores s (group, column, lane) and factors f (group, lane) with ‖f s‖ ≤ limit.

    f = limit / bound·w / lipschitz, w = (bound / size)² as in `person_size`, shrunk where f s is
    too long.
    """
    code, shape, (_, lipschitz) = loss
    bound, limit = limits
    scores, factors = out
    norm_sum, square_sum, square = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        how = code, shape, columns[0], columns[1], False
        sum_scores(block, g, theta, how, scores[g], norm_sum, square_sum)
        square_scores(scores[g], square)
        for lane in range(LANES):
            size = person_size(bound, norm_sum[lane], square_sum[lane])
            wanted = limit / size * (bound / size) / lipschitz
            largest = limit / math.sqrt(square[lane])
            # Written so that a factor that is not a number becomes 0.
            factor = wanted if wanted <= largest else (largest if wanted > largest else 0.0)
            factors[g, lane] = factor


@compiled
def write_products(tiles: NDArray[Any], factors: Floats, integers: Floats) -> None:
    """Write rint(f z) as float64 into (column, record), tile by tile."""
    for t in range(tiles.shape[0]):
        write_tile(tiles, t, factors[t], integers)


def add_person_moments(
    block: PersonBlock,
    matrix: Floats | None,
    theta: Floats,
    weights: int,
    loss: BoundedLoss,
    columns: Columns,
    limits: Limits,
    total: Integers,
) -> None:
    """Add Σ v v' over the integer vectors of a block's persons, Σ‖v‖² ≤ limit² before rounding.

    `weights` are those of `quantise_rows`.
    """
    for part in _mapped_parts(block, matrix):
        if weights == SCORE:
            scores, factors = _score_arrays(part, len(theta))
            person_score_factors(part, theta, loss, columns, limits, (scores, factors))
            total += _products(scores, factors, len(theta))
        else:
            factors = np.empty((len(part.tiles), LANES))
            person_row_factors(part, theta, weights, loss, columns, limits, factors)
            total += _products(part.tiles, factors, len(theta))


def add_person_pairs(
    block: PersonBlock,
    matrix: Floats | None,
    theta: Floats,
    loss: PairLoss,
    columns: Columns,
    limits: Limits,
    total: Integers,
) -> None:
    """Add (Σ v v', w w') over a block's persons."""
    for part in _mapped_parts(block, matrix):
        scores, persons = _score_arrays(part, len(theta))
        rows = np.empty((len(part.tiles), LANES))
        person_pair_factors(part, theta, loss, columns, limits, (rows, scores, persons))
        total[0] += _products(part.tiles, rows, len(theta))
        total[1] += _products(scores, persons, len(theta))


def _mapped_parts(block: PersonBlock, matrix: Floats | None) -> Iterator[PersonBlock]:
    for part in block.parts(TILES_AT_ONCE):
        tiles = part.tiles if matrix is None else map_tiles(part.tiles, matrix)
        yield part._replace(tiles=tiles).frozen()


def _score_arrays(block: PersonBlock, width: int) -> tuple[Floats, Floats]:
    groups = len(block.counts)
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
