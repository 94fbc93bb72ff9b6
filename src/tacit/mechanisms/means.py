"""Sums of bounded statistics, over all records or group by group, with exact Gaussian noise. Private: store, blocks.

Every record (or person, by the mean over their records) adds integers of size at most the bound. Values are clipped to
the statistic's interval whatever the interval is, so nothing rests on interval arithmetic.
Proof: proofs/mechanisms/means.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.expression import Statistic
from tacit.kernel_compilation import compiled
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy
from tacit.rows.encoding.cells import quiet
from tacit.rows.encoding.expressions import cell_values, evaluated
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, dense_tiles, tile_parts

TILES_AT_ONCE = 32
"""Tiles whose values are held at a time: those of 2,048 records."""


@numba.njit(nogil=True, error_model="numpy")
def signed_part(bound: int, share: float) -> np.int64:
    """Integer nearest to bound·share, clipped into [-bound, bound]; 0 if share is not a number."""
    part = np.rint(float(bound) * share)
    if part >= float(bound):
        return np.int64(bound)
    if part <= -float(bound):
        return np.int64(-bound)
    return np.int64(0) if math.isnan(part) else np.int64(part)


@compiled
def add_records(shares: Floats, codes: Integers, usable: Flags, bound: int, total: Integers) -> None:
    """Add to total[group] the bound and the integers of the shares, (statistic, tile, lane), of usable records."""
    for t in range(codes.shape[0]):
        for lane in range(LANES):
            if usable[t, lane]:
                own = total[codes[t, lane]]
                own[0] += bound
                for j in range(shares.shape[0]):
                    own[j + 1] += signed_part(bound, shares[j, t, lane])


@compiled
def add_persons(
    shares: Floats,
    codes: Integers,
    usable: Flags,
    starts: Integers,
    counts: Integers,
    bound: int,
    sums: Floats,
    total: Integers,
) -> None:
    """Add for each person the bound times the share of their records in a group, and their mean statistics there.

    `sums` is (group, 1 + statistic) of scratch. A person's counts are rounded down and limit their other integers.
    """
    for g in range(counts.shape[0]):
        for lane in range(LANES):
            records = counts[g, lane]
            if records == 0:
                continue
            sums[:] = 0.0
            for t in range(starts[g], starts[g] + records):
                if usable[t, lane]:
                    own = sums[codes[t, lane]]
                    own[0] += 1.0
                    for j in range(shares.shape[0]):
                        share = shares[j, t, lane]
                        own[j + 1] += 0.0 if math.isnan(share) else min(max(share, -1.0), 1.0)
            for c in range(sums.shape[0]):
                inside = np.int64(sums[c, 0])
                if inside > 0:
                    # bound·inside // records, in steps that cannot overflow.
                    whole = bound // records * inside + bound % records * inside // records
                    total[c, 0] += whole
                    for j in range(shares.shape[0]):
                        part = np.rint(float(bound) * (sums[c, j + 1] / records))
                        total[c, j + 1] += np.int64(min(max(part, -float(whole)), float(whole)))


def shares_of(statistic: Statistic, tiles: NDArray[Any]) -> Floats:
    """Where each record's value lies in the interval, as a number that is -1 and 1 at its ends."""
    interval = statistic.interval
    with quiet():
        return (evaluated(statistic.expression, tiles) - interval.center) / interval.half_width


def group_sums(layout: Layout, query: GroupSums | BoundedSums, bound: int) -> BlockSum:
    """Integer sums of the records or persons of a block, (group, 1 + statistic)."""
    groups = query.groups if isinstance(query, GroupSums) else 1
    width = layout.width

    def add(block: Any, total: Integers) -> None:
        # Persons' groups stay whole; sparse records are written out a few at a time.
        for part in block.parts(TILES_AT_ONCE) if layout.grouped else tile_parts(block, TILES_AT_ONCE):
            tiles = part.tiles if layout.grouped else dense_tiles(part, width)
            # The constant, the last feature, is 1 for a valid record and 0 for what fills up a tile.
            usable = tiles[:, width - 1] == 1.0
            codes = np.zeros(usable.shape, dtype=np.int64)
            if isinstance(query, GroupSums):
                codes[:] = np.clip(cell_values(query.group, tiles), 0, groups - 1)
            shares = np.empty((len(query.statistics), *usable.shape))
            for j, statistic in enumerate(query.statistics):
                shares[j] = shares_of(statistic, tiles)
            if layout.grouped:
                scratch = np.empty(total.shape)
                add_persons(shares, codes, usable, part.starts, part.counts, bound, scratch, total)
            else:
                add_records(shares, codes, usable, bound, total)

    return BlockSum((groups, 1 + len(query.statistics)), add)


def integer_sums(query: BoundedSums | GroupSums, bound: int, store: Store) -> Integers:
    """Sums of the records' integers; without groups those of the statistics alone. Private."""
    total = store.total(group_sums, query, bound)
    return total if isinstance(query, GroupSums) else total[0, 1:]


def answer_means(query: BoundedSums | GroupSums, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sums of bounded statistics, or counts and sums of groups; without entropy the sums alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most twice the bound in each statistic where a record is replaced, and by
      at most the bound where it is added, removed or zeroed.
    - With groups, whatever their number, they differ by at most the sensitivity in `contract.sensitivity`.
    """
    return noised_sum(integer_sums(query, price.bound, store), price.bound, price, entropy)
