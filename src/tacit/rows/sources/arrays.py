"""Arrays and lists: a matrix as a source, or one column as a sequence, an array or a series.

Private: every cell. Public: the type and the shape of an array; of a list, its length alone.
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
from tacit.rows.encoding.cells import to_float64
from tacit.rows.encoding.labels import plain_labels
from tacit.rows.sources.data_frame import series_labels, stored_by_arrow
from tacit.rows.sources.source import Batch, Source
from tacit.rows.storage.tiles import Floats

_WIDEST = 8
"""Bytes of a number; next to wider ones integers would be rounded twice."""
_PLAIN = frozenset({float, int, bool, np.bool_, np.float64, np.float32, np.int64, np.int32})


@dataclass(frozen=True)
class MatrixSource(Source):
    """A two-dimensional array of numbers in any order and strides, or of cells of any type."""

    values: NDArray[Any] = field(repr=False)

    def batches(
        self, rows: int, *, numeric: Sequence[str], labels: Sequence[str]
    ) -> Iterator[Batch]:
        """Consecutive slices; nothing is copied before it is asked for."""
        del numeric, labels
        for start in range(0, len(self.values), rows):
            part = self.values[start : start + rows]
            yield Batch(len(part), partial(self._numeric, part), partial(self._labels, part))

    def _numeric(self, part: NDArray[Any], names: Sequence[str]) -> Floats:
        """Columns as float64; a view where the matrix is that already."""
        if tuple(names) != self.names:
            position = {name: index for index, name in enumerate(self.names)}
            part = part[:, [position[name] for name in names]]
        if part.dtype.kind not in "biuf":
            columns = [to_float64(part[:, j], name) for j, name in enumerate(names)]
            return np.ascontiguousarray(np.array(columns).reshape(len(names), len(part)).T)
        # A warning by numpy, of a signalling NaN for one, would reveal something of the cells.
        with np.errstate(all="ignore"):
            return np.require(part, dtype=np.float64, requirements=["C", "A"])

    def _labels(self, part: NDArray[Any], name: str) -> NDArray[Any]:
        return plain_labels(part[:, self.names.index(name)])


def as_array(data: Any) -> NDArray[Any]:
    """An array of whatever shape and type the data have; masked cells are missing."""
    if isinstance(data, np.ma.MaskedArray):
        return _unmasked(data)
    array = None
    with contextlib.suppress(TypeError, ValueError):
        array = np.asarray(data)
    if array is None:
        raise DataError("The records must be equally long; this is no table and no sequence.")
    return array


def as_matrix(data: Any) -> NDArray[Any]:
    """An array of records by columns; a list of records is read record by record.

    A list has the width of most of its records. A record of another length, or one that is no
    sequence, is invalid: its cells are infinite.

    Guarantee
    ---------
    - In a list no record changes how another is read, and none can raise. The number of columns is
      public and assumed: it is that of most records, so that one record decides it only in a tie.
    - No warning is raised.
    """
    if not is_sequence(data):
        return as_array(data)
    quick = _typed(data)
    return _records(data) if quick is None else quick


def is_sequence(data: Any) -> bool:
    """Whether data are a list, a tuple or the like: cells without a common type."""
    return isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray)


def typed_by(values: Any) -> str | None:
    """Which library gave the cells of an array or a series one type; None of a list."""
    series = _series(values)
    if isinstance(series, nw.Series):
        return str(series.implementation.value)
    return None if is_sequence(values) else "numpy"


def as_column(values: Any, what: str, length: int) -> NDArray[Any]:
    """Cells of one column of a table of so many records; errors say `what` it is.

    Guarantee
    ---------
    - No cell of a list changes how another is read, and none can raise.
    - The error for another number of records or dimensions contains no cell and no length.
    """
    series = _series(values)
    if isinstance(series, nw.Series):
        cells = series_labels(series)
    elif is_sequence(values):
        cells = _objects(values)
    else:
        cells = plain_labels(as_array(values))
    if cells.ndim != 1:
        raise DataError(f"{what} must have one dimension; got {cells.ndim}. Use .ravel().")
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


def _objects(values: Sequence[Any]) -> NDArray[Any]:
    """Cells as they are: an array of one type would let one cell change how others read."""
    cells = np.empty(len(values), dtype=object)
    for index, cell in enumerate(values):
        cells[index] = cell
    return cells


def _typed(data: Sequence[Any]) -> NDArray[Any] | None:
    """The array of a list of nothing but plain numbers, equally many in a record."""
    # Types are looked at first: numpy would run code of other cells, and warn of some.
    kinds = set(map(type, data))
    if kinds <= {list, tuple}:
        if len(set(map(len, data))) != 1 or not set(map(type, chain.from_iterable(data))) <= _PLAIN:
            return None
    elif kinds != {np.ndarray} or len({record.shape for record in data}) != 1:
        return None
    # A warning by numpy would reveal something of the cells.
    with np.errstate(all="ignore"):
        array = np.asarray(data)
    plain = array.dtype.kind in "biuf" and array.dtype.itemsize <= _WIDEST
    return array if plain and array.ndim > 1 else None


def _records(data: Sequence[Any]) -> NDArray[Any]:
    rows = [*map(_cells, data)]
    # The shape of most records is the table's.
    shapes = Counter(None if row is None else (len(row), _nested(row)) for row in rows)
    if not shapes or (shape := shapes.most_common(1)[0][0]) is None:
        return np.empty(len(rows), dtype=object)
    width, nested = shape
    matrix = np.full((len(rows), width, *((0,) * nested)), np.inf, dtype=object)
    if nested:
        return matrix
    for index, row in enumerate(rows):
        if row is not None and len(row) == width:
            for place, cell in enumerate(row):
                matrix[index, place] = cell
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
        issubclass(type(cell), list | tuple)
        or (issubclass(type(cell), np.ndarray) and cell.ndim > 0)
        for cell in row
    )


def _unmasked(data: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    if data.dtype.kind in "biuf":
        # A warning by numpy would reveal something of the cells.
        with np.errstate(all="ignore"):
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
