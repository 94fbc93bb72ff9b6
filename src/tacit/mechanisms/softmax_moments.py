"""Curvature and score of one joint softmax model, as integer pairs. Private: `block`.

The curvature (diag p - p p') ⊗ z z' of a record is a sum over classes of v v' with
v = √p_k (e_k - p) ⊗ z, its score one such product of (p - e_y) ⊗ z. What is bounded is the Frobenius
norm of both, of a person as of a record: a record is a person with one. Entry (k, j) of a vector, of
class k and column j, stands at k·width + j. Proof: proofs/mechanisms/softmax_moments.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.kernel_compilation import compiled
from tacit.losses.float_bits import MAGIC
from tacit.mechanisms.person_kernels import TILES_AT_ONCE, person_size, share_of, square_scores, write_products
from tacit.mechanisms.softmax_gradient import class_margins, class_residuals
from tacit.rows.storage import tiles
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.tiles import LANES, Floats, Integers, readonly


@numba.njit(nogil=True, error_model="numpy")
def _bend(chance: Floats, lane: int, own: float, factors: Floats) -> float:
    """Write √(2ω p_k)(e_k - p)_m of a record and return h = 2ω‖diag p - p p'‖; all 0 unless h is positive."""
    classes = chance.shape[0]
    size = 0.0
    for k in range(classes):
        for m in range(classes):
            entry = chance[k, lane] * ((1.0 if k == m else 0.0) - chance[m, lane])
            size += entry * entry
    h = 2.0 * math.sqrt(size) * own
    for k in range(classes):
        root = math.sqrt(2.0 * own * chance[k, lane]) if h > 0.0 else 0.0
        for m in range(classes):
            factors[k, m, lane] = root * ((1.0 if k == m else 0.0) - chance[m, lane]) if h > 0.0 else 0.0
    return max(0.0, h)


@numba.njit(nogil=True, error_model="numpy")
def _add_scores(chance: Floats, own: Floats, tile: NDArray[Any], score: Floats) -> None:
    """Add ω(p - e_y) ⊗ z / √2 of a tile; a slope that is not finite counts as 0."""
    classes = chance.shape[0]
    width = score.shape[0] // classes
    for k in range(classes):
        for lane in range(LANES):
            hit = 1.0 if np.float64(tile[width, lane]) == np.float64(k) else 0.0
            slope = (chance[k, lane] - hit) * own[lane] / math.sqrt(2.0)
            chance[k, lane] = slope if abs(slope) < math.inf else 0.0
        for j in range(width):
            for lane in range(LANES):
                score[k * width + j, lane] += chance[k, lane] * np.float64(tile[j, lane])


@numba.njit(nogil=True, error_model="numpy")
def _limit_pairs(joint: float, limits: Any, mean_square: Floats, trace: Floats, square: Floats) -> None:
    """Replace Σ h‖z‖² and ‖s‖² of persons by what their vectors and their score are multiplied by."""
    bound, limit = limits
    for lane in range(LANES):
        size = person_size(bound, mean_square[lane])
        curved = trace[lane] / size / size
        steep = bound / size * math.sqrt(square[lane]) / size
        # What keeps curved²·k⁴ + steep⁴·k⁴ within the joint bound; 0 if that is no number.
        excess = (curved * curved + steep * steep * steep * steep) / joint
        shrink = 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))
        shrink = shrink if excess < math.inf else 0.0
        trace[lane] = limit / size * shrink
        square[lane] = limit / size * (bound / size) * shrink


@compiled
def class_pair_factors(
    block: Any, theta: NDArray[Any], weighted: bool, joint: float, limits: Any, out: tuple[Floats, Floats, Floats]
) -> None:
    """Write factors of records (tile, class, class, lane), scores (group, entry, lane), factors of persons.

    `theta` is (class, width). With w = (bound / size)² as in `person_size`, ω a record's own weight over k,
    h = 2ω‖diag p - p p'‖ and s = ω(p - e_y) / √2, the person's pair is T = w Σ h‖z‖² / bound² and
    a = w‖Σ s ⊗ z‖ / bound; both are shrunk where T² + a⁴ exceeds `joint`.
    """
    classes, width = theta.shape
    rows, scores, persons = out
    margins, chance = np.empty((classes, LANES), dtype=theta.dtype), np.empty((classes, LANES))
    nobody, square, own = np.full(LANES, -1.0), np.empty(LANES), np.empty(LANES)
    mean_square, trace = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        mean_square[:], trace[:], scores[g] = 0.0, 0.0, 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            tile = block.tiles[t]
            class_margins(tile, theta, margins)
            class_residuals(margins, nobody, chance)
            square_scores(tile[:width], square)
            for lane in range(LANES):
                share = share_of(block.counts[g, lane], t - block.starts[g])
                weight = np.float64(tile[width + 1, lane]) if weighted else 1.0
                # Stored weights lie in [0, 1]; any other counts as 0, and so does an empty slot.
                own[lane] = weight * share if share > 0.0 and 0.0 <= weight <= 1.0 else 0.0
                trace[lane] += _bend(chance, lane, own[lane], rows[t]) * (square[lane] if share > 0.0 else 0.0)
                mean_square[lane] += square[lane] * share if share > 0.0 else 0.0
            _add_scores(chance, own, tile, scores[g])
        square_scores(scores[g], square)
        _limit_pairs(joint, limits, mean_square, trace, square)
        persons[g] = square
        for t in range(block.starts[g], block.starts[g + 1]):
            rows[t] *= trace


@compiled
def write_class_products(block: NDArray[Any], factors: Floats, integers: Floats) -> None:
    """Write rint(f_km z_j), entry (m, j) of the k-th vector of a record, as float64 (entry, vector)."""
    classes = factors.shape[1]
    width = integers.shape[0] // classes
    for t in range(block.shape[0]):
        for k in range(classes):
            first = (t * classes + k) * LANES
            for m in range(classes):
                for j in range(width):
                    for lane in range(LANES):
                        v = factors[t, k, m, lane] * np.float64(block[t, j, lane])
                        integers[m * width + j, first + lane] = 0.0 if math.isnan(v) else (v + MAGIC) - MAGIC


def add_class_pairs(
    block: PersonBlock, theta: NDArray[Any], weighted: bool, joint: float, limits: tuple[float, float], total: Integers
) -> None:
    """Add (Σ v v', w w') over some persons, few enough tiles for one exact product."""
    classes, width = theta.shape
    groups, size = len(block.counts), classes * width
    rows = np.empty((len(block.tiles), classes, classes, LANES))
    scores, persons = np.empty((groups, size, LANES)), np.empty((groups, LANES))
    class_pair_factors(block, theta, weighted, joint, limits, (rows, scores, persons))
    at_once = max(1, TILES_AT_ONCE // classes)
    for first in range(0, len(rows), at_once):
        part = slice(first, first + at_once)
        integers = np.empty((size, len(rows[part]) * classes * LANES))
        write_class_products(block.tiles[part], rows[part], integers)
        total[0] += (integers @ integers.T).astype(np.int64)
    integers = np.empty((size, groups * LANES))
    write_products(readonly(scores), persons, integers)
    total[1] += (integers @ integers.T).astype(np.int64)


def as_persons(part: Any, width: int) -> PersonBlock:
    """Some persons as they are; records, dense or sparse, as persons with one record each."""
    if isinstance(part, PersonBlock):
        return part
    dense = tiles.dense_tiles(part, width)
    counts = np.ones((len(dense), LANES), dtype=np.int64)
    return PersonBlock(dense, np.arange(len(dense) + 1), counts).frozen()
