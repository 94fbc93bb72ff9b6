"""The schema: what is publicly known of a table before anybody looks at it.

Columns with their bounds or levels, the unit of privacy, the relation between neighbouring tables.
A schema is declared by a person, in TOML or in Python, and is never filled in from the data.
"""

from __future__ import annotations

import difflib
import json
import math
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from tacit.errors import BoundsError, FileError, InputError, SchemaError
from tacit.privacy.relation import Relation

Level = str | int | float

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN_NAMES = 20
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class NumericColumn:
    """A column of numbers with public bounds; a value outside them is clipped to them.

    Guarantee
    ---------
    - The bounds are finite, lower < upper, and their map to [-1, 1] is finite both ways.
    """

    lower: float
    upper: float

    def __post_init__(self) -> None:
        """Keep the bounds as floats, or refuse them."""
        lower, upper = _bound("lower", self.lower), _bound("upper", self.upper)
        if lower >= upper:
            raise BoundsError(
                f"lower = {lower:g} must lie below upper = {upper:g}; are they reversed?"
            )
        if not math.isfinite(lower + upper) or not math.isfinite(upper - lower):
            raise BoundsError("lower and upper are too large for float64; rescale the column.")
        if (upper - lower) / 2 < sys.float_info.min:
            raise BoundsError("lower and upper are too close for float64; rescale the column.")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)


@dataclass(frozen=True)
class FactorColumn:
    """A column of two or more declared levels; the first is the reference.

    Guarantee
    ---------
    - No two levels can be the same in a file: 1, 1.0, "1" and "true" are one level.
    """

    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        """Keep the levels as a tuple, or refuse them."""
        object.__setattr__(self, "levels", _distinct_levels(self.levels))


@dataclass(frozen=True)
class BinaryColumn:
    """A column of two declared levels, the negative one first: a response or a 0/1 predictor."""

    levels: tuple[Level, ...] = (0, 1)

    def __post_init__(self) -> None:
        """Keep the levels as a tuple, or refuse them."""
        levels = _distinct_levels(self.levels)
        if len(levels) != 2:
            raise SchemaError(
                f"a binary column has exactly two levels; got {len(levels)}. "
                'Declare type = "factor" for more.'
            )
        object.__setattr__(self, "levels", levels)


DeclaredColumn = NumericColumn | FactorColumn | BinaryColumn

_TYPES: dict[str, type[DeclaredColumn]] = {
    "numeric": NumericColumn,
    "factor": FactorColumn,
    "binary": BinaryColumn,
}
_REQUIRED = {"numeric": ("lower", "upper"), "factor": ("levels",), "binary": ()}
_ALLOWED = {"numeric": ("lower", "upper"), "factor": ("levels",), "binary": ("levels",)}
_TOP_KEYS = ("relation", "unit", "n_at_least", "columns")


