"""Declared columns: what is publicly known of one column of a table."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np

from tacit.design.factor import LabelCell, NumericCell
from tacit.design.reading import ISO, DateReading, codes_given, declared_date, number_of
from tacit.errors import BoundsError, SchemaError
from tacit.validate import finite, shown

Level = str | int | float
SHOWN_LEVELS = 6
"""Of a schema that is printed."""


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers with public bounds; a value outside them is clipped to them.

    `missing` is the constant that stands for a missing cell of a predictor; without one such a
    record is invalid. With `missing_indicator` a 0/1 column of the design marks those records. `missing_codes` are
    cells that mean "missing", such as -99.

    Guarantee: the bounds are finite, lower < upper, and their map to [-1, 1] is finite both ways. What stands for a
    missing cell is declared, and lies within the bounds.
    """

    lower: float
    upper: float
    missing: float | None = None
    missing_indicator: bool = False
    missing_codes: tuple[str, ...] = ()
    kind: ClassVar[str] = "numeric"

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_codes", codes_given("missing_codes", self.missing_codes))
        lower = finite("lower", self.lower, BoundsError)
        upper = finite("upper", self.upper, BoundsError)
        if lower >= upper:
            raise BoundsError(f"lower = {lower:g} must lie below upper = {upper:g}; are they reversed?")
        if not math.isfinite(lower + upper) or not math.isfinite(upper - lower):
            raise BoundsError("lower and upper are too large for float64; rescale the column.")
        if (upper - lower) / 2 < sys.float_info.min:
            raise BoundsError("lower and upper are too close for float64; rescale the column.")
        missing = None if self.missing is None else finite("missing", self.missing, BoundsError)
        if missing is not None and not lower <= missing <= upper:
            bounds = f"lower = {lower:g} and upper = {upper:g}"
            raise BoundsError(f"missing = {missing:g} must lie within {bounds}: it is used in place of a missing cell.")
        for name, value in (("lower", lower), ("upper", upper), ("missing", missing)):
            object.__setattr__(self, name, value)
        if not isinstance(self.missing_indicator, bool):
            raise SchemaError("missing_indicator must be true or false.")
        if self.missing_indicator and self.missing is None:
            declare = "declare it, missing = …, within the bounds"
            raise SchemaError(f"missing_indicator marks cells that a constant stands for: {declare}.")

    @property
    def declared(self) -> str:
        """The bounds, in few words."""
        return f"{self.lower:g} to {self.upper:g}"

    @property
    def cell(self) -> NumericCell:
        """The rule for a cell."""
        return NumericCell(self.lower, self.upper, self.missing)

    def facts(self) -> dict[str, Any]:
        """What is declared, as a schema spells it."""
        return {**asdict(self), "missing_indicator": self.missing_indicator or None}

    def holds(self, code: str) -> bool:
        """Whether a code for missing cells could be a value of this column."""
        return isinstance(number := _identity(code), float) and self.lower <= number <= self.upper


@dataclass(frozen=True)
class DateColumn(NumericColumn):
    """A column of dates between public ones, read as days or years; a date outside them is clipped.

    `lower`, `upper` and `missing` are given as dates, and kept as the numbers that the dates become. `format` is how a
    text file spells a date.

    Examples
    --------
    >>> DateColumn("2015-01-01", "2024-12-31", unit="years").declared
    '2015-01-01 to 2024-12-31, in years'
    """

    format: str = ISO
    unit: str = "days"
    origin: str | None = None
    kind: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        reading = self.reading
        object.__setattr__(self, "origin", reading.origin)
        for name in ("lower", "upper", "missing"):
            given: Any = getattr(self, name)
            if name != "missing" or given is not None:
                object.__setattr__(self, name, number_of(reading, declared_date(name, given)))
        super().__post_init__()

    @property
    def reading(self) -> DateReading:
        """How a cell becomes a number."""
        return DateReading(self.format, self.unit, self.origin)

    @property
    def declared(self) -> str:
        """The first and the last date."""
        return f"{self.reading.date_of(self.lower)} to {self.reading.date_of(self.upper)}, in {self.unit}"

    def facts(self) -> dict[str, Any]:
        """What is declared, as a schema spells it."""
        reading = self.reading
        dates = {name: getattr(self, name) for name in ("lower", "upper", "missing")}
        spelt = {name: None if number is None else reading.date_of(number) for name, number in dates.items()}
        origin = None if self.origin is None else date.fromisoformat(self.origin)
        return {**super().facts(), **spelt, "origin": origin}

    def holds(self, code: str) -> bool:
        """Whether a code for missing cells could be a value of this column."""
        return self.reading.pattern.fullmatch(code) is not None


