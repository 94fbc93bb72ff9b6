"""Curvature and score of a downweighted score, released together. Private: the store.

Both matrices of a record are multiples of nearly the same z z', so a pair of them is no larger than
its own size and a change of record turns it by at most √2: little more than one matrix alone
costs. Proof: proofs/mechanisms/sandwich.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.contract.query import Answer, CurvatureAndScore
from tacit.contract.sensitivity import Price
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.mechanisms.block_access import column_behind, count_tiles, measure_tile, write_tile
from tacit.mechanisms.block_sums import sum_blocks
from tacit.mechanisms.moments import one_blas_thread
from tacit.mechanisms.person_moments import TILES_AT_ONCE, add_person_pairs
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.linear_map import map_tiles, public_matrix
from tacit.rows.storage.person_tiles import PersonBlock
from tacit.rows.storage.sparse_block import dense_tiles, tile_parts, tiles_in
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import LANES


def pair_limit(bound: int, joint: float, width: int) -> float:
    """Largest L for which ‖v‖ ≤ L·u and ‖w‖ ≤ L·s, u⁴ + s⁴ ≤ joint, keep the integer pair in bound.

    v may be the vectors of all rows of a person, one after the other; `width` is then their length.
    By Minkowski in l4 the rounded pair has (‖v‖⁴ + ‖w‖⁴)^¼ ≤ L·joint^¼ + 2^¼·√width / 2.
    """
    room = math.sqrt(bound) - 2.0**0.25 * math.sqrt(width) / 2 * (1 + 2.0**-40)
    quarter = math.sqrt(math.sqrt(joint))
    limit: float = max(0.0, room / quarter * (1 - (width + 64) * 2.0**-50))
    return limit


@compiled
def quantise_pairs(  # noqa: PLR0917 - compiled code takes no keywords
    block: Any,
    theta: NDArray[np.float64],
    code: int,
    shape: NDArray[np.float64] | None,
    bounds: tuple[float, float, float],
    weighted: bool,
    shifted: bool,
    bound: float,
    limit: float,
    bread: NDArray[np.float64],
    filling: NDArray[np.float64],
) -> None:
    """Write rint(f z) for the curvature and rint(g z) for the score, as float64 (column, record).

    f = √w·u·limit / bound and g = w·s·limit / bound, with w = min(1, (bound / ‖z‖)²), u² the
    curvature and s the slope over their bounds, both shrunk where u⁴ + s⁴ exceeds `joint`. A
    record's own weight multiplies the curvature and the slope. `bounds` are the loss's smoothness,
    Lipschitz bound and joint bound.
    """
    width = theta.shape[0]
    smoothness, lipschitz, joint = bounds
    margin = np.empty(LANES)
    square = np.empty(LANES)
    bend = np.empty(LANES)
    slope = np.empty(LANES)
    for t in range(count_tiles(block)):
        measure_tile(block, t, theta, margin, square)
        if shifted:
            offset = column_behind(block, t, width, 1 + weighted)
            for lane in range(LANES):
                margin[lane] += np.float64(offset[lane])
        label = column_behind(block, t, width, 0)
        curvatures(code, shape, margin, label, bend)
        slopes(code, shape, margin, label, slope)
        own = column_behind(block, t, width, int(weighted))
        for lane in range(LANES):
            weight = np.float64(own[lane]) if weighted else 1.0
            h = bend[lane] / smoothness * weight
            s = abs(slope[lane]) / lipschitz * weight
            excess = (h * h + s * s * s * s) / joint
            shrink = 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))
            norm = max(math.sqrt(square[lane]), bound)
            f = limit / norm * math.sqrt(h) * shrink
            g = limit / norm * (bound / norm) * s * shrink
            # A factor that is not a number, or above what the bound allows, becomes 0.
            largest = limit / bound * joint
            bend[lane] = f if f <= largest else 0.0
            slope[lane] = g if g <= largest else 0.0
        write_tile(block, t, bend, bread)
        write_tile(block, t, slope, filling)


def integer_pairs(query: CurvatureAndScore, bound: int, store: Store) -> NDArray[np.int64]:
    """Sum of (v v', w w') over the records' integer vectors, ‖v‖⁴ + ‖w‖⁴ ≤ bound². Private."""
    width, loss = store.width, query.loss
    limit = pair_limit(bound, loss.joint, width * store.unit_rows)
    matrix = None if query.matrix is None else public_matrix(query.matrix, width)
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    shape = shape_of(loss)
    bounds = loss.smoothness, loss.lipschitz, loss.joint

    def add(block: Any, total: NDArray[np.int64]) -> None:
        if isinstance(block, PersonBlock):
            add_person_pairs(
                block,
                matrix,
                theta,
                (int(loss.code), shape, bounds),
                (store.weighted, store.shifted),
                bound=query.row_bound,
                limit=limit,
                total=total,
            )
            return
        for part in tile_parts(block, TILES_AT_ONCE):
            if matrix is not None:
                part = map_tiles(dense_tiles(part, width), matrix)  # noqa: PLW2901 - the same rows
                part.flags.writeable = False  # one type for the compiler, mapped or not
            bread = np.empty((width, tiles_in(part) * LANES))
            filling = np.empty((width, tiles_in(part) * LANES))
            quantise_pairs(
                part,
                theta,
                int(loss.code),
                shape,
                bounds,
                store.weighted,
                store.shifted,
                query.row_bound,
                limit,
                bread,
                filling,
            )
            total[0] += (bread @ bread.T).astype(np.int64)
            total[1] += (filling @ filling.T).astype(np.int64)

    with one_blas_thread():
        return sum_blocks(store, add, (2, width, width))


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
    width = store.width
    limit = pair_limit(price.bound, query.loss.joint, width * store.unit_rows)
    unit = (limit / query.row_bound) ** 2
    total = integer_pairs(query, price.bound, store)
    if entropy is None:
        return Answer(total / unit, 0.0)
    noise = rounded_gaussian(total.size, price.bits, entropy).reshape(total.shape)
    symmetric = 2 * total + noise + noise.transpose(0, 2, 1)
    return Answer(symmetric / (2 * unit), 2.0**price.bits / unit)
