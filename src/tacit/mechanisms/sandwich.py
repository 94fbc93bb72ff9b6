"""Curvature and score matrices of a downweighted score, released together. Private: the store.

Both matrices of a record are multiples of nearly the same z z'. The stacked pair has Frobenius norm
at most S, so replacing a record changes it by at most √2·S: little more than one matrix alone.
Proof: proofs/mechanisms/sandwich.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.compiling import compiled
from tacit.contract.query import Answer, CurvatureAndScore
from tacit.contract.sensitivity import Price
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.mechanisms.block_access import count_tiles, measure_tile, outcome_column, write_tile
from tacit.mechanisms.gaussian_sum import noised_symmetric_sum
from tacit.mechanisms.kernels import Columns, Limits, add_offset
from tacit.mechanisms.moments import mapped_parts, one_blas_thread
from tacit.mechanisms.person_moments import PairLoss, add_person_pairs
from tacit.noise.entropy import Entropy
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers, public_matrix, tiles_in


def pair_limit(bound: int, joint: float, width: int) -> float:
    """Largest L for which ‖v‖ ≤ L·u and ‖w‖ ≤ L·s, u⁴ + s⁴ ≤ joint, keep the integer pair in bound.

    v may be the vectors of all rows of a person, one after the other; `width` is then their length.
    By Minkowski in l4 the rounded pair has (‖v‖⁴ + ‖w‖⁴)^¼ ≤ L·joint^¼ + 2^¼·√width / 2.
    """
    available = math.sqrt(bound) - 2.0**0.25 * math.sqrt(width) / 2 * (1 + 2.0**-40)
    quarter = math.sqrt(math.sqrt(joint))
    limit: float = max(0.0, available / quarter * (1 - (width + 64) * 2.0**-50))
    return limit


@compiled
def quantise_pairs(
    block: Any, theta: Floats, loss: PairLoss, columns: Columns, limits: Limits, out: Any
) -> None:
    """Write rint(f z) for the curvature and rint(g z) for the score, as float64 (column, record).

    f = √w·u·limit / bound and g = w·s·limit / bound, with w = min(1, (bound / ‖z‖)²), u² the
    curvature and s the slope over their bounds, both shrunk where u⁴ + s⁴ exceeds `joint`. A
    record's own weight multiplies the curvature and the slope.
    """
    width = theta.shape[0]
    code, shape, (smoothness, lipschitz, joint) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    margin, square = np.empty(LANES), np.empty(LANES)
    curved, slope = np.empty(LANES), np.empty(LANES)
    for t in range(count_tiles(block)):
        measure_tile(block, t, theta, margin, square)
        add_offset(block, t, width, weighted, shifted, margin)
        label = outcome_column(block, t, width, 0)
        curvatures(code, shape, margin, label, curved)
        slopes(code, shape, margin, label, slope)
        own = outcome_column(block, t, width, int(weighted))
        for lane in range(LANES):
            weight = np.float64(own[lane]) if weighted else 1.0
            h = curved[lane] / smoothness * weight
            s = abs(slope[lane]) / lipschitz * weight
            excess = (h * h + s * s * s * s) / joint
            shrink = 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))
            norm = max(math.sqrt(square[lane]), bound)
            f = limit / norm * math.sqrt(h) * shrink
            g = limit / norm * (bound / norm) * s * shrink
            # A factor that is not a number, or above what the bound allows, becomes 0.
            largest = limit / bound * joint
            curved[lane] = f if f <= largest else 0.0
            slope[lane] = g if g <= largest else 0.0
        write_tile(block, t, curved, out[0])
        write_tile(block, t, slope, out[1])


def integer_pairs(query: CurvatureAndScore, bound: int, store: Store) -> Integers:
    """Sum of (v v', w w') over the records' integer vectors, ‖v‖⁴ + ‖w‖⁴ ≤ bound². Private."""
    with one_blas_thread():
        return store.total(curvature_score_pairs, query, bound)


def curvature_score_pairs(layout: Layout, query: CurvatureAndScore, bound: int) -> BlockSum:
    """Integer pairs of the records or persons of a block."""
    width = layout.width
    limit = pair_limit(bound, query.loss.joint, width * layout.unit_rows)
    matrix = None if query.matrix is None else public_matrix(query.matrix, width)
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    bounds = query.loss.smoothness, query.loss.lipschitz, query.loss.joint
    loss = int(query.loss.code), shape_of(query.loss), bounds
    columns, limits = (layout.weighted, layout.shifted), (query.row_bound, limit)

    def add_persons(block: PersonBlock, total: Integers) -> None:
        add_person_pairs(block, matrix, theta, loss, columns, limits, total)

    def add(block: Any, total: Integers) -> None:
        for part in mapped_parts(block, matrix, width):
            curved, scores = (np.empty((width, tiles_in(part) * LANES)) for _ in range(2))
            quantise_pairs(part, theta, loss, columns, limits, (curved, scores))
            total[0] += (curved @ curved.T).astype(np.int64)
            total[1] += (scores @ scores.T).astype(np.int64)

    return BlockSum((2, width, width), add_persons if layout.grouped else add)


def answer_curvature_and_score(
    query: CurvatureAndScore, price: Price, store: Store, entropy: Entropy | None
) -> Answer:
    """Noised sums of both, stacked (2, width, width); without entropy the sums alone (ε = ∞).

    Guarantee
    ---------
    - Integer pairs of neighbours differ by at most √2·bound (replace-one) or bound (zero-out,
      add-remove) in Frobenius norm.
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly for all
      entries of both matrices and averaged with its transposes.
    - The integers are the same for any block size, thread count or order of the records.
    """
    limit = pair_limit(price.bound, query.loss.joint, store.width * store.layout.unit_rows)
    unit = (limit / query.row_bound) ** 2
    return noised_symmetric_sum(integer_pairs(query, price.bound, store), unit, price, entropy)