@dataclass(frozen=True)
class _LevelColumn:
    """What factors and binary columns share."""

    levels: tuple[Level, ...]
    missing: Level | None = None
    other: Level | None = None
    missing_codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "missing_codes", codes_given("missing_codes", self.missing_codes))
        known = _distinct_levels(self.levels)
        object.__setattr__(self, "levels", tuple(known.values()))
        for key in ("missing", "other"):
            given = getattr(self, key)
            plain = given.item() if isinstance(given, np.generic) else given
            if plain is None:
                continue
            level = known.get(_identity(plain)) if isinstance(plain, Level) else None
            if level is None:
                why = "since nothing is read off the data: add it to levels"
                raise SchemaError(f"{key} must be one of the declared levels, {why}; got {shown(plain)}.")
            object.__setattr__(self, key, level)
        for code in self.missing_codes:
            if self.holds(code):
                raise SchemaError(f"{shown(code)} cannot be a level and a code for missing cells; remove one.")

    def facts(self) -> dict[str, Any]:
        """What is declared, as a schema spells it."""
        return asdict(self)

    def holds(self, code: str) -> bool:
        """Whether a code for missing cells is a declared level."""
        return self.index_of(code) is not None

    @property
    def declared(self) -> str:
        """The levels, in few words."""
        first = ", ".join(shown(level) for level in self.levels[:SHOWN_LEVELS])
        left = len(self.levels) - SHOWN_LEVELS
        return f"{first} and {left:,} more" if left > 0 else first

    def index_of(self, level: object) -> int | None:
        """Index of the declared level that this is in a file; None where there is none."""
        identities = [_identity(declared) for declared in self.levels]
        found = _identity(level) if isinstance(level, Level) else None
        return identities.index(found) if found in identities else None

    @property
    def cell(self) -> LabelCell:
        """The rule for a cell."""
        return LabelCell(*(None if it is None else str(it) for it in (self.missing, self.other)))


@dataclass(frozen=True)
class FactorColumn(_LevelColumn):
    """A column of two or more declared levels; the first is the reference.

    `missing` is the level that stands for a missing cell of a predictor, `other` the one for a
    label that is not declared; without them such a record is invalid.

    Guarantee: no two levels can be the same in a file: 1, 1.0, "1" and "true" are one level. What stands for missing
    and undeclared labels is a declared level.
    """

    kind: ClassVar[str] = "factor"


@dataclass(frozen=True)
class BinaryColumn(_LevelColumn):
    """A factor of two declared levels, the negative one first: a response or a 0/1 predictor."""

    levels: tuple[Level, ...] = (0, 1)
    kind: ClassVar[str] = "binary"

    def __post_init__(self) -> None:
        super().__post_init__()
        if (found := len(self.levels)) != 2:
            raise SchemaError(f'a binary column has exactly two levels; got {found}. Declare type = "factor" for more.')


DeclaredColumn = NumericColumn | DateColumn | FactorColumn | BinaryColumn


def _distinct_levels(values: object) -> dict[float | str, Level]:
    """Declared levels by what they are in a file, in their order."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SchemaError('levels must be a list, e.g. levels = ["a", "b", "c"].')
    levels = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    for level in levels:
        if not isinstance(level, str | int | float):
            raise SchemaError(f"a level must be text, a number or a boolean; got {shown(level)}.")
        if isinstance(level, float) and not math.isfinite(level):
            raise SchemaError("a level must be a finite number.")
        if level == "":
            raise SchemaError("an empty level cannot be told from a missing value; name it.")
    kinds = {type(level) if isinstance(level, bool | str) else float for level in levels}
    if len(kinds) > 1:
        raise SchemaError("levels must be all text, all numbers or all booleans.")
    if len(levels) < 2:
        raise SchemaError(f"at least two levels are needed; got {len(levels)}.")
    seen: dict[float | str, Level] = {}
    for level in levels:
        identity = _identity(level)
        if identity in seen:
            raise SchemaError(f"the levels {shown(seen[identity])} and {shown(level)} are the same; list each once.")
        seen[identity] = level
    return seen


def _identity(level: Level) -> float | str:
    """The number a level spells, else its text: files do not tell 1 from "1", 1.0 or "true"."""
    try:
        number = float({"true": 1.0, "false": 0.0}.get(str(level).casefold(), level))
    except (ValueError, OverflowError):
        return str(level)
    return number if math.isfinite(number) else str(level)
