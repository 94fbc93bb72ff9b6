"""Records one by one: dense in memory or in a scratch file, with a secret subsample, or sparse.

Private: the records, and which of them are in the subsample: a Bernoulli(1/4) sample, drawn once per fit, whose records
stand first in every block, to be read alone. Membership goes with the record and not with its place: in a table sorted
by content, one replaced record shifts the places of many others. A closed store in memory is wiped.
"""

from __future__ import annotations

import contextlib
import math
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.contract.checked_query import PART
from tacit.errors import FileError, SettingError
from tacit.kernel_compilation import compiled
from tacit.rows.storage import store as base
from tacit.rows.storage.store import Layout, Rewrite, Store
from tacit.rows.storage.tiles import LANES, Integers, dense_tiles, readonly, tile_count

THREADS = 2  # that write blocks
SMALLEST, LARGEST = 16 << 20, 256 << 20
"""Bytes of a buffer that is worth keeping, and of one that may be kept."""
BLOCK_ROWS = 2048
"""Records in a block, whatever they hold; a pass over them outweighs its start by far."""
WIDEST_IMAGE = 4096
"""Coefficients up to which records may be mapped: an image is dense, and so is the map itself."""
MEMORY_LIMIT = 1 << 30
"""Bytes of an image that is kept in memory; beyond it a scratch file is used."""

Draw = Callable[[int], NDArray[np.uint8]]
"""Fresh independent uniform bytes, one a record, from the source of all noise."""

_pooled: list[NDArray[np.uint8]] = []
_lock = threading.Lock()


