"""Sums of the values and the squares of every column with exact Gaussian noise. Private: the store, blocks.

One vector (z, z²) of twice the width a record, shortened as a whole: as cheap as a gradient, where second moments cost
the width times as much. Proof: proofs/mechanisms/column_moments.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from tacit.contract.column_query import ColumnMoments
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.float_bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.kernels import TINY, enforceable
from tacit.noise.entropy import Entropy
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers, dense_tiles, tile_parts

TILES_AT_ONCE = 32
"""Tiles of sparse records that are written out at a time."""


@numba.njit(nogil=True, error_model="numpy")
def usable_weight(weight: float) -> float:
    """A stored weight, which lies in [0, 1]; any other counts as 0."""
    return weight if 0.0 <= weight <= 1.0 else 0.0


@compiled
def add_records(tiles: Any, maps: Any, weighted: bool, limits: Any, total: Integers) -> None:
    """Add rint(c z) and rint(c z²) of every record, c = weight·unit within limit / ‖(z, z²)‖, to total (2, column).

    z = scale·u + shift·u_d for the columns u of a record and its constant u_d.
    """
    (scale, shift), (unit, limit) = maps, limits
    width = scale.shape[0]
    square, factor = np.empty(LANES), np.empty(LANES)
    for t in range(tiles.shape[0]):
        constant = tiles[t, width - 1]
        square[:] = TINY
        for j in range(width):
            a, b = scale[j], shift[j]
            for lane in range(LANES):
                z = a * np.float64(tiles[t, j, lane]) + b * np.float64(constant[lane])
                square[lane] += z * z + (z * z) * (z * z)
        finite = True
        for lane in range(LANES):
            weight = usable_weight(np.float64(tiles[t, width + 1, lane])) if weighted else 1.0
            factor[lane] = min(unit * weight, limit / math.sqrt(square[lane]))
            finite &= square[lane] < math.inf
        for j in range(width):
            a, b = scale[j], shift[j]
            first, second = np.int64(0), np.int64(0)
            if finite:
                for lane in range(LANES):
                    z = a * np.float64(tiles[t, j, lane]) + b * np.float64(constant[lane])
                    first += float_to_bits(factor[lane] * z + MAGIC) - MAGIC_BITS
                    second += float_to_bits(factor[lane] * (z * z) + MAGIC) - MAGIC_BITS
            else:
                # No store holds records without a finite norm; here they add nothing.
                for lane in range(LANES):
                    if square[lane] < math.inf:
                        z = a * np.float64(tiles[t, j, lane]) + b * np.float64(constant[lane])
                        first += float_to_bits(factor[lane] * z + MAGIC) - MAGIC_BITS
                        second += float_to_bits(factor[lane] * (z * z) + MAGIC) - MAGIC_BITS
            total[0, j] += first
            total[1, j] += second


@compiled
def add_persons(block: Any, maps: Any, weighted: bool, limits: Any, means: Floats, total: Integers) -> None:
    """Add rint(c v) of every person, v the mean of weight·(z, z²) over their records, c = unit within limit / ‖v‖.

    `means` is (2, column) of scratch.
    """
    (scale, shift), (unit, limit) = maps, limits
    width = scale.shape[0]
    for g in range(block.counts.shape[0]):
        for lane in range(LANES):
            records = block.counts[g, lane]
            if records == 0:
                continue
            means[:] = 0.0
            for t in range(block.starts[g], block.starts[g] + records):
                weight = usable_weight(np.float64(block.tiles[t, width + 1, lane])) if weighted else 1.0
                constant = np.float64(block.tiles[t, width - 1, lane])
                for j in range(width):
                    z = scale[j] * np.float64(block.tiles[t, j, lane]) + shift[j] * constant
                    means[0, j] += weight * z / records
                    means[1, j] += weight * (z * z) / records
            square = TINY
            for j in range(width):
                square += means[0, j] * means[0, j] + means[1, j] * means[1, j]
            if square < math.inf:
                factor = min(unit, limit / math.sqrt(square))
                for k in range(2):
                    for j in range(width):
                        total[k, j] += float_to_bits(factor * means[k, j] + MAGIC) - MAGIC_BITS


def column_moments(layout: Layout, query: ColumnMoments, bound: int) -> BlockSum:
    """Integer sums (2, column) of the records or persons of a block."""
    width = layout.width
    if len(query.scale) != width or len(query.shift) != width:
        raise SettingError(f"A scale and a shift are needed for each of the {width} columns.")
    maps = np.ascontiguousarray(query.scale), np.ascontiguousarray(query.shift)
    limit = enforceable(bound, 2 * width)
    limits = limit / query.clip, limit

    def add(block: Any, total: Integers) -> None:
        if isinstance(block, PersonBlock):
            add_persons(block, maps, layout.weighted, limits, np.empty((2, width)), total)
            return
        for part in tile_parts(block, TILES_AT_ONCE):
            add_records(dense_tiles(part, width), maps, layout.weighted, limits, total)

    return BlockSum((2, width), add)


def integer_column_moments(query: ColumnMoments, bound: int, store: Store) -> Integers:
    """Sums of the records' (persons') integers, each vector of norm at most `bound`. Private."""
    return store.total(column_moments, query, bound)


def answer_column_moments(query: ColumnMoments, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sums (2, column) of values and of squares; without entropy the sums alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most 2·bound (replace-one) or bound (zero-out, add-remove) in L2 norm.
    """
    unit = enforceable(price.bound, 2 * store.width) / query.clip
    return noised_sum(integer_column_moments(query, price.bound, store), unit, price, entropy)
