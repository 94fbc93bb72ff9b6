"""The store: prepared records in blocks, as mechanisms read them.

Private: every block. Public: width, type and block size; the length where n is public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.design.design import Design
from tacit.errors import DataError, SettingError
from tacit.rows.storage.buffer_pool import room_for, wiped_on_failure
from tacit.rows.storage.linear_map import map_tiles, public_matrix
from tacit.rows.storage.subsampling import ordered
from tacit.rows.storage.tiles import LANES, tile_count, to_tiles

BLOCK_BYTES = 4 << 20
THREADS = 2


@dataclass(frozen=True)
class Layout:
    """Shape of a store and how it is cut into blocks, by public facts and the length alone.

    Examples
    --------
    >>> Layout(length=300, width=3, dtype=np.dtype(np.float32), block_rows=128).block_count
    3
    """

    length: int
    width: int
    dtype: np.dtype[Any]
    block_rows: int
    weighted: bool = False
    shifted: bool = False
    opened: Design | None = None
    """The design of records kept as they came, because bounds are yet to be found."""

    @property
    def columns(self) -> int:
        """Columns of a tile: features, response, and weight and offset where there are any."""
        return self.width + 1 + self.weighted + self.shifted

    @property
    def block_count(self) -> int:
        """Number of blocks; all have `block_rows` records, whole tiles, but the last."""
        return -(-self.length // self.block_rows)

    @property
    def tile_count(self) -> int:
        """Number of tiles; the last may be filled up with zero records."""
        return tile_count(self.length)

    def tiles(self, index: int) -> slice:
        """Tiles of a block."""
        start = index * (self.block_rows // LANES)
        return slice(start, min(start + self.block_rows // LANES, self.tile_count))


def default_block_rows(width: int, dtype: np.dtype[Any], behind: int = 1) -> int:
    """Records in a block of about 4 MiB: whole tiles, of features and columns behind them."""
    return LANES * max(1, BLOCK_BYTES // (dtype.itemsize * (width + behind) * LANES))


def empty_tiles(layout: Layout) -> NDArray[Any]:
    """Room for all tiles of a store."""
    return room_for((layout.tile_count, layout.columns, LANES), layout.dtype)


def require_dtype(dtype: Any) -> np.dtype[Any]:
    """A store's type: float32 or float64."""
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind not in {np.dtype(np.float32), np.dtype(np.float64)}:
        raise SettingError(f"dtype must be float32 or float64; got {kind.name}.")
    return kind


