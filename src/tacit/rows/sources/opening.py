"""Opening a table: what the user gives becomes a source, or is refused with a reason.

Private: the table and the columns beside it. Nothing is read here beyond names, types and lengths.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import narwhals as nw

from tacit.errors import DataError
from tacit.rows.encoding.attached_columns import with_columns
from tacit.rows.encoding.cells import READABLE_KINDS, not_numeric
from tacit.rows.sources.arrays import as_matrix, is_sequence
from tacit.rows.sources.csv_file import CsvSource
from tacit.rows.sources.data_frame import FrameSource, as_frame
from tacit.rows.sources.files import file_kind
from tacit.rows.sources.matrix import MatrixSource
from tacit.rows.sources.parquet_file import ParquetSource
from tacit.rows.sources.source import Source, require_columns, require_distinct, require_table
from tacit.rows.sources.sparse_matrix import SparseSource


def open_source(
    data: Any,
    response: Any = None,
    *,
    beside: Mapping[str, Any] | None = None,
    fewest: int = 2,
) -> Source:
    """Source of a matrix (sparse ones too), a pandas, polars or pyarrow table, or a file.

    The response is a column of the table (name it, or leave it to the design), or a sequence beside
    the table; `Source.response` then is the name it goes by, "y" unless a column is called so. The
    columns of a matrix are named x0, x1, … A file is CSV or Parquet.

    Other columns beside the table (weights, exposures, persons) are given in `beside` by the
    caller's word for them; `names_beside` in `encoding.attached_columns` tells their names.

    Guarantee
    ---------
    - Fewer than `fewest` records (two for a fit of a public number of them), no columns, unequal
      lengths and matrices of dates are refused, with a message that holds no value.
    - Where `fewest` is 0, a table without records is one like any other. A list of records is then
      refused whatever it holds, since an empty one would have no columns.

    Examples
    --------
    >>> source = open_source([[1.0, 2.0], [3.0, 4.0]], response=[0, 1])
    >>> source.names, source.response
    (('x0', 'x1'), 'y')
    """
    named = response if isinstance(response, str) else None
    separate = None if named is not None else response
    table: Source
    if isinstance(data, str | os.PathLike):
        table = _open_file(Path(data), named, separate, fewest)
    elif (frame := as_frame(data)) is not None:
        table = _open_frame(frame, named, fewest)
    else:
        table = _open_matrix(data, named, fewest)
    return with_columns(table, separate, beside or {})


def _open_file(path: Path, response: str | None, separate: object, fewest: int) -> Source:
    if separate is not None:
        raise DataError("The response of a file is one of its columns; give the column's name.")
    source: Source
    if file_kind(path) == ".parquet":
        source = ParquetSource.open(path, response, fewest)
    else:
        source = CsvSource.open(path, response)
    if response is not None:
        require_columns(source.names, [response])
    return source


def _open_frame(frame: nw.DataFrame[Any], response: str | None, fewest: int) -> Source:
    names = tuple(map(str, frame.columns))
    require_distinct(names)
    require_table(len(frame), len(names), fewest)
    if response is not None:
        require_columns(names, [response])
    return FrameSource(frame, names, response)


def _open_matrix(data: Any, response: str | None, fewest: int) -> Source:
    if hasattr(data, "tocsr"):
        return _open_sparse(data, response, fewest)
    if fewest == 0 and is_sequence(data):
        raise DataError(
            "Where the number of records is private, a list of records is not read: without any it "
            "would have no columns. Give an array of shape (records, columns), or a table."
        )
    values = as_matrix(data)
    if values.ndim != 2:
        raise DataError(
            f"Expected a table of two dimensions, records by columns; got {values.ndim}. "
            "A single column is X.reshape(-1, 1)."
        )
    require_table(len(values), values.shape[1], fewest)
    if response is not None:
        raise DataError("A matrix has no column names; give the response as a sequence.")
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    if values.dtype.kind not in READABLE_KINDS:
        raise not_numeric(names[0])
    return MatrixSource(values, names, typed_by=None if is_sequence(data) else "numpy")


def _open_sparse(data: Any, response: str | None, fewest: int) -> Source:
    if response is not None:
        raise DataError("A matrix has no column names; give the response as a sequence.")
    return SparseSource.of(data, fewest)
