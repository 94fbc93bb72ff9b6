"""Tiles: how prepared records lie in memory. Private: the records.

A tile holds 64 records side by side: an array (column, lane), the response its last column. Passes
over the columns then run over 64 records at once, each record's own sum in the order of its
columns. A last tile that is not full is filled up with zero records, which contribute nothing to
any sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled

LANES = 64  # records in a tile


def tile_count(rows: int) -> int:
    """Tiles that hold so many records.

    Examples
    --------
    >>> tile_count(65)
    2
    """
    return -(-rows // LANES)


def to_tiles(rows: NDArray[Any], tiles: NDArray[Any] | None = None) -> NDArray[Any]:
    """Lay records (row, column) out as tiles (tile, column, lane).

    Examples
    --------
    >>> to_tiles(np.ones((2, 3))).shape
    (1, 3, 64)
    """
    if tiles is None:
        tiles = np.empty((tile_count(len(rows)), rows.shape[1], LANES), dtype=rows.dtype)
    view = rows.view()
    view.flags.writeable = False
    _fill(view, tiles)
    return tiles


def to_rows(tiles: NDArray[Any], length: int) -> NDArray[Any]:
    """Lay tiles out as `length` records (row, column); the inverse of `to_tiles`."""
    return np.ascontiguousarray(tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:length])


@compiled
def _fill(rows: NDArray[Any], tiles: NDArray[Any]) -> None:
    length, columns = rows.shape
    for t in range(tiles.shape[0]):
        count = min(LANES, length - t * LANES)
        for j in range(columns):
            for lane in range(count):
                tiles[t, j, lane] = rows[t * LANES + lane, j]
            for lane in range(count, LANES):
                tiles[t, j, lane] = 0.0
