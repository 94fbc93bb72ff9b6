"""A store on disk for tables that do not fit into memory: a scratch file without a name.

Private: the file's content. The file has no name and mode 0600, and is gone once it is closed or
the process ends, however it ends.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import FileError
from tacit.rows.storage.linear_map import map_tiles, public_matrix
from tacit.rows.storage.store import Layout, Store, closed
from tacit.rows.storage.tiles import LANES


class ScratchFile:
    """An unnamed temporary file of bytes, written once from the start and read anywhere."""

    def __init__(self) -> None:
        self._file = _unnamed_file()

    def append(self, block: NDArray[Any]) -> None:
        """Write a block behind the others; close the file where that fails."""
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
        parts: list[bytes] = []
        while size > 0:
            part = os.pread(self._descriptor, size, offset)
            if not part:
                raise FileError("The scratch file is shorter than what was written to it.")
            parts.append(part)
            offset += len(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

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
        tiles = self._layout.tiles(index)
        columns = self._layout.columns
        size = self.dtype.itemsize * columns * LANES
        data = self._file.read(tiles.start * size, (tiles.stop - tiles.start) * size)
        return np.frombuffer(data, dtype=self.dtype).reshape(-1, columns, LANES)

    def map(self, matrix: ArrayLike) -> ScratchStore:
        """A new store in a scratch file of its own."""
        M = public_matrix(matrix, self.width)
        return ScratchStore.of(
            self._layout, (map_tiles(self.block(index), M) for index in range(self.block_count))
        )

    def close(self) -> None:
        """Free the space on disk."""
        self._file.close()


def _unnamed_file() -> Any:
    opened = None
    with contextlib.suppress(OSError):
        # Unbuffered, so that bytes reach the file in the order and size they are written.
        opened = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives as long as the store
    if opened is None:
        raise FileError("No scratch file could be made; set TMPDIR to a directory you may write.")
    return opened
