"""All records of a store as one array, and whose each one is. Private: everything."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import LANES, Integers, dense_tiles, tiles_in, to_rows


class GatheredRows(NamedTuple):
    """Rows (record, column), columns as in a tile, in float64; the number of each record's unit, from 0 on."""

    rows: NDArray[np.float64]
    units: Integers


def gather(store: Store) -> GatheredRows:
    """Copy the records of a store, in its own order.

    Guarantee: units are numbered 0, …, length - 1. All records of a unit have its number, and no other has.
    """
    found: list[NDArray[Any]] = [np.empty((0, store.layout.columns))]
    units: list[Integers] = [np.empty(0, dtype=np.int64)]
    first = 0
    for index in range(store.block_count):
        block = store.block(index)
        if isinstance(block, PersonBlock):
            group, lane = np.nonzero(block.counts)
            sizes = block.counts[group, lane]
            for slot in range(int(sizes.max(initial=0))):
                has = sizes > slot
                found.append(block.tiles[block.starts[group[has]] + slot, :, lane[has]])
                units.append(first + np.flatnonzero(has))
            first += len(sizes)
        else:
            count = min(tiles_in(block) * LANES, store.length - first)
            found.append(to_rows(dense_tiles(block, store.width), count))
            units.append(first + np.arange(count))
            first += count
    return GatheredRows(np.concatenate(found, dtype=np.float64), np.concatenate(units))