def pooled_array(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of any content, in the buffer of the last fit if free: fresh memory is dear.

    Guarantee: no two arrays share a buffer while either is in use. At most one buffer is kept, of at most 256 MiB.
    Never blocks: where the pool is busy, also in a forked process, fresh memory is used.
    """
    size = math.prod(shape) * dtype.itemsize
    if not _lock.acquire(blocking=False):
        return np.empty(shape, dtype=dtype)
    try:
        # A buffer that no array uses has two references: the list's, and that of the question.
        if _pooled and _pooled[0].nbytes >= size and sys.getrefcount(_pooled[0]) == 2:
            buffer = _pooled[0]
        else:
            buffer = np.empty(size, dtype=np.uint8)
            if SMALLEST <= size <= LARGEST:
                _pooled[:] = [buffer]
        # Made under the lock: from here on the buffer is in use, as its references tell.
        return buffer[:size].view(dtype).reshape(shape)
    finally:
        _lock.release()


def subsample_first(drawn: NDArray[np.uint8]) -> tuple[Integers, int]:
    """The order that puts the subsample's records first, and how many these are."""
    inside = drawn < 256 // PART
    first = np.flatnonzero(inside)
    return np.concatenate([first, np.flatnonzero(~inside)]), len(first)


class MemoryStore(Store):
    """Dense records in memory; `subsample` has how many of each block are in it, which is secret.

    Guarantee: where new tiles are being written and that fails, what was written is in no buffer that is kept.
    """

    def __init__(self, layout: Layout, blocks: Sequence[NDArray[Any]], subsample: Integers | None = None) -> None:
        self._writable: Sequence[NDArray[Any]] | None = [*map(np.ascontiguousarray, blocks)]
        super().__init__(layout, map(readonly, self._writable))
        self.subsample = subsample

    @classmethod
    def of_tiles(cls, layout: Layout, tiles: NDArray[Any], subsample: Integers | None = None) -> MemoryStore:
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
        tiles = pooled_array(layout.shape, layout.dtype)
        self._write(rewrite, [tiles[layout.tiles(index)] for index in range(self.block_count)])
        return MemoryStore.of_tiles(layout, tiles, self.subsample)

    def recast(self, matrix: ArrayLike) -> MemoryStore:
        """Return the store in other coordinates, in the same memory."""
        mapping = self._mapping(matrix)
        if self._writable is None:
            raise base.closed()
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

    Guarantee: whether a record is in it depends on its own byte only, not on its place, its content or other records.
    """

    def __init__(self, store: MemoryStore) -> None:
        if store.subsample is None:
            raise SettingError("No subsample was drawn from the records of this store.")
        super().__init__(store.layout)
        self._store = store
        self._counts: Integers = store.subsample

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


class ScratchStore(Store):
    """Records in a scratch file, written once from the start; a block is read when asked for.

    Guarantee: the file has no name, is readable by its owner only, and frees its space when it is closed or the process
    ends, however it ends. Memory in use does not grow with the table.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._file: Any = None
        with contextlib.suppress(OSError):
            # Unbuffered, so that bytes reach the file in the order and size they are written.
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives with the store
        if self._file is None:
            raise FileError("No scratch file could be made; set TMPDIR to a directory you may write.")

    @property
    def _descriptor(self) -> int:
        # A closed descriptor's number may belong to another file by now.
        if self._file.closed:
            raise base.closed()
        return int(self._file.fileno())

    def append(self, block: NDArray[Any]) -> None:
        """Write a block at the end; close the file where that fails."""
        rest = memoryview(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)
        full = False
        while rest and not full:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                full = True
        if full:
            self.close()
            room = "make room in the temporary directory, or set TMPDIR to a directory with more"
            raise FileError(f"The scratch file could not be written; {room}.")

    def block(self, index: int) -> NDArray[Any]:
        """Records of one block, in a fresh buffer."""
        tiles, columns = self.layout.tiles(index), self.layout.columns
        size = self.layout.dtype.itemsize * columns * LANES
        data, offset, stop = b"", tiles.start * size, tiles.stop * size
        while offset < stop:
            # pread rather than a memory map: mapped pages would count as memory in use.
            piece = os.pread(self._descriptor, stop - offset, offset)
            if not piece:
                raise FileError("The scratch file is shorter than what was written to it.")
            offset, data = offset + len(piece), data + piece if data else piece
        return np.frombuffer(data, dtype=self.layout.dtype).reshape(-1, columns, LANES)

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Store:
        """A new store in a scratch file of its own."""
        return collected(layout, dense_images(self, layout, rewrite), 0)

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()


def dense_images(store: Store, layout: Layout, rewrite: Rewrite) -> Iterator[NDArray[Any]]:
    """Images of the blocks of a store, one after the other, in arrays of their own."""
    for index in range(store.block_count):
        tiles = dense_tiles(store.block(index), store.width)
        out = np.empty(tiles.shape, dtype=layout.dtype)
        rewrite(tiles, out)
        yield out


def collected(layout: Layout, blocks: Iterable[NDArray[Any]], memory_limit: int) -> Store:
    """Store of blocks that come one by one: in memory up to a limit, beyond it on disk.

    Guarantee: at most `memory_limit` bytes and one block are held; the scratch file is closed where a block fails.
    """
    held: list[NDArray[Any]] = []
    scratch: ScratchStore | None = None
    try:
        for block in blocks:
            held.append(block)
            if scratch is None and sum(waiting.nbytes for waiting in held) > memory_limit:
                scratch = ScratchStore(layout)
            while scratch is not None and held:
                scratch.append(held.pop(0))
    except BaseException:
        if scratch is not None:
            scratch.close()
        raise
    return MemoryStore(layout, held) if scratch is None else scratch


class SparseBlock(NamedTuple):
    """Whole tiles of 64 records, their features sparse; it takes the place of an array of tiles.

    Record r is lane r % 64 of tile r // 64. Its features are values[starts[r] : starts[r + 1]], in the columns in
    `indices`, which increase, the intercept last. Records that fill up the last tile have no features. `outcome` (tile,
    1 + weighted + shifted, 64) has the response, and weight and offset where there are any.
    """

    starts: Integers
    indices: NDArray[np.int32]
    values: NDArray[Any]
    outcome: NDArray[Any]

    def part(self, first: int, stop: int) -> SparseBlock:
        """Tiles first … stop - 1, as many as there are; nothing is copied."""
        return self._replace(starts=self.starts[first * LANES : stop * LANES + 1], outcome=self.outcome[first:stop])

    def dense(self, width: int) -> NDArray[Any]:
        """The same records as tiles (tile, column, 64), zeros written out."""
        tiles = np.zeros((len(self.outcome), width + self.outcome.shape[1], LANES), dtype=self.values.dtype)
        tiles[:, width:] = self.outcome
        _scatter(self.starts, self.indices, self.values, tiles)
        return tiles


class SparseStore(Store):
    """Sparse records in memory."""

    def __init__(self, layout: Layout, blocks: Sequence[SparseBlock]) -> None:
        super().__init__(layout, (SparseBlock(*(readonly(array) for array in block)) for block in blocks))

    def require_mappable(self) -> None:
        """Refuse records too wide to be mapped, by their public width."""
        if self.width > WIDEST_IMAGE:
            dense = "columns are not mapped to other coordinates, where they would be dense"
            raise SettingError(f'Sparse records of more than {WIDEST_IMAGE} {dense}. Use solver="gradient".')

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Store:
        """A new, dense store: an image has no zeros to leave out. A large one is on disk."""
        return collected(layout, dense_images(self, layout, rewrite), MEMORY_LIMIT)


@compiled
def _scatter(starts: Integers, indices: NDArray[np.int32], values: NDArray[Any], tiles: NDArray[Any]) -> None:
    for r in range(starts.shape[0] - 1):
        for k in range(starts[r], starts[r + 1]):
            tiles[r // LANES, indices[k], r % LANES] = values[k]
