"""Cells to numbers: which types count as numeric, and what becomes of the others.

Private: every array given here. Messages name the column and nothing else.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError


def not_numeric(column: str) -> DataError:
    """The error for a column that holds something other than numbers."""
    return DataError(
        f"Column {column!r} holds text, dates or other values that are not numbers. Numeric "
        "columns hold integers, floats or booleans; convert the column, or declare it as a factor."
    )


def to_float64(
    values: NDArray[Any], column: str, *, forgiving: bool = False
) -> NDArray[np.float64]:
    """Numbers of an array of any type: booleans as 0/1, missing as NaN.

    Integers and narrower floats keep their value where float64 has it, and are rounded to nearest
    where not. Text, dates, decimals and complex numbers are refused, or, among cells of any type,
    missing where `forgiving`.

    Guarantee
    ---------
    - The error names the column and no cell.
    - Where `forgiving`, whether it is raised depends on the type of the array alone.

    Examples
    --------
    >>> to_float64(np.array([True, None, 3], dtype=object), "age").tolist()
    [1.0, nan, 3.0]
    """
    if values.dtype.kind in "biuf":
        with np.errstate(over="ignore"):
            return np.asarray(values, dtype=np.float64)
    # Types are looked at before any conversion, whose own error would quote the cell.
    if values.dtype.kind != "O" or not (forgiving or all(map(_is_number, values.flat))):
        raise not_numeric(column)
    return np.fromiter(map(_number, values.flat), np.float64, values.size).reshape(values.shape)


def is_missing(cell: object) -> bool:
    """Whether a cell of an object array says "no value"."""
    # pandas' missing values are recognised by name, since this room does not import pandas.
    return cell is None or type(cell).__name__ in {"NAType", "NaTType"}


def _is_number(cell: object) -> bool:
    # numpy counts spans of time among the integers, but none of them has a float.
    number = isinstance(cell, numbers.Real | np.bool_) and not isinstance(cell, np.timedelta64)
    return number or is_missing(cell)


def _number(cell: Any) -> float:
    if is_missing(cell) or not _is_number(cell):
        return float("nan")
    try:
        return float(cell)
    except OverflowError:
        # An integer beyond float64 lies outside every bound; infinity makes the row invalid.
        return float("inf")
