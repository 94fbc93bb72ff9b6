"""How the cells of a table are spelt: the format of a file, codes for missing cells, dates. All of it is declared."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from types import MappingProxyType

from tacit.display import Displayed
from tacit.documents.dataclass_json import OMITTED
from tacit.errors import SchemaError
from tacit.validate import one_of, shown

ISO = "%Y-%m-%d"
EPOCH = date(1970, 1, 1).toordinal()
YEAR = 365.2425
"""Days of a mean year of the calendar, so that years from 1970 on are nearly those that people write."""
WORDS = MappingProxyType({"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " "})
"""Delimiters that a shell or a schema spells badly."""
_NO_DELIMITER = frozenset("\"'\r\n\0+-._")
_PARTS = {"Y": "[0-9]{4}", "y": "[0-9]{2}", "m": "[0-9]{1,2}", "d": "[0-9]{1,2}", "b": "[A-Za-z]{3}"}
_TIMES = {"H": "[0-9]{1,2}", "M": "[0-9]{2}", "S": r"[0-9]{2}(?:\.[0-9]+)?"}
_SPELT = {name: f"(?P<{name}>{digits})" for name, digits in _PARTS.items()} | _TIMES
SHORT_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ASCII, _OTHERS = bytes(range(128)), bytes(range(128, 256))
# Codecs of Python that read text by a table, without shifts and escapes that reach over several letters.
_TABLES = re.compile(
    r"ascii|utf-8(-sig)?|iso8859-[0-9]+|cp[0-9]+|koi8-[rtu]|mac-\w+|tis-620|gb2312|gbk|gb18030|big5(hkscs)?|johab|"
    r"shift_jis(_2004|x0213)?|euc_(jp|kr|jis_2004|jisx0213)|ptcp154|kz1048|hp-roman8"
)


@dataclass(frozen=True)
class FileFormat(Displayed):
    """How a text file is written; a delimiter of None is a tab for .tsv files and a comma for others.

    Guarantee: the encoding has ASCII's bytes for ASCII's letters, and each byte of a line feed ends a line, so lines
    are told apart before they are decoded.
    """

    delimiter: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        one_of("decimal", self.decimal, (".", ","), SchemaError)
        object.__setattr__(self, "encoding", _encoding(self.encoding))

    @property
    def by_line(self) -> bool:
        """Whether characters have several bytes, in other ways than UTF-8's, which is told apart at any byte."""
        return self.encoding != "utf-8" and len(_OTHERS.decode(self.encoding, "replace")) < len(_OTHERS)


def _delimiter(given: object) -> str:
    found = WORDS.get(given, given) if isinstance(given, str) else None
    usable = isinstance(found, str) and len(found) == 1 and found.isascii() and not found.isalnum()
    if not isinstance(found, str) or not usable or found in _NO_DELIMITER:
        raise SchemaError(f'delimiter must be one character such as ";", "|" or "tab"; got {shown(given)}.')
    return found


def _encoding(given: object) -> str:
    expected = 'such as "utf-8", "latin-1" or "cp1252"'
    try:
        name = codecs.lookup(given).name  # type: ignore[arg-type]
        plain = _TABLES.fullmatch(name) and _ASCII.decode(name) == _ASCII.decode("ascii")
        # Two codecs have further bytes for quotes and commas.
        plain = plain and not any(letter.isascii() for letter in _OTHERS.decode(name, "replace"))
    except (LookupError, TypeError, ValueError):
        raise SchemaError(f"encoding must be the name of one, {expected}; got {shown(given)}.") from None
    if not plain:
        raise SchemaError(f"encoding must write ASCII as it is, {expected}; got {shown(given)}. Save it as UTF-8.")
    return "utf-8" if name == "utf-8-sig" else name


