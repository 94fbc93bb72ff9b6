"""Cells to numbers: the one place that decides which cells are numbers, and which types have any.

Private: every array given here. Messages name the column and nothing else.

One record can change the type of a whole column before it comes here, to text, complex numbers,
spans of time or objects. So these types are read cell by cell, and no cell of theirs is refused.
Dates, times and nested types do not come about in this way; they are refused.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError
from tacit.rows.encoding.labels import bare, is_missing
from tacit.rows.storage.tiles import Floats

NO_NUMBER = math.inf
"""A cell that is no number, so that its record is invalid. Not NaN: a constant may replace that."""
MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""A decimal number, as text spells it."""
READABLE_KINDS = "biufcmOUS"
"""Kinds of numpy arrays whose cells are read as numbers, each by itself."""

_NUMBER = re.compile(NUMBER)
_TRUTH = {"true": 1.0, "false": 0.0}


def not_numeric(column: str) -> DataError:
    """The error for a column of a type that has no numbers."""
    return DataError(
        f"Column {column!r} holds dates, times or nested values, which are not numbers. Numeric "
        "columns hold integers, floats or booleans; convert the column, or declare it as a factor."
    )


def to_float64(values: NDArray[Any], column: str) -> Floats:
    """Numbers of an array of any type: missing is NaN, what is no number is infinite.

    Booleans are 0 and 1, a complex number without an imaginary part is its real part, a span of
    time the count of its units. Numbers are rounded to nearest; one that is too large is infinite.

    Guarantee
    ---------
    - A cell's number depends on that cell and the type of the array alone.
    - Whether an error is raised depends on the type of the array alone; it names the column.
    """
    kind = values.dtype.kind
    # A warning by numpy would reveal something of the cells.
    with np.errstate(all="ignore"):
        if kind in "biuf":
            return np.asarray(values, dtype=np.float64)
        if kind == "c":
            real = np.where(values.imag == 0.0, values.real, NO_NUMBER)
            return np.asarray(real, dtype=np.float64)
        if kind == "m":
            return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    if kind not in READABLE_KINDS:
        raise not_numeric(column)
    cells = values.ravel().tolist()
    return np.fromiter(map(cell_number, cells), np.float64, len(cells)).reshape(values.shape)


def cell_number(cell: Any) -> float:
    """Number of one cell of any type: NaN where it is missing, infinite where it is no number.

    Guarantee
    ---------
    - Whatever the cell is, this returns a float; no code of a class of the cell's own is run.
    """
    if type(cell) is float:
        return cell
    try:
        return _number(cell)
    except Exception:  # noqa: BLE001 (whatever it raises could quote the cell)
        return NO_NUMBER


def text_number(text: str) -> float:
    """Number that a text spells, or its truth; NaN for the usual words for "missing"."""
    if text in MISSING_WORDS:
        return math.nan
    spelt = text.strip(" \t")
    if _NUMBER.fullmatch(spelt):
        return float(spelt)
    return _TRUTH.get(spelt.lower(), NO_NUMBER)


def _number(cell: Any) -> float:  # noqa: PLR0911 (one line a type)
    cell = bare(cell)
    # By type, and by the methods of known types: a class of the cell's own could do anything.
    kind = type(cell)
    if is_missing(cell):
        return math.nan
    if issubclass(kind, str):
        return text_number(str.__str__(cell))
    if issubclass(kind, bytes):
        return text_number(bytes.decode(cell, errors="replace"))
    if issubclass(kind, float):
        return float.__float__(cell)
    if issubclass(kind, np.timedelta64 | np.datetime64):
        return math.nan if np.isnat(cell) else NO_NUMBER
    if issubclass(kind, np.bool_ | np.integer | np.floating):
        return float(np.generic.item(cell))
    # One beyond float64 raises, and is infinite as what is no number is.
    if issubclass(kind, int):
        return int.__float__(cell)
    if issubclass(kind, Decimal):
        return Decimal.__float__(cell)
    return float(cell) if kind is Fraction else NO_NUMBER
