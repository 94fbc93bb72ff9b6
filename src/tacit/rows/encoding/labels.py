"""Labels and their normal form: when a cell counts as equal to a declared level or class.

Private: every array given here. Public: the declared levels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import DataError, SchemaError
from tacit.rows.storage.tiles import Integers

NormalForm = Decimal | str | None
Value = TypeVar("Value")
REMEMBERED = frozenset({str, int, float, bool, bytes})
"""Types of which equal labels have equal normal forms."""

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,6})?\s*", re.ASCII)
_TRUTH = {"true": Decimal(1), "false": Decimal(0)}
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType", "MaskedConstant"})
_COLLECTIONS = (list, dict, set, frozenset, np.ndarray)


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

    Guarantee
    ---------
    - Whatever the value is, nothing is raised; what has no text is missing.
    """
    try:
        return _form(bare(value))
    except Exception:  # noqa: BLE001 (whatever it raises could quote the label)
        return None


def _form(value: Any) -> NormalForm:
    # By type: a class of the label's own could say anything of itself.
    kind = type(value)
    if issubclass(kind, bytes):
        value = bytes.decode(value, errors="replace")
    if issubclass(kind, str | bytes):
        # The text itself, also where a subclass (an enumeration, say) prints otherwise.
        value = str.__str__(value)
        if _NUMBER.fullmatch(value):
            return Decimal(value.strip())
        return _TRUTH.get(value.casefold(), value) if value else None
    if is_missing(value):
        return None
    if issubclass(kind, np.timedelta64 | np.datetime64):
        return None if np.isnat(value) else str(value)
    return _number_form(value, kind)


def _number_form(value: Any, kind: type) -> NormalForm:
    if issubclass(kind, bool | np.bool_ | int | np.integer):
        return Decimal(int(value))
    if issubclass(kind, float | np.floating):
        value = Decimal(repr(float(value)))
    if issubclass(kind, float | np.floating | Decimal):
        # A number of the known type, whose hash and equality are known too.
        number = Decimal(value)
        return number if number.is_finite() else None
    nameless = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    if nameless or issubclass(kind, _COLLECTIONS):
        return None
    return str.__str__(str(value)) or None


def plain_labels(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as numbers, text or objects, each for itself.

    Dates become text. Spans of time are counts of their units, and complex numbers without an
    imaginary part are real: one record can make such of the whole numbers of all others.
    """
    kind = values.dtype.kind
    if kind == "M":
        text = values.astype(str).astype(object)
        text[np.isnat(values)] = None
        return text
    if kind == "m":
        counts = values.astype(np.int64).astype(object)
        counts[np.isnat(values)] = None
        return counts
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

    Guarantee
    ---------
    - A label's code depends on that label and the declared levels only.
    - No label is taken up as a new level.
    """
    forms = [normal_form(level) for level in levels]
    if None in forms or len(set(forms)) < len(forms):
        raise SchemaError(f"The declared levels of {column!r} must be different non-empty labels.")
    kind = labels.dtype.kind
    if kind in "biuf":
        dtype = {"b": np.int64, "f": np.float64}.get(kind, labels.dtype)
        # A warning by numpy would reveal something of the labels.
        with np.errstate(over="ignore"):
            return _number_codes(labels.astype(dtype, copy=False), forms)
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


def _number_codes(labels: NDArray[Any], forms: Sequence[NormalForm]) -> Integers:
    codes = np.full(len(labels), -1, dtype=np.int64)
    for index, form in enumerate(forms):
        twin = _twin(form, labels.dtype)
        if twin is not None:
            codes[labels == twin] = index
    return codes


def _twin(form: NormalForm, dtype: np.dtype[Any]) -> Any:
    """The only number of this dtype with this normal form, if there is one."""
    if not isinstance(form, Decimal):
        return None
    if dtype.kind == "f":
        near = float(form)
        return np.float64(near) if normal_form(near) == form else None
    limits = np.iinfo(dtype)
    if limits.min <= form <= limits.max and form == form.to_integral_value():
        return dtype.type(int(form))
    return None
