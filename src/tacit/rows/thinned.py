"""A store of which every so many tiles are read: enough for a rough look at a large table.

Private: the records. Public: their number, and which tiles are read, which goes by their place.
Only where the places of the records are fixed (replace-one, zero-out) is this one record's doing;
plans list that among the facts they assume.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import SettingError
from tacit.rows.scratch import ScratchStore
from tacit.rows.store import MemoryStore, Store
from tacit.rows.tiles import LANES


class ThinnedStore(Store):
    """Tiles 0, `every`, 2·`every`, … of a store of single records.

    Guarantee
    ---------
    - Which records are read depends on their places only, not on how they are cut into blocks.

    Examples
    --------
    >>> store = MemoryStore.of(np.ones((200, 2)), block_rows=64)
    >>> ThinnedStore(store, 2).read
    128
    """

    def __init__(self, store: Store, every: int) -> None:
        if not can_thin(store) or every < 1:
            raise SettingError("Records of this storage cannot be thinned.")
        super().__init__(store._layout)  # noqa: SLF001 - a view of the same records
        self._store = store
        self._every = every

    @property
    def read(self) -> int:
        """Number of records that are read; public, as their number is."""
        tiles = -(-self._layout.tile_count // self._every)
        last = (tiles - 1) * self._every * LANES
        return (tiles - 1) * LANES + min(LANES, self.length - last)

    @property
    def padding(self) -> int:
        """Zero records that fill up the last tile, where that is read."""
        return -self.read % LANES

    def block(self, index: int) -> NDArray[Any]:
        """Those tiles of a block that are read."""
        before = self._layout.tiles(index).start
        tiles = np.ascontiguousarray(self._store.block(index)[-before % self._every :: self._every])
        tiles.flags.writeable = False
        return tiles

    def map(self, matrix: ArrayLike) -> Store:
        """Refuse: rows are mapped as they are read."""
        del matrix
        raise SettingError("A thinned store is read, not mapped.")

    def close(self) -> None:
        """Leave the records to the store they belong to."""


def can_thin(store: Store) -> bool:
    """Whether a store holds dense single records, whose tiles have fixed places."""
    return isinstance(store, MemoryStore | ScratchStore)


def thinned(store: Store, every: int) -> tuple[Store, float]:
    """What is read of a store, and the share of its records that is; all where it can't be less."""
    if every == 1 or not can_thin(store) or not store.length:
        return store, 1.0
    view = ThinnedStore(store, every)
    return view, view.read / store.length