@dataclass(frozen=True)
class Schema:
    """The public facts about a table.

    Guarantee
    ---------
    - Unknown keys, missing bounds and missing levels are refused, never guessed.
    - `Schema.parse(schema.to_toml()) == schema`.

    Parameters
    ----------
    columns
        Declared columns by name, in the order of the table.
    relation
        What makes two tables neighbours.
    unit
        What one record is, e.g. "patient"; each unit holds at most one record.
    n_at_least
        Public lower bound on the number of records, only where that number is private
        (relation "add-remove").

    Examples
    --------
    >>> schema = Schema.parse('''
    ... unit = "patient"
    ... [columns.age]
    ... type = "numeric"
    ... lower = 0
    ... upper = 110
    ... ''')
    >>> schema.columns["age"]
    NumericColumn(lower=0.0, upper=110.0)
    """

    columns: Mapping[str, DeclaredColumn] = field(hash=False)
    relation: Relation = Relation.REPLACE_ONE
    unit: str = "row"
    n_at_least: int | None = None

    def __post_init__(self) -> None:
        """Freeze the columns and check what the fields say together."""
        columns = dict(self.columns)
        if not columns:
            raise SchemaError("The schema declares no columns; write a [columns.NAME] for each.")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise SchemaError(f"A column's name must be non-empty text; got {name!r}.")
            if not isinstance(column, DeclaredColumn):
                raise SchemaError(
                    f"{_where(name)}expected a NumericColumn, FactorColumn or BinaryColumn."
                )
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise SchemaError('unit must say what one record is, e.g. unit = "patient".')
        relation = Relation.parse(self.relation)
        _check_n_at_least(self.n_at_least, relation)
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "columns", MappingProxyType(columns))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy through the constructor: a read-only mapping cannot be copied by itself."""
        return (Schema, (dict(self.columns), self.relation, self.unit, self.n_at_least))

    def column(self, name: str) -> DeclaredColumn:
        """The declared column of that name, or an error that lists the declared ones."""
        if name not in self.columns:
            raise SchemaError(
                f'Column "{name}" is not declared in the schema.{_hint(name, self.columns)} '
                f"Declared: {_listing(self.columns)}."
            )
        return self.columns[name]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema from a TOML file."""
        name = os.fspath(path)
        try:
            text = Path(path).read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise FileError(f"Cannot read the schema {name}: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise FileError(f"The schema {name} is not a text file in UTF-8.") from error
        try:
            return cls.parse(text)
        except InputError as error:
            raise type(error)(f"{name}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> Schema:
        """Read a schema from TOML text."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise SchemaError(
                f"The schema is not valid TOML: {error}. Text needs quotes, and so does a column "
                'name with spaces or dots: [columns."blood pressure"].'
            ) from error
        return cls.from_mapping(data)

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> Schema:
        """Build a schema from plain data laid out like the TOML file."""
        if not isinstance(data, Mapping):
            raise SchemaError("A schema is a mapping with the key columns.")
        _refuse_unknown_keys(data, _TOP_KEYS, "")
        declared = data.get("columns", {})
        if not isinstance(declared, Mapping):
            raise SchemaError("columns must be a table with one [columns.NAME] per column.")
        return cls(
            columns={name: _declared_column(name, facts) for name, facts in declared.items()},
            relation=data.get("relation", Relation.REPLACE_ONE),
            unit=data.get("unit", "row"),
            n_at_least=data.get("n_at_least"),
        )

    def to_toml(self) -> str:
        """TOML text that `parse` reads back as the same schema."""
        lines = [f"relation = {toml_string(self.relation)}", f"unit = {toml_string(self.unit)}"]
        if self.n_at_least is not None:
            lines.append(f"n_at_least = {self.n_at_least}")
        for name, column in self.columns.items():
            lines += ["", f"[columns.{toml_key(name)}]"]
            match column:
                case NumericColumn():
                    lines.append('type = "numeric"')
                    lines.append(f"lower = {_toml_value(column.lower)}")
                    lines.append(f"upper = {_toml_value(column.upper)}")
                case FactorColumn() | BinaryColumn():
                    kind = "factor" if isinstance(column, FactorColumn) else "binary"
                    lines.append(f'type = "{kind}"')
                    lines.append(f"levels = [{', '.join(map(_toml_value, column.levels))}]")
        return "\n".join(lines) + "\n"


def toml_string(text: str) -> str:
    """Text as a TOML basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A column's name as a TOML key, quoted where it has to be."""
    return name if _BARE_KEY.fullmatch(name) else toml_string(name)


def _toml_value(value: Level) -> str:
    if isinstance(value, str):
        return toml_string(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _declared_column(name: str, facts: object) -> DeclaredColumn:
    where = _where(name)
    if not isinstance(facts, Mapping):
        raise SchemaError(
            f'{where}expected a table such as [columns.{name}] with type = "numeric".'
        )
    kinds = ", ".join(f'"{kind}"' for kind in _TYPES)
    if "type" not in facts:
        raise SchemaError(f"{where}type is missing; declare one of {kinds}.")
    kind = facts["type"]
    if not isinstance(kind, str) or kind not in _TYPES:
        raise SchemaError(f"{where}type must be one of {kinds}; got {kind!r}.")
    _refuse_unknown_keys(facts, ("type", *_ALLOWED[kind]), where)
    missing = [key for key in _REQUIRED[kind] if key not in facts]
    if missing:
        raise SchemaError(
            f"{where}missing {' and '.join(missing)}. Those are public facts, declared by a person "
            "who knows what the column can hold, and are never read off the data: fill them in, "
            "or delete the column from the schema if no model needs it."
        )
    try:
        return _TYPES[kind](**{key: facts[key] for key in _ALLOWED[kind] if key in facts})
    except InputError as error:
        raise type(error)(f"{where}{error}") from error


def _bound(key: str, value: object) -> float:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, int | float):
        raise BoundsError(f"{key} must be a number; got {plain!r}.")
    try:
        number = float(plain)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise BoundsError(f"{key} must be a finite number; got {number}.")
    return number


def _distinct_levels(values: object) -> tuple[Level, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise SchemaError('levels must be a list, e.g. levels = ["a", "b", "c"].')
    levels = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    for level in levels:
        if not isinstance(level, str | int | float):
            raise SchemaError(f"a level must be text, a number or a boolean; got {level!r}.")
        if isinstance(level, float) and not math.isfinite(level):
            raise SchemaError("a level must be a finite number.")
        if level == "":
            raise SchemaError("an empty level cannot be told from a missing value; name it.")
    if len({_sort(level) for level in levels}) > 1:
        raise SchemaError("levels must be all text, all numbers or all booleans.")
    if len(levels) < 2:
        raise SchemaError(f"at least two levels are needed; got {len(levels)}.")
    seen: dict[float | str, Level] = {}
    for level in levels:
        identity = _identity(level)
        if identity in seen:
            raise SchemaError(
                f"the levels {seen[identity]!r} and {level!r} are the same; list each once."
            )
        seen[identity] = level
    return levels


def _sort(level: Level) -> str:
    if isinstance(level, bool):
        return "boolean"
    return "text" if isinstance(level, str) else "number"


def _identity(level: Level) -> float | str:
    """The number a level spells, else its text: files do not tell 1 from "1", 1.0 or "true"."""
    try:
        number = float(_TRUTH.get(str(level).casefold(), level))
    except (ValueError, OverflowError):
        return str(level)
    return number if math.isfinite(number) else str(level)


def _check_n_at_least(value: object, relation: Relation) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SchemaError(f"n_at_least must be a whole number of at least 1; got {value!r}.")
    if relation.n_is_public:
        raise SchemaError(
            f'n_at_least belongs to relation = "add-remove"; with "{relation}" the number of '
            "records is public. Remove n_at_least or change the relation."
        )


def _refuse_unknown_keys(data: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise SchemaError(
                f'{where}unknown key "{key}".{_hint(key, known)} Known: {_listing(known)}.'
            )


def _where(name: str) -> str:
    return f'Column "{name}": '


def _hint(name: object, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f' Did you mean "{close[0]}"?' if close else ""


def _listing(names: Iterable[str]) -> str:
    names = list(names)
    rest = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {rest} more" if rest > 0 else "")
