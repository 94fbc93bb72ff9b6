"""Records on disk, for tables that do not fit into memory: a scratch file without a name.

Private: the file's content. The file has no name and mode 0600, and is gone once it is closed or
the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import FileError
from tacit.rows.storage.memory_store import MemoryStore
from tacit.rows.storage.store import Layout, Rewrite, Store, closed
from tacit.rows.storage.tiles import LANES


class ScratchFile:
    """An unnamed temporary file of bytes, written once from the start and read anywhere."""

    def __init__(self) -> None:
        opened = None
        with contextlib.suppress(OSError):
            # Unbuffered, so that bytes reach the file in the order and size they are written.
            opened = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives with the store
        if opened is None:
            raise FileError(
                "No scratch file could be made; set TMPDIR to a directory you may write."
            )
        self._file: Any = opened

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
            raise FileError(
                "The scratch file could not be written; make room in the temporary directory, or "
                "set TMPDIR to a directory with more."
            )

    def read(self, offset: int, size: int) -> bytes:
        """Bytes from an offset; safe from several threads."""
        # pread rather than a memory map: mapped pages would count as memory in use.
        pieces: list[bytes] = []
        while size > 0:
            piece = os.pread(self._descriptor, size, offset)
            if not piece:
                raise FileError("The scratch file is shorter than what was written to it.")
            pieces.append(piece)
            offset += len(piece)
            size -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        """Close the file, which frees its space."""
        self._file.close()

    @property
    def _descriptor(self) -> int:
        # A closed descriptor's number may belong to another file by now.
        if self._file.closed:
            raise closed()
        descriptor: int = self._file.fileno()
        return descriptor


class ScratchStore(Store):
    """Records in a scratch file; a block is read when it is asked for.

    Guarantee
    ---------
    - The file has no name, is readable by its owner only, and frees its space when closed.
    - Memory in use does not grow with the table.
    """

    def __init__(self, layout: Layout, file: ScratchFile) -> None:
        super().__init__(layout)
        self._file = file

    @classmethod
    def of(cls, layout: Layout, blocks: Iterable[NDArray[Any]]) -> ScratchStore:
        """Store of blocks written one after the other; the file is closed where one fails."""
        file = ScratchFile()
        try:
            for block in blocks:
                file.append(block)
        except BaseException:
            file.close()
            raise
        return cls(layout, file)

    def block(self, index: int) -> NDArray[Any]:
        """Records of one block, in a fresh buffer."""
        tiles, columns = self.layout.tiles(index), self.layout.columns
        size = self.layout.dtype.itemsize * columns * LANES
        data = self._file.read(tiles.start * size, (tiles.stop - tiles.start) * size)
        return np.frombuffer(data, dtype=self.layout.dtype).reshape(-1, columns, LANES)

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> ScratchStore:
        """A new store in a scratch file of its own."""

        def image(index: int) -> NDArray[Any]:
            tiles = self.block(index)
            out = np.empty(tiles.shape, dtype=layout.dtype)
            rewrite(tiles, out)
            return out

        return ScratchStore.of(layout, map(image, range(self.block_count)))

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()


class BlockCollector:
    """Collects blocks of a table of unknown length: in memory up to a limit, beyond it on disk.

    Guarantee
    ---------
    - At most `memory_limit` bytes and one block are held; the rest is in a scratch file.
    - `close` frees the scratch file unless `finish` handed it on.
    """

    def __init__(self, layout: Layout, memory_limit: int) -> None:
        self._layout = layout
        self._limit = memory_limit
        self._held: list[NDArray[Any]] = []
        self._file: ScratchFile | None = None
        self.length = 0

    def append(self, tiles: NDArray[Any], records: int) -> None:
        """Take the next block; every one but the last is full."""
        self.length += records
        if self._file is not None:
            self._file.append(tiles)
            return
        self._held.append(tiles)
        if sum(block.nbytes for block in self._held) > self._limit:
            self._file = ScratchFile()
            while self._held:
                self._file.append(self._held.pop(0))

    def finish(self) -> Store:
        """The store of all records; the collector is empty afterwards."""
        layout = replace(self._layout, length=self.length)
        held, file = self._held, self._file
        self._held, self._file = [], None
        return MemoryStore(layout, held) if file is None else ScratchStore(layout, file)

    def close(self) -> None:
        """Free what was collected."""
        self._held = []
        if self._file is not None:
            self._file.close()
