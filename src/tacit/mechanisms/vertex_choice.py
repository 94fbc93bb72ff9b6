"""The vertex of a region with a small linear form: a step of Frank and Wolfe. Private: the store and the scores.

The records' gradients are summed coordinate by coordinate, each entry bounded on its own: the sensitivity of a score
does not grow with the number of columns. Proof: proofs/mechanisms/vertex_choice.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.contract.query import Answer
from tacit.contract.selection_query import VertexChoice
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import shape_of, slopes
from tacit.losses.float_bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.mechanisms import kernels
from tacit.mechanisms.kernels import either
from tacit.mechanisms.selection import AnyPrice, selected
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers


def _dense_reach(block: Any, t: int, weights: Floats, constant: int, reach: Floats) -> None:
    tile = block[t]
    for lane in range(LANES):
        reach[lane] = kernels.TINY
    for j in range(weights.shape[0] - constant):
        weight = weights[j]
        for lane in range(LANES):
            reach[lane] = max(reach[lane], abs(np.float64(tile[j, lane]) * weight))
    if constant:
        last = weights.shape[0] - 1
        for lane in range(LANES):
            reach[lane] += abs(np.float64(tile[last, lane]) * weights[last])


def _sparse_reach(block: Any, t: int, weights: Floats, constant: int, reach: Floats) -> None:
    last = weights.shape[0] - 1 if constant else weights.shape[0]
    for lane in range(LANES):
        r = t * LANES + lane
        largest, beside = kernels.TINY, 0.0
        for k in range(np.uint64(block.starts[r]), np.uint64(block.starts[r + 1])):
            j = np.uint32(block.indices[k])
            size = abs(np.float64(block.values[k]) * weights[j])
            if j == last:
                beside += size
            else:
                largest = max(largest, size)
        reach[lane] = largest + beside


def _dense_entries(block: Any, t: int, weights: Floats, factor: Floats, limit: float, total: Integers) -> None:
    tile = block[t]
    for j in range(weights.shape[0]):
        weight = weights[j]
        integers = np.int64(0)
        for lane in range(LANES):
            entry = factor[lane] * (np.float64(tile[j, lane]) * weight)
            # What is not a number, or beyond the limit, counts as 0; no store holds such records.
            entry = entry if abs(entry) <= limit else 0.0
            integers += float_to_bits(entry + MAGIC)
        total[j] += integers - LANES * MAGIC_BITS


def _sparse_entries(block: Any, t: int, weights: Floats, factor: Floats, limit: float, total: Integers) -> None:
    for lane in range(LANES):
        r = t * LANES + lane
        for k in range(np.uint64(block.starts[r]), np.uint64(block.starts[r + 1])):
            j = np.uint32(block.indices[k])
            entry = factor[lane] * (np.float64(block.values[k]) * weights[j])
            entry = entry if abs(entry) <= limit else 0.0
            total[j] += float_to_bits(entry + MAGIC) - MAGIC_BITS


reach_tile = either(_dense_reach, _sparse_reach)
"""Write the largest |weights[j] z_j| over the slopes, plus that of the constant, of every record; at least 2^-600."""
add_tile_entries = either(_dense_entries, _sparse_entries)
"""Add rint(factor·weights[j] z_j) of every record of a tile to total[j]."""


@compiled
def add_entries(
    block: Any, theta: Floats, weights: Floats, loss: Any, columns: Any, clip: Any, total: Integers
) -> None:
    """Add rint(c weights[j] z_j) to total[j], c = weight·slope·scale kept within limit / reach.

    `clip` are integers per unit of slope, the largest slope, the largest integer before rounding, and how many columns
    are the constant (1 or 0).
    """
    width = theta.shape[0]
    (code, shape), (weighted, shifted), (scale, steepest, limit, constant) = loss, columns, clip
    margin, square = np.empty(LANES), np.empty(LANES)
    reach, factor = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        slopes(code, shape, margin, kernels.outcome_column(block, t, width, 0), factor)
        own = kernels.outcome_column(block, t, width, int(weighted))
        reach_tile(block, t, weights, constant, reach)
        for lane in range(LANES):
            slope = min(max(factor[lane], -steepest), steepest) * scale
            if weighted:
                slope *= np.float64(own[lane])
            largest = limit / reach[lane]
            # Written so that a slope that is not a number becomes 0.
            slope = slope if slope > -largest else (-largest if slope <= -largest else 0.0)
            factor[lane] = min(slope, largest)
        add_tile_entries(block, t, weights, factor, limit, total)


def weights_of(query: VertexChoice) -> Floats:
    """Radii over the largest one of a slope plus that of the constant: those of a score add up to at most 1. Public."""
    slopes_of = query.radii[:-1] if query.constant else query.radii
    whole = float(slopes_of.max()) + (float(query.radii[-1]) if query.constant else 0.0)
    return np.ascontiguousarray(query.radii / whole)


def gradient_entries(layout: Layout, query: VertexChoice, bound: int) -> BlockSum:
    """Integer gradients of a block, each entry times its radius."""
    if layout.grouped:
        raise SettingError("A vertex is chosen on plain records, without units.")
    theta, weights = np.ascontiguousarray(query.theta, dtype=np.float64), weights_of(query)
    # Two roundings of at most ½, and a few of floats.
    limit = (bound - 1) * (1 - 2.0**-48)
    clip = limit / query.clip, float(query.clip), limit, int(query.constant)
    loss = int(query.loss.code), shape_of(query.loss)

    def add(block: Any, total: Integers) -> None:
        add_entries(block, theta, weights, loss, (layout.weighted, layout.shifted), clip, total)

    return BlockSum(theta.shape, add)


def vertex_scores(query: VertexChoice, bound: int, store: Store) -> Integers:
    """Scores of all vertices, (sign of the constant, sign of the slope, slope), small ones being good. Private."""
    total = store.total(gradient_entries, query, bound)
    if not query.constant:
        return np.stack([total, -total])[np.newaxis]
    slopes_of, level = total[:-1], total[-1]
    return np.stack([np.stack([slopes_of + side, -slopes_of + side]) for side in (level, -level)])


def answer_vertex(query: VertexChoice, price: AnyPrice, store: Store, entropy: Entropy | None) -> Answer:
    """A vertex: its slope's place, its sign, and the sign of the constant; without entropy the best one (ε = ∞).

    Guarantee
    ---------
    - A record adds to each score an integer of size at most the bound, whatever the number of columns.
    - Nothing but the vertex leaves.
    """
    scores = vertex_scores(query, price.bound, store)
    found = selected(scores.ravel(), price, entropy)
    level, side, place = np.unravel_index(found, scores.shape)
    signs = 1.0 - 2.0 * float(side), 1.0 - 2.0 * float(level)
    return Answer(np.array([float(place), *signs]), 0.0)
