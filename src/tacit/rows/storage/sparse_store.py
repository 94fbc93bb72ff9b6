"""The store of sparse records: blocks of non-zero features, as mechanisms read them.

Private: every block. Public: width, type and block size; the length where n is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import SettingError
from tacit.rows.storage.linear_map import map_tiles, public_matrix
from tacit.rows.storage.scratch_file import ScratchStore
from tacit.rows.storage.sparse_block import SparseBlock
from tacit.rows.storage.store import Layout, MemoryStore, Store, closed
from tacit.rows.storage.tiles import LANES

BLOCK_ROWS = 2048
"""Records in a block, whatever they hold; a pass over them outweighs its start by far."""
WIDEST_IMAGE = 4096
"""Coefficients up to which records may be mapped: an image is dense, and so is the map itself."""
MEMORY_LIMIT = 1 << 30
"""Bytes of an image that is kept in memory; beyond it a scratch file is used."""


class SparseStore(Store):
    """Sparse records in memory.

    Examples
    --------
    >>> starts, behind = np.array([0, 1, *[2] * 63]), np.zeros((1, 1, 64))
    >>> block = SparseBlock(starts, np.array([2, 0], np.int32), np.array([0.5, 1.0]), behind)
    >>> store = SparseStore(Layout(2, 3, np.dtype(np.float64), BLOCK_ROWS), [block])
    >>> store.block(0).dense(3)[0, :, :2].tolist()
    [[0.0, 1.0], [0.0, 0.0], [0.5, 0.0], [0.0, 0.0]]
    """

    def __init__(self, layout: Layout, blocks: Sequence[SparseBlock]) -> None:
        super().__init__(layout)
        self._blocks: tuple[SparseBlock, ...] | None = tuple(map(_frozen, blocks))

    def block(self, index: int) -> Any:
        """Records of one block, a `SparseBlock`; nothing is copied."""
        if self._blocks is None:
            raise closed()
        return self._blocks[index]

    def map(self, matrix: ArrayLike) -> Store:
        """A new, dense store: the image of a sparse record has no zeros to leave out.

        Wide records are refused, by their public width. Images that are large in all go to a
        scratch file.
        """
        self.require_mappable()
        M = public_matrix(matrix, self.width)
        layout = self._layout
        size = layout.tile_count * layout.columns * LANES * layout.dtype.itemsize
        if size > MEMORY_LIMIT:
            return ScratchStore.of(layout, self._images(M))
        return MemoryStore(layout, [*self._images(M)])

    def require_mappable(self) -> None:
        """Refuse records too wide to be mapped, by their public width."""
        if self.width > WIDEST_IMAGE:
            raise SettingError(
                f"Sparse records of more than {WIDEST_IMAGE} columns are not mapped to other "
                'coordinates, where they would be dense. Use solver="gradient".'
            )

    def close(self) -> None:
        """Drop the records."""
        self._blocks = None

    def _images(self, matrix: NDArray[np.float64]) -> Iterator[NDArray[Any]]:
        for index in range(self.block_count):
            tiles = self.block(index).dense(self.width)
            yield map_tiles(tiles, matrix, tiles)


def _frozen(block: SparseBlock) -> SparseBlock:
    views: list[Any] = [part.view() for part in block]
    for view in views:
        view.flags.writeable = False
    return SparseBlock(*views)
