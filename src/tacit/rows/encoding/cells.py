"""Cells to numbers and labels: the one place that decides what a cell is and when two are equal.

Private: every array given here. Messages name the column and nothing else. Public: declared levels. One record can
change the type of a whole column before it comes here, to text, complex numbers, spans of time or objects. So these are
read cell by cell, and none is refused. Dates, times and nested types do not come about so and are refused as numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, SchemaError
from tacit.rows.storage.tiles import Floats, Integers

NO_NUMBER = math.inf
"""A cell that is no number, so that its record is invalid. Not NaN: a constant may replace that."""
MISSING_WORDS = frozenset({"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"})
NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
READABLE_KINDS = "biufcmOUS"
"""Kinds of numpy arrays whose cells are read as numbers, each by itself."""

_CELL_NUMBER = re.compile(NUMBER)
NormalForm = Decimal | str | None
Value = TypeVar("Value")
REMEMBERED = frozenset({str, int, float, bool, bytes})  # equal ones have equal normal forms

_LABEL_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?\s*", re.ASCII)
_TRUTH = {"true": Decimal(1), "false": Decimal(0)}
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})


def quiet() -> np.errstate:
    """Silence numpy, whose warnings (of a signalling NaN, say) would reveal something of the cells."""
    return np.errstate(all="ignore")


def not_numeric(column: str) -> DataError:
    """The error for a column of a type that has no numbers."""
    advice = 'Declare a date by type = "date" in a schema; convert other columns, or declare them as factors.'
    return DataError(f"Column {column!r} holds dates, times or nested values, which are not numbers. {advice}")


def require_no_text(texts: Sequence[str]) -> None:
    """Refuse text where numbers are declared: the columns whose type it is, by their names."""
    if texts:
        labels = 'as labels, by type = "factor" in a schema or tacit.OneHotLevels in front of an estimator'
        spelt = (
            "convert texts that spell numbers (pandas.to_numeric(…, errors='coerce')), or give the path of a CSV file"
        )
        several = "Columns" if len(texts) > 1 else "Column"
        have = "have the type text, where numbers are" if len(texts) > 1 else "has the type text, where numbers are"
        raise DataError(f"{several} {', '.join(map(repr, texts))} {have} declared. Declare it {labels}; or {spelt}.")


def to_float64(values: NDArray[Any], column: str) -> Floats:
    """Numbers of an array of any type: missing is NaN, what is no number is infinite.

    Booleans are 0 and 1, a complex number without an imaginary part is its real part, a span of
    time the count of its units. Numbers are rounded to nearest; one that is too large is infinite.

    Guarantee: a cell's number depends on that cell and the type of the array alone. Whether an error is raised depends
    on the type of the array alone; it names the column.
    """
    kind = values.dtype.kind
    with quiet():
        if kind in "biuf":
            return np.asarray(values, dtype=np.float64)
        if kind == "c":
            return np.asarray(np.where(values.imag == 0.0, values.real, NO_NUMBER), dtype=np.float64)
        if kind == "m":
            return np.where(np.isnat(values), np.nan, values.astype(np.int64).astype(np.float64))
    if kind not in READABLE_KINDS:
        raise not_numeric(column)
    cells = values.ravel().tolist()
    return np.fromiter(map(cell_number, cells), np.float64, len(cells)).reshape(values.shape)


def cell_number(cell: Any) -> float:
    """Number of one cell of any type: NaN where it is missing, infinite where it is no number.

    Guarantee: whatever the cell is, this returns a float; no code of a class of the cell's own is run.
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
    if _CELL_NUMBER.fullmatch(spelt):
        return float(spelt)
    return float(_TRUTH.get(spelt.lower(), NO_NUMBER))


# By type, and by the methods of known types: a class of the cell's own could do anything.
_READINGS: tuple[tuple[Any, Callable[[Any], float]], ...] = (
    (str, lambda cell: text_number(str.__str__(cell))),
    (bytes, lambda cell: text_number(bytes.decode(cell, errors="replace"))),
    (float, float.__float__),
    (np.timedelta64 | np.datetime64, lambda cell: math.nan if np.isnat(cell) else NO_NUMBER),
    (np.bool_ | np.integer | np.floating, lambda cell: float(np.generic.item(cell))),
    # One beyond float64 raises, and is infinite as what is no number is.
    (int, int.__float__),
    (Decimal, Decimal.__float__),
)


def _number(cell: Any) -> float:
    cell = bare(cell)
    if is_missing(cell):
        return math.nan
    kind = type(cell)
    read = next((read for types, read in _READINGS if issubclass(kind, types)), None)
    return read(cell) if read else float(cell) if kind is Fraction else NO_NUMBER


def is_missing(cell: object) -> bool:
    """Whether a cell of an object array says "no value"."""
    # pandas' missing values are recognised by name, since pandas is not imported here.
    return cell is None or type(cell).__name__ in _MISSING_TYPES


