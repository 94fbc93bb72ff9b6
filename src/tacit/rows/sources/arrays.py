"""Arrays, lists and sparse matrices as sources; a column as a sequence, an array or a series.

Private: every cell, and where a sparse matrix has any. Public: the type and the shape of an array;
of a list, its length alone; the names x0, x1, … of the columns.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.encoding.cells import cell_number, plain_labels, quiet, to_float64
from tacit.rows.sources.data_frame import is_text, series_labels, stored_by_arrow
from tacit.rows.sources.source import Batch, Names, Source, SparseRows, require_table
from tacit.rows.storage.tiles import Floats

_PLAIN = frozenset({float, int, bool, np.bool_, np.float64, np.float32, np.int64, np.int32})


@dataclass(frozen=True)
class MatrixSource(Source):
    """A two-dimensional array of numbers in any order and strides, or of cells of any type."""

    values: NDArray[Any] = field(repr=False)

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
        """Consecutive slices; nothing is copied before it is asked for."""
        del numeric, labels
        for start in range(0, len(self.values), rows):
            part = self.values[start : start + rows]
            yield Batch(len(part), partial(self._numeric, part), partial(self._labels, part))

    def text_among(self, names: Names) -> list[str]:
        """All of the columns, where the array is of text."""
        return [*names] if self.values.dtype.kind in "US" else []

    def _numeric(self, part: NDArray[Any], names: Names) -> Floats:
        if tuple(names) != self.names:
            position = {name: index for index, name in enumerate(self.names)}
            part = part[:, [position[name] for name in names]]
        if part.dtype.kind not in "biuf":
            columns = [to_float64(part[:, j], name) for j, name in enumerate(names)]
            return np.ascontiguousarray(np.array(columns).reshape(len(names), len(part)).T)
        with quiet():
            return np.require(part, dtype=np.float64, requirements=["C", "A"])

    def _labels(self, part: NDArray[Any], name: str) -> NDArray[Any]:
        return plain_labels(part[:, self.names.index(name)])


def as_array(data: Any) -> NDArray[Any]:
    """An array of whatever shape and type the data have; masked cells are missing."""
    if isinstance(data, np.ma.MaskedArray):
        return _unmasked(data)
    with contextlib.suppress(TypeError, ValueError):
        return np.asarray(data)
    raise DataError("The records must be equally long; this is no table and no sequence.")


def as_matrix(data: Any) -> NDArray[Any]:
    """An array of records by columns; of a list, cells of a record unlike most are infinite.

    Guarantee: in a list no record changes how another is read, and none can raise. The number of columns is public and
    assumed: it is that of most records, so that one record decides it only in a tie. No warning is raised.
    """
    if not is_sequence(data):
        return as_array(data)
    typed = _typed(data)
    return _records(data) if typed is None else typed


def is_sequence(data: Any) -> bool:
    """Whether data are a list, a tuple or the like: cells without a common type."""
    return isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray)


def typed_by(values: Any) -> str | None:
    """Which library gave the cells of an array or a series one type; None of a list."""
    series = _series(values)
    if isinstance(series, nw.Series):
        return str(series.implementation.value)
    return None if is_sequence(values) else "numpy"


def is_text_column(values: Any) -> bool:
    """Whether the type of an array or a series is text; that of a list never is."""
    series = _series(values)
    if isinstance(series, nw.Series):
        return is_text(series)
    return isinstance(values, np.ndarray) and values.dtype.kind in "US"


def as_column(values: Any, what: str, length: int) -> NDArray[Any]:
    """Cells of one column of a table of so many records; errors say `what` it is.

    Guarantee: no cell of a list changes how another is read, and none can raise. No error contains a cell or a length.
    """
    series = _series(values)
    if isinstance(series, nw.Series):
        cells = series_labels(series)
    elif is_sequence(values):
        # Cells as they are: an array of one type would let one cell change how others read.
        cells = np.fromiter(values, dtype=object, count=len(values))
    else:
        cells = plain_labels(as_array(values))
    if cells.ndim != 1:
        # A shape is public, as the number of columns is.
        one = cells.ndim == 2 and cells.shape[1] == 1
        advice = "Use .ravel()." if one else "Give one column of it, and fit each of several by itself."
        raise DataError(f"{what} must have one dimension; got {cells.ndim}. {advice}")
    if len(cells) != length:
        raise DataError(f"{what} and the table must have equally many records.")
    return cells


def _series(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values
    series = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        return series
    # Arrow's columns stay Arrow's: on the way to numpy they raise for dates and text that are none.
    column = stored_by_arrow(values)
    if hasattr(values, "__arrow_c_array__"):
        import pyarrow as pa

        column = pa.chunked_array([values]) if isinstance(values, pa.Array) else column
    return values if column is None else nw.from_native(column, series_only=True)


def _typed(data: Sequence[Any]) -> NDArray[Any] | None:
    """The array of a list of nothing but plain numbers, equally many in a record."""
    # Types are looked at first: numpy would run code of other cells, and warn of some.
    kinds = set(map(type, data))
    if kinds <= {list, tuple}:
        if len(set(map(len, data))) != 1 or not set(map(type, chain.from_iterable(data))) <= _PLAIN:
            return None
    elif kinds != {np.ndarray} or len({record.shape for record in data}) != 1:
        return None
    with quiet():
        array = np.asarray(data)
    # Next to numbers of more than 8 bytes integers would be rounded twice.
    plain = array.dtype.kind in "biuf" and array.dtype.itemsize <= 8
    return array if plain and array.ndim > 1 else None


def _records(data: Sequence[Any]) -> NDArray[Any]:
    rows = [*map(_cells, data)]
    shapes = Counter(None if row is None else (len(row), _nested(row)) for row in rows)
    if not shapes or (shape := shapes.most_common(1)[0][0]) is None:
        return np.empty(len(rows), dtype=object)
    width, nested = shape
    matrix = np.full((len(rows), width, *((0,) * nested)), np.inf, dtype=object)
    if nested:
        return matrix
    for index, row in enumerate(rows):
        if row is not None and len(row) == width:
            matrix[index] = np.fromiter(row, dtype=object, count=width)
    return matrix


def _cells(record: Any) -> list[Any] | None:
    kind = type(record)
    if issubclass(kind, np.ma.MaskedArray):
        record = _unmasked(record)
    elif not issubclass(kind, Sequence | np.ndarray) and not hasattr(kind, "__array__"):
        return None
    if issubclass(kind, str | bytes | bytearray):
        return None
    # A class of its own may raise anything; then it is no record.
    with contextlib.suppress(Exception):
        return list(record)
    return None


def _nested(row: Sequence[Any]) -> bool:
    return bool(row) and all(
        issubclass(type(cell), list | tuple) or (issubclass(type(cell), np.ndarray) and cell.ndim > 0) for cell in row
    )


def _unmasked(data: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    if data.dtype.kind in "biuf":
        with quiet():
            return np.where(np.ma.getmaskarray(data), np.nan, data.data.astype(np.float64))
    if data.dtype.kind in "MV":
        # The type stays, by which it is refused where a number is asked for.
        plain = np.array(data.data)
        if data.dtype.kind == "M":
            plain[np.ma.getmaskarray(data)] = np.datetime64("NaT")
        return plain
    plain = plain_labels(data.data).astype(object)
    plain[np.ma.getmaskarray(data)] = None
    return plain


@dataclass(frozen=True)
class SparseSource(Source):
    """A CSR matrix of numbers; cells that are not stored are zeros.

    Guarantee: entries of the same cell are added up and columns put in order record by record: what one record holds
    does not change how another is read. The user's matrix is left as it was.
    """

    matrix: Any = field(repr=False)

    @classmethod
    def of(cls, matrix: Any, fewest: int = 2) -> SparseSource:
        """Source of a matrix or array of scipy.sparse in any format, two-dimensional."""
        shape: tuple[int, ...] = tuple(getattr(matrix, "shape", ()))
        if len(shape) != 2:
            raise DataError(f"Expected a sparse matrix of two dimensions, records by columns; got {len(shape)}.")
        require_table(shape[0], shape[1], fewest)
        table = _of_lists(matrix) if matrix.format == "lil" else matrix.tocsr()
        _require_csr(table, shape[0])
        names = tuple(f"x{j}" for j in range(shape[1]))
        return cls(table, names=names, length=shape[0], typed_by="scipy")

    def batches(self, rows: int, *, numeric: Names, labels: Names) -> Iterator[Batch]:
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
        grows, first = indices[1:] > indices[:-1], starts[1:-1]
        grows[first[(first > 0) & (first < len(indices))] - 1] = True
        if not grows.all():
            # A new matrix, since the flags of the user's may say what once was true.
            part = type(matrix)((values, indices, starts), shape=(stop - start, len(self.names)))
            part.sum_duplicates()
            starts, indices, values = part.indptr.astype(np.int64), part.indices.astype(np.int64), part.data
        return SparseRows(starts, indices, values)

    def _numeric(self, start: int, stop: int, names: Names) -> Floats:
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
        lists = isinstance(places, list) and isinstance(values, list)
        inside = lists and len(places) == len(values)
        for place in places if inside else ():
            inside &= isinstance(place, int | np.integer) and 0 <= place < matrix.shape[1]
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
    parts: list[Any] = [getattr(table, name, None) for name in ("indptr", "indices", "data")]
    starts, indices, data = parts
    fits = (
        all(isinstance(part, np.ndarray) for part in parts)
        and starts.shape == (length + 1,)
        and indices.shape == data.shape
        and indices.ndim == 1
        and starts.dtype.kind == indices.dtype.kind == "i"
        and starts[0] == 0
        and starts[-1] <= len(indices)
        and bool((starts[1:] >= starts[:-1]).all())
    )
    if not fits:
        broken = "its indptr, indices and data do not fit together"
        raise DataError(f"The sparse matrix is broken: {broken}. Build it anew, or call .toarray().")
