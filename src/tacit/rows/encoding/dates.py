"""Dates as numbers: each cell by itself, whatever the table's type for them. Private: the cells. Public: the format."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.reading import EPOCH, SHORT_MONTHS, DateReading
from tacit.rows.encoding.cells import MISSING_WORDS, NO_NUMBER, bare, is_missing, remembering
from tacit.rows.storage.tiles import Floats

# What typed columns become, and the default of text: a date, and a time that is left out.
_ISO = re.compile(r"(?P<Y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})(?:[T ][0-9:.]*(?:Z|[+-][0-9:]+)?)?", re.ASCII)
_PIVOT = 69
"""Years of two digits from here on are of the last century, as POSIX has it."""


def date_numbers(cells: NDArray[Any], reading: DateReading) -> Floats:
    """Number of each date: missing is NaN, what is no date is infinite.

    Guarantee: a cell's number depends on that cell and the declared reading alone, and no cell raises.
    """
    number_of = remembering(_reader(reading))
    return np.fromiter(map(number_of, cells.tolist()), np.float64, len(cells))


def _reader(reading: DateReading) -> Callable[[Any], float]:
    pattern = reading.pattern

    def number(cell: Any) -> float:
        try:
            day = _day(bare(cell), pattern)
        except Exception:  # noqa: BLE001 (whatever it raises could quote the cell)
            return NO_NUMBER
        return reading.number(day) if math.isfinite(day) else day

    return number


def _day(cell: Any, pattern: re.Pattern[str]) -> float:
    """Days since 1970-01-01."""
    # By type, and by the methods of known types: a class of the cell's own could do anything.
    kind: type = type(cell)
    if issubclass(kind, str | bytes):
        text = bytes.decode(cell, errors="replace") if issubclass(kind, bytes) else str.__str__(cell)
        return _spelt(text, pattern)
    if is_missing(cell) or (issubclass(kind, float) and math.isnan(cell)):
        return math.nan
    if issubclass(kind, datetime | date):
        return float(date.toordinal(cell) - EPOCH)
    if issubclass(kind, np.datetime64):
        return math.nan if np.isnat(cell) else float(cell.astype("datetime64[D]").astype(np.int64))
    if issubclass(kind, int | np.integer | float | np.floating) and not issubclass(kind, bool) and cell == int(cell):
        # Dates written as numbers, 20150131.
        return _spelt(str(int(cell)), pattern)
    return NO_NUMBER


def _spelt(text: str, pattern: re.Pattern[str]) -> float:
    if text in MISSING_WORDS:
        return math.nan
    found = pattern.fullmatch(text.strip(" \t")) or _ISO.fullmatch(text.strip(" \t"))
    if found is None:
        return NO_NUMBER
    parts = found.groupdict()
    year = int(parts["Y"]) if "Y" in parts else _full_year(int(parts["y"]))
    month = int(parts["m"]) if "m" in parts else SHORT_MONTHS.index(parts["b"].lower()) + 1
    return float(date(year, month, int(parts.get("d", 1))).toordinal() - EPOCH)


def _full_year(short: int) -> int:
    return short + (1900 if short >= _PIVOT else 2000)
