"""Sparse records in memory: blocks of non-zero features, and the outcome that every record has.

Private: every block. Public: width, type and block size; the length where n is public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.errors import SettingError
from tacit.rows.storage.memory_store import MemoryStore
from tacit.rows.storage.scratch_store import ScratchStore
from tacit.rows.storage.store import Layout, Rewrite, Store
from tacit.rows.storage.tiles import LANES, Integers, readonly

BLOCK_ROWS = 2048
"""Records in a block, whatever they hold; a pass over them outweighs its start by far."""
WIDEST_IMAGE = 4096
"""Coefficients up to which records may be mapped: an image is dense, and so is the map itself."""
MEMORY_LIMIT = 1 << 30
"""Bytes of an image that is kept in memory; beyond it a scratch file is used."""


class SparseBlock(NamedTuple):
    """Whole tiles of 64 records, their features sparse; it takes the place of an array of tiles.

    Record r is lane r % 64 of tile r // 64. Its features are values[starts[r] : starts[r + 1]], in
    the columns that `indices` has at the same places, in increasing order, the intercept last; all
    others are zero. Records that fill up the last tile have no features. `outcome` (tile, 1 +
    weighted + shifted, 64) has the response, and weight and offset where there are any.
    """

    starts: Integers
    indices: NDArray[np.int32]
    values: NDArray[Any]
    outcome: NDArray[Any]

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return len(self.outcome)

    def part(self, first: int, stop: int) -> SparseBlock:
        """Tiles first … stop - 1, as many as there are; nothing is copied."""
        return self._replace(
            starts=self.starts[first * LANES : stop * LANES + 1], outcome=self.outcome[first:stop]
        )

    def frozen(self) -> SparseBlock:
        """The same records, read-only."""
        return SparseBlock(*(readonly(array) for array in self))

    def dense(self, width: int) -> NDArray[Any]:
        """The same records as tiles (tile, column, 64), zeros written out."""
        columns = width + self.outcome.shape[1]
        tiles = np.zeros((self.tiles, columns, LANES), dtype=self.values.dtype)
        tiles[:, width:] = self.outcome
        _scatter(self.starts, self.indices, self.values, tiles)
        return tiles


class SparseStore(Store):
    """Sparse records in memory."""

    def __init__(self, layout: Layout, blocks: Sequence[SparseBlock]) -> None:
        super().__init__(layout, (block.frozen() for block in blocks))

    def require_mappable(self) -> None:
        """Refuse records too wide to be mapped, by their public width."""
        if self.width > WIDEST_IMAGE:
            raise SettingError(
                f"Sparse records of more than {WIDEST_IMAGE} columns are not mapped to other "
                'coordinates, where they would be dense. Use solver="gradient".'
            )

    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Store:
        """A new, dense store: an image has no zeros to leave out. A large one is on disk."""
        size = layout.tile_count * layout.columns * LANES * layout.dtype.itemsize
        if size > MEMORY_LIMIT:
            return ScratchStore.of(layout, self._images(rewrite))
        return MemoryStore(layout, [*self._images(rewrite)])

    def _images(self, rewrite: Rewrite) -> Iterator[NDArray[Any]]:
        for index in range(self.block_count):
            tiles = self.block(index).dense(self.width)
            rewrite(tiles, tiles)
            yield tiles


@compiled
def _scatter(
    starts: Integers, indices: NDArray[np.int32], values: NDArray[Any], tiles: NDArray[Any]
) -> None:
    for r in range(starts.shape[0] - 1):
        for k in range(starts[r], starts[r + 1]):
            tiles[r // LANES, indices[k], r % LANES] = values[k]
