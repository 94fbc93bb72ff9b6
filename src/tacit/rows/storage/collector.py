"""Collecting prepared rows of unknown number: in memory up to a limit, beyond it on disk.

Private: the rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.storage.scratch_file import ScratchFile, ScratchStore
from tacit.rows.storage.store import Layout, MemoryStore, Store
from tacit.rows.storage.tiles import to_tiles


class Collector:
    """Fills blocks one after the other and turns them into a store.

    Guarantee
    ---------
    - At most `memory_limit` bytes and one block are held; the rest is in a scratch file.
    - `close` frees the scratch file unless `finish` handed it on.

    Parameters
    ----------
    layout
        Shape of the store to be; its length is counted here.
    memory_limit
        Bytes beyond which blocks go to a scratch file.

    Examples
    --------
    >>> collector = Collector(Layout(0, 1, np.dtype(np.float32), 64), memory_limit=1 << 20)
    >>> collector.room(2)[:] = [[0.5, 1.0], [0.25, 0.0]]
    >>> collector.advance(2)
    >>> collector.finish().length
    2
    """

    def __init__(self, layout: Layout, memory_limit: int) -> None:
        self._layout = layout
        self._limit = memory_limit
        self._block = np.empty((layout.block_rows, layout.columns), dtype=layout.dtype)
        self._filled = 0
        self._length = 0
        self._kept: list[NDArray[Any]] = []
        self._file: ScratchFile | None = None

    @property
    def length(self) -> int:
        """Number of rows so far."""
        return self._length

    def room(self, rows: int) -> NDArray[Any]:
        """Where the next rows belong: at least one and at most `rows` of them."""
        return self._block[self._filled : self._filled + rows]

    def advance(self, rows: int) -> None:
        """Count rows that were written to `room`."""
        self._filled += rows
        self._length += rows
        if self._filled == self._layout.block_rows:
            self._keep(to_tiles(self._block))
            self._filled = 0

    def finish(self) -> Store:
        """The store of all rows; the collector is empty afterwards."""
        if self._filled:
            self._keep(to_tiles(self._block[: self._filled]))
        layout = replace(self._layout, length=self._length)
        store: Store
        if self._file is None:
            store = MemoryStore(layout, self._kept)
        else:
            store = ScratchStore(layout, self._file)
        self._file = None
        self._kept = []
        return store

    def close(self) -> None:
        """Free what was collected."""
        self._kept = []
        if self._file is not None:
            self._file.close()

    def _keep(self, block: NDArray[Any]) -> None:
        if self._file is not None:
            self._file.append(block)
            return
        self._kept.append(block)
        if sum(kept.nbytes for kept in self._kept) > self._limit:
            self._file = ScratchFile()
            while self._kept:
                self._file.append(self._kept.pop(0))
