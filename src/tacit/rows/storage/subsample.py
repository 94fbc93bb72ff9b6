"""A part of a store, by the lots of its records: enough for a rough look at a large table.

Private: the records. Public: the chance of a record to be in the part. Secret: which are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.contract.query import PART
from tacit.errors import SettingError
from tacit.rows.storage.store import MemoryStore, Store
from tacit.rows.storage.tiles import LANES, tile_count


class ThinnedStore(Store):
    """The records of the part, of a store where they stand first.

    Guarantee
    ---------
    - Whether a record is in the part depends on its own lot only: not on its place, on the other
      records or on what it holds.

    Examples
    --------
    >>> store = MemoryStore.of(np.ones((3, 2)), drawn=np.array([9, 200, 100], dtype=np.uint8))
    >>> ThinnedStore(store).read
    1
    """

    def __init__(self, store: MemoryStore) -> None:
        if store.lots is None:
            raise SettingError("Records of this storage cannot be thinned.")
        super().__init__(store._layout)  # noqa: SLF001 - a view of the same records
        self._store = store
        self._counts: NDArray[np.int64] = store.lots

    @property
    def read(self) -> int:
        """Number of records in the part. Secret."""
        return int(self._counts.sum())

    @property
    def padding(self) -> int:
        """Zero records that fill up the last tile of each block."""
        return int((-self._counts % LANES).sum())

    def block(self, index: int) -> NDArray[Any]:
        """Those records of a block that are in the part, which come first."""
        count = int(self._counts[index])
        tiles = self._store.block(index)[: tile_count(count)].copy()
        if count % LANES:
            tiles[-1, :, count % LANES :] = 0
        tiles.flags.writeable = False
        return tiles

    def map(self, matrix: ArrayLike) -> Store:
        """Refuse: rows are mapped as they are read."""
        del matrix
        raise SettingError("A thinned store is read, not mapped.")

    def close(self) -> None:
        """Leave the records to the store they belong to."""


def thinned(store: Store, every: int) -> tuple[Store, float]:
    """What is read of a store, and the chance of a record to be; all where there are no lots."""
    if every == 1 or not isinstance(store, MemoryStore) or store.lots is None:
        return store, 1.0
    return ThinnedStore(store), 1 / PART
