"""Opening a table: what the user gives becomes a source, or is refused with a reason.

Private: the table and the response. Nothing is read here beyond names, types and lengths.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.cells import to_float64
from tacit.rows.csv_file import CsvSource
from tacit.rows.files import file_kind
from tacit.rows.frame import FrameSource, as_frame, series_labels
from tacit.rows.labels import plain_labels
from tacit.rows.matrix import MatrixSource
from tacit.rows.parquet_file import ParquetSource
from tacit.rows.source import (
    Source,
    require_columns,
    require_distinct,
    require_table,
    separate_response_name,
)


def open_source(data: Any, response: Any = None, *, fewest: int = 2) -> Source:
    """Source of a matrix, a pandas, polars or pyarrow table, or a CSV or Parquet file.

    The response is a column of the table (name it, or leave it to the design), or a sequence beside
    the table; `Source.response` then is the name it goes by, "y" unless a column is called so. The
    columns of a matrix are named x0, x1, …

    Guarantee
    ---------
    - Fewer than `fewest` records (two for a fit), no columns, unequal lengths and text in a matrix
      are refused, with a message that holds no value.

    Examples
    --------
    >>> source = open_source([[1.0, 2.0], [3.0, 4.0]], response=[0, 1])
    >>> source.names, source.response
    (('x0', 'x1'), 'y')
    """
    if isinstance(data, str | os.PathLike):
        return _open_file(Path(data), response)
    frame = as_frame(data)
    if frame is not None:
        return _open_frame(frame, response, fewest)
    return _open_matrix(data, response, fewest)


def _open_file(path: Path, response: object) -> Source:
    if response is not None and not isinstance(response, str):
        raise DataError("The response of a file is one of its columns; give the column's name.")
    opener = ParquetSource if file_kind(path) == ".parquet" else CsvSource
    source: Source = opener.open(path, response)
    if response is not None:
        require_columns(source.names, [response])
    return source


def _open_frame(frame: nw.DataFrame[Any], response: object, fewest: int) -> Source:
    names = tuple(map(str, frame.columns))
    require_distinct(names)
    require_table(len(frame), len(names), fewest)
    if response is None or isinstance(response, str):
        if response is not None:
            require_columns(names, [response])
        return FrameSource(frame, names, response, None)
    labels = _response_labels(response, len(frame))
    return FrameSource(frame, names, separate_response_name(names), labels)


def _open_matrix(data: Any, response: object, fewest: int) -> Source:
    if hasattr(data, "tocsr"):
        raise DataError("Sparse matrices are not read; call .toarray() first.")
    values = _array(data)
    if values.ndim != 2:
        raise DataError(
            f"Expected a table of two dimensions, records by columns; got {values.ndim}. "
            "A single column is X.reshape(-1, 1)."
        )
    require_table(len(values), values.shape[1], fewest)
    if isinstance(response, str):
        raise DataError("A matrix has no column names; give the response as a sequence.")
    names = tuple(f"x{j}" for j in range(values.shape[1]))
    if values.dtype.kind not in "biuf":
        values = np.column_stack([to_float64(values[:, j], name) for j, name in enumerate(names)])
    if response is None:
        return MatrixSource(values, names, None, None)
    labels = _response_labels(response, len(values))
    return MatrixSource(values, names, separate_response_name(names), labels)


def _response_labels(response: Any, length: int) -> NDArray[Any]:
    series = nw.from_native(response, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        labels = series_labels(series)
    elif isinstance(response, list | tuple):
        labels = _cells(response)
    else:
        labels = plain_labels(_array(response))
    if labels.ndim != 1:
        raise DataError(f"The response must have one dimension; got {labels.ndim}. Use y.ravel().")
    if len(labels) != length:
        raise DataError("The table and the response must have equally many records.")
    return labels


def _cells(labels: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Labels as they are: an array of one type would let one label change how others read."""
    if any(isinstance(label, list | tuple | np.ndarray) for label in labels):
        raise DataError("The response must have one dimension: a sequence of labels.")
    cells = np.empty(len(labels), dtype=object)
    for index, label in enumerate(labels):
        cells[index] = label
    return cells


def _array(data: Any) -> NDArray[Any]:
    if isinstance(data, np.ma.MaskedArray):
        return _unmasked(data)
    array = None
    with contextlib.suppress(TypeError, ValueError):
        array = np.asarray(data)
    if array is None:
        raise DataError("The records must be equally long; this is no table and no sequence.")
    return array


def _unmasked(data: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    if data.dtype.kind in "biuf":
        return np.where(np.ma.getmaskarray(data), np.nan, data.data.astype(np.float64))
    plain = data.data.astype(object)
    plain[np.ma.getmaskarray(data)] = None
    return plain