def bare(cell: Any) -> Any:
    """The scalar in an array without dimensions; any other cell as it is."""
    if issubclass(type(cell), np.ndarray) and cell.ndim == 0 and not is_missing(cell):
        return cell[()]
    return cell


def normal_form(value: Any) -> NormalForm:
    """Form in which labels are compared: exact number, else text; None where missing.

    Booleans and the texts "true" and "false" in any case are the numbers 1 and 0; a text that
    spells a decimal number is that number. So 1, True, 1.0, "1", "1.0" and "1e0" are one label.
    NaN, infinite numbers and the empty text are missing, and so are lists, sets, dictionaries,
    arrays, and objects that have no text but their address. Anything else is its text.

    Guarantee: whatever the value is, nothing is raised; what has no text is missing.
    """
    try:
        return _form(bare(value))
    except Exception:  # noqa: BLE001 (whatever it raises could quote the label)
        return None


def _form(value: Any) -> NormalForm:  # noqa: PLR0911 (one line a type)
    # By type: a class of the label's own could say anything of itself.
    kind: type = type(value)
    if issubclass(kind, bytes):
        value = bytes.decode(value, errors="replace")
    if issubclass(kind, str | bytes):
        # The text itself, also where a subclass (an enumeration, say) prints otherwise.
        value = str.__str__(value)
        if _LABEL_NUMBER.fullmatch(value):
            return Decimal(value.strip())
        return _TRUTH.get(value.casefold(), value) if value else None
    if is_missing(value):
        return None
    if issubclass(kind, np.timedelta64 | np.datetime64):
        return None if np.isnat(value) else str(value)
    if issubclass(kind, bool | np.bool_ | int | np.integer):
        return Decimal(int(value))
    if issubclass(kind, float | np.floating | Decimal):
        # A number of the known type, whose hash and equality are known too.
        number = Decimal(value if issubclass(kind, Decimal) else repr(float(value)))
        return number if number.is_finite() else None
    nameless = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    collection = issubclass(kind, list | dict | set | frozenset | np.ndarray)
    return None if nameless or collection else str.__str__(str(value)) or None


def plain_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as numbers, text or objects, each for itself; dates become text.

    Spans of time are counts of their units, and complex numbers without an imaginary part are real:
    one record can make such of the whole numbers of all others.
    """
    kind = values.dtype.kind
    if kind in "Mm":
        cells = values.astype(str if kind == "M" else np.int64).astype(object)
        cells[np.isnat(values)] = None
        return cells
    if kind == "c":
        cells = values.astype(object)
        real = values.imag == 0.0
        cells[real] = values.real[real].astype(object)
        return cells
    if kind == "V":
        raise DataError("Labels must be numbers, booleans or text.")
    return values


def level_codes(labels: NDArray[Any], levels: Sequence[Any], column: str) -> Integers:
    """Index of each label among the declared levels, -1 where it is none of them.

    Guarantee: a label's code depends on that label and the declared levels only. No label is taken up as a new level.
    """
    forms = [normal_form(level) for level in levels]
    if None in forms or len(set(forms)) < len(forms):
        raise SchemaError(f"The declared levels of {column!r} must be different non-empty labels.")
    kind = labels.dtype.kind
    if kind in "biuf":
        codes = np.full(len(labels), -1, dtype=np.int64)
        dtype = {"b": np.int64, "f": np.float64}.get(kind, labels.dtype)
        with quiet():
            labels = labels.astype(dtype, copy=False)
            for code, form in enumerate(forms):
                twin = _twin(form, labels.dtype)
                if twin is not None:
                    codes[labels == twin] = code
        return codes
    index = {form: code for code, form in enumerate(forms)}
    code_of = remembering(lambda label: index.get(normal_form(label), -1))
    return np.fromiter(map(code_of, labels.tolist()), np.int64, len(labels))


def remembering(function: Callable[[Any], Value]) -> Callable[[Any], Value]:
    """The function of labels, computed once for equal labels of one type, for one batch."""
    # Labels of different types can be equal in Python and differ in normal form. Those of types
    # outside of REMEMBERED are not remembered: no record may depend on the records before it.
    known: dict[Any, Value] = {}

    def look_up(label: Any) -> Value:
        kind = type(label)
        if kind not in REMEMBERED:
            return function(label)
        if (kind, label) not in known:
            known[kind, label] = function(label)
        return known[kind, label]

    return look_up


def _twin(form: NormalForm, dtype: np.dtype[Any]) -> Any:
    """The only number of this dtype with this normal form, if there is one."""
    if not isinstance(form, Decimal):
        return None
    if dtype.kind == "f":
        return np.float64(form) if normal_form(float(form)) == form else None
    limits = np.iinfo(dtype)
    whole = limits.min <= form <= limits.max and form == form.to_integral_value()
    return dtype.type(int(form)) if whole else None
