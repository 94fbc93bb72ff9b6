"""What a user hands over as arrays: a matrix, or one column as a sequence, an array or a series.

Private: every cell.
"""

from __future__ import annotations

import contextlib
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.frame import series_labels
from tacit.rows.labels import plain_labels


def as_array(data: Any) -> NDArray[Any]:
    """An array of whatever shape and type the data have; masked cells are missing."""
    if isinstance(data, np.ma.MaskedArray):
        return _unmasked(data)
    array = None
    with contextlib.suppress(TypeError, ValueError):
        array = np.asarray(data)
        if array.dtype.kind in "SU" and isinstance(data, list | tuple):
            # One cell of text would make text of all the others.
            array = np.asarray(data, dtype=object)
    if array is None:
        raise DataError("The records must be equally long; this is no table and no sequence.")
    return array


def as_column(values: Any, what: str, length: int) -> NDArray[Any]:
    """Cells of one column of a table of so many records; `what` it is, errors say.

    Guarantee
    ---------
    - No cell changes how another is read.
    - The error for another number of records or dimensions contains no cell and no length.

    Examples
    --------
    >>> as_column([1, "a"], "The response", 2).tolist()
    [1, 'a']
    """
    series = nw.from_native(values, pass_through=True, allow_series=True)
    if isinstance(series, nw.Series):
        cells = series_labels(series)
    elif isinstance(values, list | tuple):
        cells = _cells(values, what)
    else:
        cells = plain_labels(as_array(values))
    if cells.ndim != 1:
        raise DataError(f"{what} must have one dimension; got {cells.ndim}. Use .ravel().")
    if len(cells) != length:
        raise DataError(f"{what} and the table must have equally many records.")
    return cells


def _cells(values: list[Any] | tuple[Any, ...], what: str) -> NDArray[Any]:
    """Cells as they are: an array of one type would let one cell change how others read."""
    if any(isinstance(cell, list | tuple | np.ndarray) for cell in values):
        raise DataError(f"{what} must have one dimension: one cell for each record.")
    cells = np.empty(len(values), dtype=object)
    for index, cell in enumerate(values):
        cells[index] = cell
    return cells


def _unmasked(data: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    if data.dtype.kind in "biuf":
        # A warning of numpy's would tell of the cells.
        with np.errstate(over="ignore"):
            return np.where(np.ma.getmaskarray(data), np.nan, data.data.astype(np.float64))
    plain = data.data.astype(object)
    plain[np.ma.getmaskarray(data)] = None
    return plain