@dataclass(frozen=True)
class DateReading:
    """How a date becomes a number: days since 1970-01-01, or years of 365.2425 days, 1970 on that day.

    With an origin, days or years since that date. `format` has %Y or %y, %m or %b, perhaps %d (without it
    the first of the month is meant), and times that are left out.
    """

    format: str = ISO
    unit: str = "days"
    origin: str | None = None

    def __post_init__(self) -> None:
        one_of("unit", self.unit, ("days", "years"), SchemaError)
        if self.origin is not None:
            object.__setattr__(self, "origin", declared_date("origin", self.origin).isoformat())
        if not isinstance(self.format, str) or not self.format or len(self.format) > 60:
            raise SchemaError(f"format must be text such as {ISO!r} or '%d.%m.%Y'; got {shown(self.format)}.")
        found = re.findall("%(.?)", self.format)
        known = set(found) <= {*_SPELT, "%"} and len(set(found) - {"%"}) == len([it for it in found if it != "%"])
        one = all(len(set(found) & set(names)) == 1 for names in ("Yy", "mb"))
        if not known or not one:
            parts = "a year (%Y or %y), a month (%m or %b) and perhaps a day (%d), each once; times are %H, %M, %S"
            raise SchemaError(f"format must have {parts}; got {shown(self.format)}.")
        if self.format.startswith("%Y-%d-%m"):
            raise SchemaError(f"format {self.format!r} cannot be told from {ISO}; write the dates otherwise.")

    @property
    def pattern(self) -> re.Pattern[str]:
        """A text of this format, with a group for each part that counts."""
        pieces = re.split("%(.)", self.format)
        spelt = [re.escape(it) if place % 2 == 0 else _SPELT.get(it, "%") for place, it in enumerate(pieces)]
        return re.compile("".join(spelt), re.ASCII)

    def number(self, day: float) -> float:
        """The number of a day, counted from 1970-01-01."""
        start = 0 if self.origin is None else _since_epoch(date.fromisoformat(self.origin))
        if self.unit == "days":
            return day - start
        return (day - start) / YEAR + (1970.0 if self.origin is None else 0.0)

    def date_of(self, number: float) -> date:
        """The date whose number this is."""
        start = 0 if self.origin is None else _since_epoch(date.fromisoformat(self.origin))
        if self.unit == "days":
            return date.fromordinal(round(number) + start + EPOCH)
        return date.fromordinal(round((number - (1970.0 if self.origin is None else 0.0)) * YEAR) + start + EPOCH)


def declared_date(name: str, given: object) -> date:
    """A date of a schema: TOML's own, Python's, or text as 2015-01-31."""
    if isinstance(given, date):
        return given.date() if isinstance(given, datetime) else given
    try:
        return date.fromisoformat(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise SchemaError(f"{name} must be a date such as 2015-01-31; got {shown(given)}.") from None


def _since_epoch(day: date) -> int:
    return day.toordinal() - EPOCH


def number_of(reading: DateReading, day: date) -> float:
    """The number of a declared date."""
    return reading.number(_since_epoch(day))


@dataclass(frozen=True)
class Reading:
    """All that is declared of how a table is written.

    `missing_codes` stand for a missing cell in every column, `codes` in the column they are listed under. Codes are
    compared as labels are: -99 and "-99.0" are one.
    """

    file: FileFormat = field(default_factory=FileFormat, metadata=OMITTED)
    missing_codes: tuple[str, ...] = field(default=(), metadata=OMITTED)
    codes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, metadata=OMITTED)
    dates: Mapping[str, DateReading] = field(default_factory=dict, metadata=OMITTED)

    @property
    def is_plain(self) -> bool:
        """Whether cells are read as they are."""
        return not (self.missing_codes or self.codes or self.dates)

    def codes_of(self, column: str) -> tuple[str, ...]:
        """What stands for a missing cell of a column."""
        return tuple(dict.fromkeys((*self.missing_codes, *self.codes.get(column, ()))))


def codes_given(name: str, given: object) -> tuple[str, ...]:
    """Codes for missing cells, as text: a list of numbers and texts, or one of them."""
    values = [given] if isinstance(given, str | int | float) else given
    if not isinstance(values, Iterable) or isinstance(values, Mapping):
        raise SchemaError(f'{name} must be a list such as [-99, "unknown"]; got {shown(given)}.')
    listed = list(values)
    for code in listed:
        usable = isinstance(code, str | int | float) and not isinstance(code, bool) and code == code  # noqa: PLR0124
        if not usable or code == "":
            raise SchemaError(f"{name} must be numbers or texts that are not empty; got {shown(code)}.")
    return tuple(dict.fromkeys(str(code) for code in listed))