class Store(ABC):
    """Records (features…, intercept, response, weight?, offset?), read in tiles of 64.

    Guarantee
    ---------
    - `block` is safe to call from several threads; a block is C-contiguous and read-only.
    - The records do not depend on how they are cut into blocks, here or after `map`.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    @property
    def length(self) -> int:
        """Number of records."""
        return self._layout.length

    @property
    def padding(self) -> int:
        """Zero records that fill up the last tile."""
        return -self.length % LANES

    @property
    def width(self) -> int:
        """Number of coefficients: columns of a block less those behind the features."""
        return self._layout.width

    @property
    def weighted(self) -> bool:
        """Whether a weight stands behind the response."""
        return self._layout.weighted

    @property
    def shifted(self) -> bool:
        """Whether an offset of the margin stands behind response and weight."""
        return self._layout.shifted

    @property
    def opened(self) -> Design | None:
        """The design by which the records are kept as they came; None once they are prepared."""
        return self._layout.opened

    @property
    def unit_rows(self) -> int:
        """How many records of one unit there may be; public."""
        return 1

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self._layout.dtype

    @property
    def block_rows(self) -> int:
        """Records in a block, the last one aside."""
        return self._layout.block_rows

    @property
    def block_count(self) -> int:
        """Number of blocks."""
        return self._layout.block_count

    @abstractmethod
    def block(self, index: int) -> NDArray[Any]:
        """Tiles of one block, (tile, columns, 64)."""

    @abstractmethod
    def map(self, matrix: ArrayLike) -> Store:
        """A new store with features M'u in place of u, for a public matrix M."""

    def recast(self, matrix: ArrayLike) -> Store:
        """Return the store in other coordinates, as `map` says; it is given up for them."""
        image = self.map(matrix)
        self.close()
        return image

    @abstractmethod
    def close(self) -> None:
        """Give the records up; no block can be read afterwards."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def closed() -> DataError:
    """The error for reading a store after it was closed."""
    return DataError("These records were given up; open the table again.")


class MemoryStore(Store):
    """Records in memory.

    Examples
    --------
    >>> store = MemoryStore.of(np.array([[0.5, 1.0, 0.0], [0.25, 1.0, 1.0]]))
    >>> store.width, store.block(0)[0, :, :2].tolist()
    (2, [[0.5, 0.25], [1.0, 1.0], [0.0, 1.0]])

    Attributes
    ----------
    lots
        Where the records of the part stand first in every block (`rows.lots`): how many they are,
        for each block. Secret.
    """

    def __init__(
        self,
        layout: Layout,
        blocks: Sequence[NDArray[Any]],
        lots: NDArray[np.int64] | None = None,
    ) -> None:
        super().__init__(layout)
        self.lots = lots
        self._writable: Sequence[NDArray[Any]] | None = [*map(np.ascontiguousarray, blocks)]
        self._blocks: tuple[NDArray[Any], ...] | None = tuple(map(_frozen, self._writable))

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
        """Store of one prepared table (row, column); its last columns are weight and offset.

        `drawn` are the lots of its records; those of the part come first in a block.
        """
        dtype = require_dtype(table.dtype)
        behind = 1 + weighted + shifted
        width = table.shape[1] - behind
        rows = default_block_rows(width, dtype, behind) if block_rows is None else block_rows
        layout = Layout(len(table), width, dtype, rows, weighted, shifted)
        if drawn is None:
            return cls.of_tiles(layout, to_tiles(table))
        starts = range(0, len(table), rows)
        found = [ordered(drawn[start : start + rows]) for start in starts]
        order = np.concatenate([start + own for start, (own, _) in zip(starts, found, strict=True)])
        below = np.array([counts for _, counts in found])
        return cls.of_tiles(layout, to_tiles(table[order]), below)

    @classmethod
    def of_tiles(
        cls, layout: Layout, tiles: NDArray[Any], lots: NDArray[np.int64] | None = None
    ) -> MemoryStore:
        """Store of all tiles in one array; its blocks are slices."""
        blocks = [tiles[layout.tiles(index)] for index in range(layout.block_count)]
        return cls(layout, blocks, lots)

    def block(self, index: int) -> NDArray[Any]:
        """Records of one block; nothing is copied."""
        if self._blocks is None:
            raise closed()
        return self._blocks[index]

    def map(self, matrix: ArrayLike) -> MemoryStore:
        """A new store in memory."""
        M = public_matrix(matrix, self.width)
        tiles = empty_tiles(self._layout)
        self._mapped(M, [tiles[self._layout.tiles(index)] for index in range(self.block_count)])
        return MemoryStore.of_tiles(self._layout, tiles, self.lots)

    def recast(self, matrix: ArrayLike) -> MemoryStore:
        """Return the store in other coordinates, in the same memory."""
        M = public_matrix(matrix, self.width)
        if self._writable is None:
            raise closed()
        places, self._writable = self._writable, None
        try:
            self._mapped(M, places)
        finally:
            self.close()
        return MemoryStore(self._layout, places, self.lots)

    def _mapped(self, matrix: NDArray[np.float64], places: Sequence[NDArray[Any]]) -> None:
        with wiped_on_failure(places), ThreadPoolExecutor(THREADS) as pool:
            # Asking for the results raises what a worker raised.
            list(
                pool.map(
                    lambda index: map_tiles(self.block(index), matrix, places[index]),
                    range(self.block_count),
                )
            )

    def close(self) -> None:
        """Wipe the records and drop them."""
        if self._writable is not None:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(lambda block: block.fill(0), self._writable))
        self._blocks = self._writable = None


def _frozen(block: NDArray[Any]) -> NDArray[Any]:
    view = block.view()
    view.flags.writeable = False
    return view
