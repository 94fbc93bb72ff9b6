"""A scipy sparse matrix as a source: records of non-zero numbers in the order of the columns.

Private: the stored numbers and where they stand. Public: the names x0, x1, … of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.encoding.cells import cell_number, to_float64
from tacit.rows.sources.source import Batch, Source, SparseRows, require_table
from tacit.rows.storage.tiles import Floats, Integers


@dataclass(frozen=True)
class SparseSource(Source):
    """A CSR matrix of numbers; cells that are not stored are zeros.

    Guarantee
    ---------
    - Entries of the same cell are added up and columns put in order record by record: what one
      record holds does not change how another is read. The user's matrix is left as it was.
    """

    matrix: Any = field(repr=False)

    @classmethod
    def of(cls, matrix: Any, fewest: int = 2) -> SparseSource:
        """Source of a matrix or array of scipy.sparse in any format, two-dimensional."""
        shape: tuple[int, ...] = tuple(getattr(matrix, "shape", ()))
        if len(shape) != 2:
            raise DataError(
                f"Expected a sparse matrix of two dimensions, records by columns; got {len(shape)}."
            )
        require_table(shape[0], shape[1], fewest)
        table = _of_lists(matrix) if matrix.format == "lil" else matrix.tocsr()
        _require_csr(table, shape[0])
        names = tuple(f"x{j}" for j in range(shape[1]))
        return cls(table, names=names, length=shape[0], typed_by="scipy")

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[Batch]:
        """Consecutive records; nothing is copied before it is asked for."""
        del numeric, labels
        length = int(self.matrix.shape[0])
        for start in range(0, length, rows):
            ends = start, min(start + rows, length)
            numeric_of, labels_of = partial(self._numeric, *ends), partial(self._labels, *ends)
            yield Batch(ends[1] - start, numeric_of, labels_of, partial(self._rows, *ends))

    def _rows(self, start: int, stop: int) -> SparseRows:
        """The records in canonical form: no cell twice, columns in order."""
        matrix = self.matrix
        starts = matrix.indptr[start : stop + 1].astype(np.int64)
        stored = slice(starts[0], starts[-1])
        starts -= starts[0]
        indices = matrix.indices[stored].astype(np.int64)
        # A copy, since numbers of the same cell are added up in place.
        values = np.array(to_float64(matrix.data[stored], ""))
        if not _increasing(starts, indices):
            # A new matrix, since the flags of the user's may say what once was true.
            shape = stop - start, len(self.names)
            part = type(matrix)((values, indices, starts), shape=shape)
            part.sum_duplicates()
            starts, indices = part.indptr.astype(np.int64), part.indices.astype(np.int64)
            values = part.data
        return SparseRows(starts, indices, values)

    def _numeric(self, start: int, stop: int, names: Sequence[str]) -> Floats:
        """Columns with their zeros written out; a record that points outside is missing."""
        rows = self._rows(start, stop)
        count = len(self.names)
        position = {name: j for j, name in enumerate(self.names)}
        place = np.full(count, -1)
        place[[position[name] for name in names]] = np.arange(len(names))
        record = np.repeat(np.arange(stop - start), np.diff(rows.starts))
        inside = (rows.indices >= 0) & (rows.indices < count)
        column = place[np.where(inside, rows.indices, 0)]
        asked = inside & (column >= 0)
        block = np.zeros((stop - start, len(names)), dtype=np.float64)
        block[record[asked], column[asked]] = rows.values[asked]
        block[record[~inside]] = np.nan
        return block

    def _labels(self, start: int, stop: int, name: str) -> NDArray[Any]:
        return self._numeric(start, stop, (name,))[:, 0]


def _of_lists(matrix: Any) -> Any:
    """CSR of a matrix that keeps a list for each record, and in it whatever was put there."""
    columns: list[list[int]] = []
    cells: list[list[float]] = []
    for places, values in zip(matrix.rows, matrix.data, strict=True):
        fits = (
            isinstance(places, list)
            and isinstance(values, list)
            and len(places) == len(values)
            and all(isinstance(place, int | np.integer) for place in places)
        )
        inside = fits and all(0 <= place < matrix.shape[1] for place in places)
        # A place outside of the table makes the record invalid.
        columns.append([*map(int, places)] if inside else [-1])
        cells.append([*map(cell_number, values)] if inside else [1.0])
    table = type(matrix)(matrix.shape, dtype=np.float64).tocsr()
    table.indptr = np.cumsum([0, *map(len, columns)])
    table.indices = np.array([*chain.from_iterable(columns)], dtype=np.int64)
    table.data = np.array([*chain.from_iterable(cells)], dtype=np.float64)
    return table


def _require_csr(table: Any, length: int) -> None:
    """Refuse a matrix whose parts do not fit together; compiled code would read beyond them."""
    starts, indices, data = (getattr(table, name, None) for name in ("indptr", "indices", "data"))
    fits = (
        isinstance(starts, np.ndarray)
        and isinstance(indices, np.ndarray)
        and isinstance(data, np.ndarray)
        and starts.shape == (length + 1,)
        and indices.shape == data.shape
        and indices.ndim == 1
        and starts.dtype.kind == indices.dtype.kind == "i"
        and starts[0] == 0
        and starts[-1] <= len(indices)
        and bool((starts[1:] >= starts[:-1]).all())
    )
    if not fits:
        raise DataError(
            "The sparse matrix is broken: its indptr, indices and data do not fit together. "
            "Build it anew, or call .toarray()."
        )


def _increasing(starts: Integers, indices: Integers) -> bool:
    """Whether the columns of every record increase."""
    grows = indices[1:] > indices[:-1]
    first = starts[1:-1]
    grows[first[(first > 0) & (first < len(indices))] - 1] = True
    return bool(grows.all())
