"""The store: prepared records in blocks, as mechanisms read them.

Private: every block. Public: width, type and block size; the length where n is public.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import DataError, SettingError
from tacit.rows.mapping import ExactMap

BLOCK_BYTES = 4 << 20
THREADS = 2


@dataclass(frozen=True)
class Layout:
    """Shape of a store and how it is cut into blocks, by public facts and the length alone.

    Examples
    --------
    >>> Layout(length=5, width=3, dtype=np.dtype(np.float32), block_rows=2).block_count
    3
    """

    length: int
    width: int
    dtype: np.dtype[Any]
    block_rows: int

    @property
    def block_count(self) -> int:
        """Number of blocks; all have `block_rows` records but the last."""
        return -(-self.length // self.block_rows)

    def rows(self, index: int) -> slice:
        """Records of a block."""
        start = index * self.block_rows
        return slice(start, min(start + self.block_rows, self.length))

    @property
    def slices(self) -> Iterator[slice]:
        """Records of every block."""
        return map(self.rows, range(self.block_count))


def default_block_rows(width: int, dtype: np.dtype[Any]) -> int:
    """Records in a block of about 4 MiB."""
    return max(1, BLOCK_BYTES // (dtype.itemsize * (width + 1)))


def require_dtype(dtype: Any) -> np.dtype[Any]:
    """A store's type: float32 or float64."""
    kind: np.dtype[Any] = np.dtype(dtype)
    if kind not in {np.dtype(np.float32), np.dtype(np.float64)}:
        raise SettingError(f"dtype must be float32 or float64; got {kind.name}.")
    return kind


class Store(ABC):
    """A table of records (features…, intercept, response), read block by block.

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
    def width(self) -> int:
        """Number of coefficients: columns of a block less the response."""
        return self._layout.width

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64."""
        return self._layout.dtype

    @property
    def block_count(self) -> int:
        """Number of blocks."""
        return self._layout.block_count

    @abstractmethod
    def block(self, index: int) -> NDArray[Any]:
        """Records of one block, (rows, width + 1)."""

    @abstractmethod
    def map(self, matrix: ArrayLike, row_norm: float) -> Store:
        """A new store with features u M in place of u, exactly as `ExactMap` says."""

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


def exact_map(matrix: ArrayLike, row_norm: float, width: int) -> ExactMap:
    """The map of a store of this width."""
    mapping = ExactMap.of(matrix, row_norm)
    if len(mapping.integers) != width:
        raise SettingError(f"The map must be {width} by {width}, as wide as the records.")
    return mapping


def closed() -> DataError:
    """The error for reading a store after it was closed."""
    return DataError("These records were given up; open the table again.")


class MemoryStore(Store):
    """Records in memory.

    Examples
    --------
    >>> store = MemoryStore.of(np.array([[0.5, 1.0, 0.0], [0.25, 1.0, 1.0]]))
    >>> store.width, store.block(0).tolist()
    (2, [[0.5, 1.0, 0.0], [0.25, 1.0, 1.0]])
    """

    def __init__(self, layout: Layout, blocks: Sequence[NDArray[Any]]) -> None:
        super().__init__(layout)
        self._blocks: tuple[NDArray[Any], ...] | None = tuple(map(_frozen, blocks))

    @classmethod
    def of(cls, table: NDArray[Any], block_rows: int | None = None) -> MemoryStore:
        """Store of one prepared table; its blocks are slices."""
        dtype = require_dtype(table.dtype)
        width = table.shape[1] - 1
        rows = default_block_rows(width, dtype) if block_rows is None else block_rows
        layout = Layout(len(table), width, dtype, rows)
        return cls(layout, [table[rows] for rows in layout.slices])

    def block(self, index: int) -> NDArray[Any]:
        """Records of one block; nothing is copied."""
        if self._blocks is None:
            raise closed()
        return self._blocks[index]

    def map(self, matrix: ArrayLike, row_norm: float) -> MemoryStore:
        """A new store in memory."""
        mapping = exact_map(matrix, row_norm, self.width)
        table = np.empty((self.length, self.width + 1), dtype=self.dtype)
        with ThreadPoolExecutor(THREADS) as pool:
            # Asking for the results raises what a worker raised.
            list(
                pool.map(
                    lambda index: mapping.apply(self.block(index), table[self._layout.rows(index)]),
                    range(self.block_count),
                )
            )
        return MemoryStore.of(table, self._layout.block_rows)

    def close(self) -> None:
        """Drop the records."""
        self._blocks = None


def _frozen(block: NDArray[Any]) -> NDArray[Any]:
    view = np.ascontiguousarray(block).view()
    view.flags.writeable = False
    return view
