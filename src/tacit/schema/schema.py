"""The schema: what is publicly known of a table before anybody looks at it.

Columns with their bounds or levels, the unit of privacy, the relation between neighbouring tables.
A schema is declared by a person, in TOML or in Python, and is never filled in from the data.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tacit.design.attached_columns import Unit, Weighting
from tacit.errors import FileError, InputError, SchemaError
from tacit.privacy.relation import Relation
from tacit.schema.columns import (
    BinaryColumn,
    DeclaredColumn,
    FactorColumn,
    Level,
    NumericColumn,
)
from tacit.validate import positive, whole

__all__ = ["BinaryColumn", "DeclaredColumn", "FactorColumn", "NumericColumn", "Schema"]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SHOWN_NAMES = 20
_ROW = "row"

_TYPES: dict[str, type[DeclaredColumn]] = {
    "numeric": NumericColumn,
    "factor": FactorColumn,
    "binary": BinaryColumn,
}
_REQUIRED = {"numeric": ("lower", "upper"), "factor": ("levels",), "binary": ()}
_ALLOWED = {
    "numeric": ("lower", "upper", "missing", "missing_indicator"),
    "factor": ("levels", "missing", "other"),
    "binary": ("levels", "missing", "other"),
}
_TOP_KEYS = ("relation", "unit", "n_at_least", "weight", "columns")


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
        The unit of privacy in words, e.g. "patient". Each unit holds at most one record, unless
        `person` says otherwise; then the default is the name of its column.
    n_at_least
        Public lower bound on the number of records, only where that number is private
        (relation "add-remove").
    person
        The column that says whose record it is, and how many records of one person are kept.
    weight
        The column that says how often a record counts, and its public largest value.

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
    NumericColumn(lower=0.0, upper=110.0, missing=None, missing_indicator=False)
    """

    columns: Mapping[str, DeclaredColumn] = field(hash=False)
    relation: Relation = Relation.REPLACE_ONE
    unit: str = _ROW
    n_at_least: int | None = None
    person: Unit | None = None
    weight: Weighting | None = None

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
        if self.person is not None and self.unit == _ROW:
            object.__setattr__(self, "unit", self.person.column)
        relation = Relation.parse(self.relation)
        _check_n_at_least(self.n_at_least, relation)
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "columns", MappingProxyType(columns))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy through the constructor: a read-only mapping cannot be copied by itself."""
        facts = (self.relation, self.unit, self.n_at_least, self.person, self.weight)
        return (Schema, (dict(self.columns), *facts))

    @property
    def predictors(self) -> tuple[str, ...]:
        """Declared columns but those that say whose record it is or how often it counts."""
        beside = {part.column for part in (self.person, self.weight) if part is not None}
        return tuple(name for name in self.columns if name not in beside)

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
        except (ValueError, RecursionError) as error:
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
        unit = data.get("unit", _ROW)
        person = None
        if isinstance(unit, Mapping):
            unit, person = _declared_person(unit)
        return cls(
            columns={name: _declared_column(name, facts) for name, facts in declared.items()},
            relation=data.get("relation", Relation.REPLACE_ONE),
            unit=unit,
            n_at_least=data.get("n_at_least"),
            person=person,
            weight=_declared_weight(data["weight"]) if "weight" in data else None,
        )

    def to_toml(self) -> str:
        """TOML text that `parse` reads back as the same schema."""
        lines = [f"relation = {toml_string(self.relation)}"]
        if self.person is None:
            lines.append(f"unit = {toml_string(self.unit)}")
        if self.n_at_least is not None:
            lines.append(f"n_at_least = {self.n_at_least}")
        if self.person is not None:
            lines += ["", "[unit]"]
            lines += _toml_lines(self.person, ("column", "max_rows", "order"))
            if self.unit != self.person.column:
                lines.append(f"name = {toml_string(self.unit)}")
        if self.weight is not None:
            lines += ["", "[weight]", *_toml_lines(self.weight, ("column", "maximum"))]
        kinds = {declared: kind for kind, declared in _TYPES.items()}
        for name, column in self.columns.items():
            kind = kinds[type(column)]
            lines += ["", f"[columns.{toml_key(name)}]", f'type = "{kind}"']
            lines += _toml_lines(column, _ALLOWED[kind])
        return "\n".join(lines) + "\n"


def toml_string(text: str) -> str:
    """Text as a TOML basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A column's name as a TOML key, quoted where it has to be."""
    return name if _BARE_KEY.fullmatch(name) else toml_string(name)


def _toml_lines(facts: object, keys: Iterable[str]) -> list[str]:
    """The facts that are declared, one a line; what is left out has no value."""
    values = ((key, getattr(facts, key)) for key in keys)
    return [
        f"{key} = {_toml_value(value)}"
        for key, value in values
        if value is not None and (key, value) != ("missing_indicator", False)
    ]


def _toml_value(value: Level | tuple[Level, ...]) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
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


def _declared_person(facts: Mapping[str, Any]) -> tuple[str, Unit]:
    """The unit in words, and the column that holds it."""
    where = "unit: "
    keys = ("column", "max_rows", "order", "name")
    form = '[unit] with column = "patient_number" and max_rows = 3'
    _require_section(facts, ("column", "max_rows"), keys, where, form)
    for key in ("column", "order", "name"):
        if key in facts and (not isinstance(facts[key], str) or not facts[key].strip()):
            raise SchemaError(f"{where}{key} must be text; got {facts[key]!r}.")
    if isinstance(facts["max_rows"], bool):
        raise SchemaError(f"{where}max_rows must be a whole number.")
    try:
        person = Unit(facts["column"], facts["max_rows"], facts.get("order"))
    except InputError as error:
        raise SchemaError(f"{where}{error}") from error
    return facts.get("name", person.column), person


def _declared_weight(facts: object) -> Weighting:
    where, keys = "weight: ", ("column", "maximum")
    form = '[weight] with column = "weight" and maximum = 10'
    if not isinstance(facts, Mapping):
        raise SchemaError(f"{where}expected a table, {form}.")
    _require_section(facts, keys, keys, where, form)
    column, maximum = facts["column"], facts["maximum"]
    if not isinstance(column, str) or not column.strip():
        raise SchemaError(f"{where}column must be text; got {column!r}.")
    return Weighting(column, positive(f"{where}maximum", maximum, SchemaError))


def _require_section(
    facts: Mapping[str, Any], required: Iterable[str], known: Iterable[str], where: str, form: str
) -> None:
    _refuse_unknown_keys(facts, known, where)
    missing = [key for key in required if key not in facts]
    if missing:
        raise SchemaError(f"{where}missing {' and '.join(missing)}; expected {form}.")


def _check_n_at_least(value: object, relation: Relation) -> None:
    if value is None:
        return
    whole("n_at_least", value, error=SchemaError)
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
