"""A block of sparse records: the non-zero features of each, and the tail that every record has.

Private: the block. It takes the place of an array of tiles wherever a pass reads records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.rows.storage.tiles import LANES


class SparseBlock(NamedTuple):
    """Whole tiles of 64 records, their features sparse.

    Record r has the features values[starts[r] : starts[r + 1]] in the columns that `indices` has
    at the same places, in increasing order, the intercept last; all others are zero. Record r is
    lane r % 64 of tile r // 64. Records that fill up the last tile have no features.

    Parameters
    ----------
    starts
        int64, one more than there are records.
    indices
        int32, columns of the stored features.
    values
        float32 or float64, as long as `indices`.
    behind
        (tile, 1 + weighted + shifted, 64): response, and weight and offset where there are any.
    """

    starts: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[Any]
    behind: NDArray[Any]

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return len(self.behind)

    def part(self, first: int, stop: int) -> SparseBlock:
        """Tiles first … stop - 1, as many as there are; nothing is copied."""
        return self._replace(
            starts=self.starts[first * LANES : stop * LANES + 1], behind=self.behind[first:stop]
        )

    def dense(self, width: int) -> NDArray[Any]:
        """The same records as tiles (tile, column, 64), zeros written out.

        Examples
        --------
        >>> starts = np.array([0, 1, *[3] * 63])
        >>> indices, values = np.array([2, 0, 2], np.int32), np.array([1.0, 0.5, 1.0])
        >>> block = SparseBlock(starts, indices, values, np.zeros((1, 1, 64)))
        >>> block.dense(3)[0, :, :2].tolist()
        [[0.0, 0.5], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
        """
        columns = width + self.behind.shape[1]
        tiles = np.zeros((self.tiles, columns, LANES), dtype=self.values.dtype)
        tiles[:, width:] = self.behind
        _scatter(self.starts, self.indices, self.values, tiles)
        return tiles


def tiles_in(block: Any) -> int:
    """Number of tiles of a block in either storage."""
    return block.tiles if isinstance(block, SparseBlock) else len(block)


def tile_parts(block: Any, tiles: int) -> Iterator[Any]:
    """Parts of at most so many tiles of a block in either storage; nothing is copied."""
    for first in range(0, tiles_in(block), tiles):
        stop = first + tiles
        yield block.part(first, stop) if isinstance(block, SparseBlock) else block[first:stop]


def dense_tiles(block: Any, width: int) -> NDArray[Any]:
    """Tiles (tile, column, 64) of a block in either storage."""
    tiles: NDArray[Any] = block.dense(width) if isinstance(block, SparseBlock) else block
    return tiles


@compiled
def _scatter(
    starts: NDArray[np.int64],
    indices: NDArray[np.int32],
    values: NDArray[Any],
    tiles: NDArray[Any],
) -> None:
    for r in range(starts.shape[0] - 1):
        for k in range(starts[r], starts[r + 1]):
            tiles[r // LANES, indices[k], r % LANES] = values[k]
