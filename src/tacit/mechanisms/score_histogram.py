"""Counts of records by label and by interval of a linear predictor, with exact Gaussian noise. Private: store, blocks.

Every valid record adds the bound to one cell. A person's records share the bound among theirs, rounded down.
Proof: proofs/mechanisms/score_histogram.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.contract.query import Answer, ScoreHistogram
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.mechanisms import kernels
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, dense_tiles, tile_parts

TILES_AT_ONCE = 32


@compiled
def cells_of(tiles: Any, theta: Floats, edges: Floats, cells: Integers) -> None:
    """Write the cell of every record, (tile, lane): label times the number of intervals, plus the interval."""
    width = theta.shape[0]
    margin, square = np.empty(LANES), np.empty(LANES)
    for t in range(tiles.shape[0]):
        kernels.measure_tile(tiles, t, theta, margin, square)
        label = kernels.outcome_column(tiles, t, width, 0)
        for lane in range(LANES):
            place = 0
            # What is not a number is above no edge.
            for k in range(edges.shape[0]):
                place += 1 if margin[lane] > edges[k] else 0
            cells[t, lane] = place + (edges.shape[0] + 1 if np.float64(label[lane]) > 0.5 else 0)


@compiled
def add_records(cells: Integers, usable: Flags, bound: int, total: Integers) -> None:
    """Add the bound to the cell of every usable record."""
    for t in range(cells.shape[0]):
        for lane in range(LANES):
            if usable[t, lane]:
                total[cells[t, lane]] += bound


@compiled
def add_persons(
    cells: Integers, usable: Flags, starts: Integers, counts: Integers, bound: int, inside: Integers, total: Integers
) -> None:
    """Add for each person the bound times the share of their records in a cell, rounded down; `inside` is scratch."""
    for g in range(counts.shape[0]):
        for lane in range(LANES):
            records = counts[g, lane]
            inside[:] = 0
            for t in range(starts[g], starts[g] + records):
                if usable[t, lane]:
                    inside[cells[t, lane]] += 1
            if records > 0:
                for c in range(inside.shape[0]):
                    # bound·inside // records, in steps that cannot overflow.
                    total[c] += bound // records * inside[c] + bound % records * inside[c] // records


def histogram(layout: Layout, query: ScoreHistogram, bound: int) -> BlockSum:
    """Integer counts of the records or persons of a block, label after label."""
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    edges = np.ascontiguousarray(query.edges, dtype=np.float64)
    width, size = layout.width, 2 * (len(edges) + 1)
    if layout.weighted or layout.shifted:
        raise SettingError("A histogram of scores knows neither weights nor offsets.")

    def add(block: Any, total: Integers) -> None:
        for part in block.parts(TILES_AT_ONCE) if layout.grouped else tile_parts(block, TILES_AT_ONCE):
            tiles = part.tiles if layout.grouped else dense_tiles(part, width)
            # The constant, the last feature, is 1 for a valid record and 0 for what fills up a tile.
            usable = tiles[:, width - 1] == 1.0
            cells = np.empty(usable.shape, dtype=np.int64)
            cells_of(tiles, theta, edges, cells)
            if layout.grouped:
                add_persons(cells, usable, part.starts, part.counts, bound, np.empty(size, dtype=np.int64), total)
            else:
                add_records(cells, usable, bound, total)

    return BlockSum((size,), add)


def answer_score_histogram(query: ScoreHistogram, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised counts, (label, interval); without entropy the counts alone (ε = ∞).

    Guarantee
    ---------
    - Integers of neighbours differ in at most two cells, by at most the bound in each, where a record is replaced; by
      at most the bound in one cell where it is added, removed or zeroed. For persons the norms are the same.
    """
    total = store.total(histogram, query, price.bound)
    return noised_sum(total.reshape(2, -1), price.bound, price, entropy)
