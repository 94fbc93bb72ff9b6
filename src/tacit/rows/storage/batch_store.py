"""One batch of a store: the records that a step reads, gathered into tiles of their own.

Private: the records, which of them are in the batch, and how many. The running number of a record is its place in the
table, counted through the blocks; of a person, the place in the store. A record's bits are those of the store.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Never

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.rows.storage.person_store import PersonBlock, place_groups
from tacit.rows.storage.record_store import SparseBlock
from tacit.rows.storage.store import Layout, Rewrite, Store
from tacit.rows.storage.tiles import LANES, Integers, readonly, tile_count, tiles_in

Members = Callable[[int, int], Integers]
"""Numbers of a batch from a first one on, so many, less the first; in order, repeated where they were drawn again."""


class BatchStore(Store):
    """The batch of a store; it is read once, not mapped, and closed with the store.

    Guarantee: a record is in it as often as its running number was drawn, whatever it contains. An empty batch is a
    store of no records. Records of norm zero fill up tiles, and add nothing to a sum of gradients.
    """

    def __init__(self, store: Store, members: Members) -> None:
        super().__init__(store.layout)
        self._store, self._members = store, members
        self._count = store.block_count
        # Blocks of persons have as many as fit; all others have as many records as the layout says.
        rows = store.layout.block_rows
        self._firsts = [index * rows for index in range(store.block_count)]
        if store.layout.grouped:
            sizes = [int(np.count_nonzero(store.block(index).counts)) for index in range(store.block_count)]
            self._firsts = [0, *np.cumsum(sizes).tolist()]

    def block(self, index: int) -> Any:
        """Those records of a block that are in the batch."""
        block, first = self._store.block(index), self._firsts[index]
        if isinstance(block, PersonBlock):
            return persons_at(block, self._members(first, self._firsts[index + 1] - first))
        count = min(tiles_in(block) * LANES, self.length - first)
        places = self._members(first, count)
        if isinstance(block, SparseBlock):
            return sparse_records_at(block, places)
        return dense_records_at(block, places)

    @property
    def padding(self) -> Never:
        """Refuse: a batch is asked for sums to which zero records add nothing."""
        raise not_counted()

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Never:
        """Refuse: coordinates are those of the store."""
        del layout, rewrite
        raise SettingError("A batch is read, not mapped.")


def not_counted() -> SettingError:
    """The error for a sum of a batch to which zero records would add."""
    return SettingError("Records of a batch are not counted.")


def batch_of(store: Store, members: Members) -> Store:
    """The batch of a store; a store elsewhere has batches of its own."""
    own = getattr(store, "batch", None)
    return BatchStore(store, members) if own is None else own(members)


def dense_records_at(block: NDArray[Any], places: Integers) -> NDArray[Any]:
    """Tiles of the records at these places of a block, in their order."""
    tiles = np.empty((tile_count(len(places)), block.shape[1], LANES), dtype=block.dtype)
    _gather(readonly(block), readonly(places), tiles)
    return readonly(tiles)


@compiled
def _gather(block: NDArray[Any], places: Integers, tiles: NDArray[Any]) -> None:
    for t in range(tiles.shape[0]):
        first = t * LANES
        count = min(LANES, places.shape[0] - first)
        # Column after column: the records of one tile come from few tiles of the block, which stay in the cache.
        for j in range(tiles.shape[1]):
            for lane in range(count):
                place = places[first + lane]
                tiles[t, j, lane] = block[place // LANES, j, place % LANES]
            for lane in range(count, LANES):
                tiles[t, j, lane] = 0.0


def sparse_records_at(block: SparseBlock, places: Integers) -> SparseBlock:
    """Records at these places of a sparse block, in their order."""
    sizes = block.starts[places + 1] - block.starts[places]
    tiles = tile_count(len(places))
    starts = np.zeros(tiles * LANES + 1, dtype=np.int64)
    starts[1 : len(places) + 1] = np.cumsum(sizes)
    starts[len(places) + 1 :] = starts[len(places)]
    # Entry k of the batch is entry k - (its record's new start) + (its old start) of the block.
    entries = np.arange(int(sizes.sum())) + np.repeat(block.starts[places] - starts[: len(places)], sizes)
    outcome = dense_records_at(block.outcome, places)
    arrays = (starts, block.indices[entries], block.values[entries], outcome)
    return SparseBlock(*(readonly(array) for array in arrays))


def persons_at(block: PersonBlock, places: Integers) -> PersonBlock:
    """Persons at these places among those of a block, each with all their records."""
    group, lane = np.nonzero(block.counts)
    group, lane = group[places], lane[places]
    sizes = block.counts[group, lane]
    first, new_lane, starts, counts = place_groups(sizes)
    tiles = np.zeros((int(starts[-1]), *block.tiles.shape[1:]), dtype=block.tiles.dtype)
    for slot in range(int(sizes.max(initial=0))):
        has = sizes > slot
        tiles[first[has] + slot, :, new_lane[has]] = block.tiles[block.starts[group[has]] + slot, :, lane[has]]
    return PersonBlock(tiles, starts, counts).frozen()
