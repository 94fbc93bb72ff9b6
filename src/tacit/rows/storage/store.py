"""The store: prepared records in blocks, which answers integer sums over them.

Private: every block. Public: width, type and block size; the length where n is public.
"""

from __future__ import annotations

import functools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Never, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.design.design import Design
from tacit.errors import DataError, SettingError
from tacit.rows.storage.tiles import LANES, Integers, RowMap, map_tiles, public_matrix, tile_count

BLOCK_BYTES = 4 << 20

Rewrite = Callable[[NDArray[Any], NDArray[Any]], object]
"""Writes the image of some tiles into tiles of the same shape."""


@dataclass(frozen=True)
class Layout:
    """Shape of a store and how it is cut into blocks, by public facts and the length alone.

    `length` is the number of units: of records, or of persons where these are grouped by person and
    have at most `max_unit_rows` each. `opened` is the design of raw records, without bounds yet.
    """

    length: int
    width: int
    dtype: np.dtype[Any]
    block_rows: int
    weighted: bool = False
    shifted: bool = False
    opened: Design | None = None
    max_unit_rows: int | None = None

    @property
    def columns(self) -> int:
        """Columns of a tile: features, response, and weight and offset where there are any."""
        return self.width + 1 + self.weighted + self.shifted

    @property
    def grouped(self) -> bool:
        """Whether records are grouped by person."""
        return self.max_unit_rows is not None

    @property
    def unit_rows(self) -> int:
        """How many records of one unit there may be."""
        return self.max_unit_rows or 1

    @property
    def block_count(self) -> int:
        """Number of blocks; all have `block_rows` records, whole tiles, but the last."""
        return -(-self.length // self.block_rows)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of all tiles; the last may be filled up with zero records."""
        return tile_count(self.length), self.columns, LANES

    def tiles(self, index: int) -> slice:
        """Tiles of a block."""
        start = index * (self.block_rows // LANES)
        return slice(start, min(start + self.block_rows // LANES, tile_count(self.length)))


class BlockSum(NamedTuple):
    """A sum over blocks: its shape, and what adds the integers of one block to a total."""

    shape: tuple[int, ...]
    add: Callable[[Any, Integers], object]


def default_block_rows(width: int, dtype: np.dtype[Any], outcome: int = 1) -> int:
    """Records in a block of about 4 MiB: whole tiles, of features and outcome columns."""
    return LANES * max(1, BLOCK_BYTES // (dtype.itemsize * (width + outcome) * LANES))


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
    - A store is neither pickled nor copied.
    """

    def __init__(self, layout: Layout, blocks: Iterable[Any] | None = None) -> None:
        self.layout = layout
        # The number of coefficients, and the design of raw records until they are prepared.
        self.width, self.opened = layout.width, layout.opened
        self._blocks: tuple[Any, ...] | None = None if blocks is None else tuple(blocks)
        self._count = None if self._blocks is None else len(self._blocks)

    @property
    def length(self) -> int:
        """Number of units: records, or persons where records are grouped."""
        return self.layout.length

    @property
    def block_count(self) -> int:
        """Number of blocks."""
        return self.layout.block_count if self._count is None else self._count

    @property
    def padding(self) -> int:
        """Zero records that fill up tiles and are counted like records; a mechanism asks `padded_total`."""
        # With weights theirs are 0, among raw records they are NaN, and no person has any.
        layout = self.layout
        apart = layout.weighted or layout.grouped or layout.opened is not None
        return 0 if apart else -self.length % LANES

    def block(self, index: int) -> Any:
        """Tiles of one block, (tile, columns, 64), or what this storage has in their place."""
        if self._blocks is None:
            raise closed()
        return self._blocks[index]

    def total(self, function: Callable[[Layout, Any, int], BlockSum], query: Any, bound: int) -> Integers:
        """Sum over the blocks of an integer-valued function of one block, which can be pickled.

        Guarantee
        ---------
        - Sums are int64, modulo 2^64: neither the order of the records, nor the size of blocks, nor
          the number of threads changes them.
        """
        shape, add = function(self.layout, query, bound)
        threads = max(1, min(thread_count(), self.block_count))

        def worker(first: int) -> Integers:
            total = np.zeros(shape, dtype=np.int64)
            for index in range(first, self.block_count, threads):
                add(self.block(index), total)
            return total

        if threads == 1:
            return worker(0)
        totals = list(_pool(threads, os.getpid()).map(worker, range(threads)))
        return np.asarray(np.sum(totals, axis=0, dtype=np.int64))

    def padded_total(
        self, function: Callable[[Layout, Any, int], BlockSum], query: Any, bound: int
    ) -> tuple[Integers, int]:
        """`total`, and how many zero records that fill up tiles are in this very sum.

        Guarantee: the two are of the same records in the same tiles, wherever these are and whatever is lost.
        """
        return self.total(function, query, bound), self.padding

    def subsampled(self, every: int) -> tuple[Store, float]:
        """A secret subsample of one in `every` records, or all if none is drawn; and its rate."""
        del every
        return self, 1.0

    def require_mappable(self) -> None:  # noqa: B027 - most storages refuse none
        """Refuse to map records that would become too large, by public facts."""

    @abstractmethod
    def rewritten(self, layout: Layout, rewrite: Rewrite) -> Store:
        """A new store of the tiles that `rewrite` makes of this one's, record by record."""

    def map(self, matrix: ArrayLike) -> Store:
        """A new store with features M'u in place of u, for a public matrix M."""
        self.require_mappable()
        return self.rewritten(self.layout, self._mapping(matrix))

    def recast(self, matrix: ArrayLike) -> Store:
        """The store in other coordinates, as `map` says; this one is closed."""
        image = self.map(matrix)
        self.close()
        return image

    def applied(self, function: Callable[..., Store], *public: Any) -> Store:
        """The store that a function, which can be pickled, makes of this one and public numbers."""
        return function(self, *public)

    def _mapping(self, matrix: ArrayLike) -> Rewrite:
        M = RowMap.of(public_matrix(matrix, self.width), self.layout.dtype)
        return lambda tiles, out: map_tiles(tiles, M, out)

    def close(self) -> None:
        """Give the records up; no block can be read afterwards."""
        self._blocks = None

    def __reduce__(self) -> Never:
        raise not_pickled()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def closed() -> DataError:
    """The error for reading a store after it was closed."""
    return DataError("These records were given up; open the table again.")


def not_pickled() -> DataError:
    """The error for a store that would leave its process."""
    return DataError(
        "A store of private records is neither pickled nor copied. Send the table or its path "
        "to the other process, and open it there."
    )


def thread_count() -> int:
    """Threads to use: TACIT_THREADS where it is set, else the cores this process may run on."""
    asked = os.environ.get("TACIT_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    affinity = getattr(os, "sched_getaffinity", None)
    return (os.cpu_count() or 1) if affinity is None else len(affinity(0))


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    # To start threads takes as long as to read a small table. A forked process starts its own.
    del process
    return ThreadPoolExecutor(threads)
