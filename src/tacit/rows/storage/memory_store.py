"""Records in memory: the store, its secret subsample, and the buffer it leaves for the next fit.

Private: the records, and which of them are in the subsample. A store wipes its records when it is
closed, and a buffer is wiped where filling it fails.

The subsample is a Bernoulli(1/4) sample, drawn once per fit. Its records stand first in every
block, so that to read it is to read less. Membership goes with the record and not with its place:
in a table sorted by content, one replaced record shifts the places of many others.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.contract.query import PART
from tacit.errors import SettingError
from tacit.rows.storage.store import (
    Layout,
    Rewrite,
    Store,
    closed,
    default_block_rows,
    require_dtype,
)
from tacit.rows.storage.tiles import LANES, Integers, readonly, tile_count, to_tiles

THREADS = 2
"""Threads that write blocks."""
SMALLEST, LARGEST = 16 << 20, 256 << 20
"""Bytes of a buffer that is worth keeping, and of one that may be kept."""

Draw = Callable[[int], NDArray[np.uint8]]
"""Fresh independent uniform bytes, one a record, from the source of all noise."""

_pooled: list[NDArray[np.uint8]] = []
_lock = threading.Lock()
_UNUSED = 2
"""References to a buffer that no array uses: the list's, and that of the question."""


def pooled_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of any content, in the buffer of the last fit where that is free and large enough.

    Fresh memory can cost more than the fit.

    Guarantee
    ---------
    - No two arrays share a buffer while either is in use.
    - At most one buffer is kept, of at most 256 MiB.
    - Never blocks: where the pool is busy, also in a forked process, fresh memory is used.
    """
    size = math.prod(shape) * dtype.itemsize
    if not _lock.acquire(blocking=False):
        return np.empty(shape, dtype=dtype)
    try:
        if _pooled and _pooled[0].nbytes >= size and sys.getrefcount(_pooled[0]) == _UNUSED:
            buffer = _pooled[0]
        else:
            buffer = np.empty(size, dtype=np.uint8)
            if SMALLEST <= size <= LARGEST:
                _pooled[:] = [buffer]
        # Made under the lock: from here on the buffer is in use, as its references tell.
        return buffer[:size].view(dtype).reshape(shape)
    finally:
        _lock.release()


def empty_tiles(layout: Layout) -> NDArray[Any]:
    """Memory for all tiles of a store."""
    return pooled_array((layout.tile_count, layout.columns, LANES), layout.dtype)


def subsample_first(drawn: NDArray[np.uint8]) -> tuple[Integers, int]:
    """The order that puts the subsample's records first, and how many these are."""
    inside = drawn < 256 // PART
    first = np.flatnonzero(inside)
    return np.concatenate([first, np.flatnonzero(~inside)]), len(first)


class MemoryStore(Store):
    """Dense records in memory.

    `subsample` has the number of the subsample's records in every block, which stand first there;
    None where no subsample was drawn. Secret.

    Guarantee
    ---------
    - Where new tiles are being written and that fails, what was written is in no buffer that is
      kept.
    """

    def __init__(
        self, layout: Layout, blocks: Sequence[NDArray[Any]], subsample: Integers | None = None
    ) -> None:
        self._writable: Sequence[NDArray[Any]] | None = [*map(np.ascontiguousarray, blocks)]
        super().__init__(layout, map(readonly, self._writable))
        self.subsample = subsample

    @classmethod
    def of(
        cls,
        table: NDArray[Any],
        block_rows: int | None = None,
        *,
        weighted: bool = False,
        shifted: bool = False,
        drawn: NDArray[np.uint8] | None = None,
    ) -> MemoryStore:
        """Store of one prepared table (row, column); `drawn` are the bytes of its records."""
        dtype = require_dtype(table.dtype)
        outcome = 1 + weighted + shifted
        width = table.shape[1] - outcome
        rows = default_block_rows(width, dtype, outcome) if block_rows is None else block_rows
        layout = Layout(len(table), width, dtype, rows, weighted, shifted)
        if drawn is None:
            return cls.of_tiles(layout, to_tiles(table))
        starts = range(0, len(table), rows)
        found = [subsample_first(drawn[start : start + rows]) for start in starts]
        order = np.concatenate([start + own for start, (own, _) in zip(starts, found, strict=True)])
        return cls.of_tiles(layout, to_tiles(table[order]), np.array([count for _, count in found]))

    @classmethod
    def of_tiles(
        cls, layout: Layout, tiles: NDArray[Any], subsample: Integers | None = None
    ) -> MemoryStore:
        """Store of all tiles in one array; its blocks are slices."""
        blocks = [tiles[layout.tiles(index)] for index in range(layout.block_count)]
        return cls(layout, blocks, subsample)

    def subsampled(self, every: int) -> tuple[Store, float]:
        """The subsample, where one was drawn and not every record is asked for."""
        if every == 1 or self.subsample is None:
            return self, 1.0
        return SubsampledStore(self), 1 / PART

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> MemoryStore:
        """A new store in memory; records of a block stay in their order."""
        tiles = empty_tiles(layout)
        self._write(rewrite, [tiles[layout.tiles(index)] for index in range(self.block_count)])
        return MemoryStore.of_tiles(layout, tiles, self.subsample)

    def recast(self, matrix: ArrayLike) -> MemoryStore:
        """Return the store in other coordinates, in the same memory."""
        mapping = self._mapping(matrix)
        if self._writable is None:
            raise closed()
        blocks, self._writable = self._writable, None
        try:
            self._write(mapping, blocks)
        finally:
            self.close()
        return MemoryStore(self.layout, blocks, self.subsample)

    def _write(self, rewrite: Rewrite, blocks: Sequence[NDArray[Any]]) -> None:
        try:
            with ThreadPoolExecutor(THREADS) as pool:
                # Asking for the results raises what a worker raised.
                list(pool.map(rewrite, map(self.block, range(self.block_count)), blocks))
        except BaseException:
            for block in blocks:
                block.fill(0)
            raise

    def close(self) -> None:
        """Wipe the records and drop them."""
        if self._writable is not None:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(lambda block: block.fill(0), self._writable))
        super().close()
        self._writable = None


class SubsampledStore(Store):
    """The subsample of a store; it is read, not mapped, and closed with the store.

    Guarantee
    ---------
    - Whether a record is in the subsample depends on its own byte only: not on its place, on the
      other records or on what it holds.
    """

    def __init__(self, store: MemoryStore) -> None:
        if store.subsample is None:
            raise SettingError("No subsample was drawn from the records of this store.")
        super().__init__(store.layout)
        self._store = store
        self._counts: Integers = store.subsample

    @property
    def read(self) -> int:
        """Number of records in the subsample. Secret."""
        return int(self._counts.sum())

    @property
    def padding(self) -> int:
        """Zero records that fill up the last tile of each block, where they are counted."""
        return 0 if self.layout.weighted else int((-self._counts % LANES).sum())

    def block(self, index: int) -> NDArray[Any]:
        """Those records of a block that are in the subsample, which come first."""
        count = int(self._counts[index])
        tiles = self._store.block(index)[: tile_count(count)].copy()
        if count % LANES:
            tiles[-1, :, count % LANES :] = 0
        return readonly(tiles)

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Never:
        """Refuse: rows are mapped as they are read."""
        del layout, rewrite
        raise SettingError("A subsampled store is read, not mapped.")
