"""The schema: what is publicly known of a table, declared by a person and never read off the data.

It holds the columns with their bounds or levels, the unit of privacy, and the relation between
neighbouring tables. It is written in TOML or in Python.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from types import MappingProxyType
from typing import Any

from tacit.design.attached_columns import Unit, Weighting
from tacit.documents.quoting import quoted
from tacit.errors import FileError, InputError, SchemaError
from tacit.files import read_bytes
from tacit.privacy.relation import Relation
from tacit.schema.columns import BinaryColumn, DeclaredColumn, FactorColumn, NumericColumn
from tacit.schema.toml_text import parse_toml, toml_key, toml_lines
from tacit.validate import positive, shown, whole

__all__ = ["BinaryColumn", "DeclaredColumn", "FactorColumn", "NumericColumn", "Schema"]

_SHOWN_NAMES = 20
_ROW = "row"
_TYPES: Mapping[str, type[DeclaredColumn]] = {
    column.kind: column for column in (NumericColumn, FactorColumn, BinaryColumn)
}
_TOP_KEYS = ("relation", "unit", "n_at_least", "weight", "columns")


@dataclass(frozen=True)
class Schema:
    """The public facts about a table.

    Guarantee
    ---------
    - Unknown keys, missing bounds and missing levels are refused, never guessed.
    - `Schema.parse(schema.to_toml()) == schema`.

    `unit` is the unit of privacy in words, e.g. "patient". Each unit holds at most one record,
    unless `person` names a column and the number of records that a person keeps. `n_at_least` is a
    public lower bound on a private number of records (relation "add-remove"). `weight` names the
    column that says how often a record counts, and its public largest value.

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
        columns = dict(self.columns)
        if not columns:
            raise SchemaError("The schema declares no columns; write a [columns.NAME] for each.")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise SchemaError(f"A column's name must be non-empty text; got {shown(name)}.")
            if not isinstance(column, DeclaredColumn):
                kinds = "a NumericColumn, FactorColumn or BinaryColumn"
                raise SchemaError(f"Column {_named(name)}: expected {kinds}.")
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise SchemaError('unit must say what one record is, e.g. unit = "patient".')
        if self.person is not None and self.unit == _ROW:
            object.__setattr__(self, "unit", self.person.column)
        relation = Relation.parse(self.relation)
        if self.n_at_least is not None:
            whole("n_at_least", self.n_at_least, error=SchemaError)
            if relation.n_is_public:
                raise SchemaError(
                    f'n_at_least belongs to relation = "add-remove"; with "{relation}" the number '
                    "of records is public. Remove n_at_least or change the relation."
                )
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "columns", MappingProxyType(columns))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy through the constructor: a read-only mapping cannot be copied by itself."""
        facts = (self.relation, self.unit, self.n_at_least, self.person, self.weight)
        return (Schema, (dict(self.columns), *facts))

    @property
    def predictors(self) -> tuple[str, ...]:
        """Declared columns but those that name the person or hold the weight of a record."""
        attached = {held.column for held in (self.person, self.weight) if held is not None}
        return tuple(name for name in self.columns if name not in attached)

    def column(self, name: str) -> DeclaredColumn:
        """The declared column of that name, or an error that lists the declared ones."""
        if name not in self.columns:
            raise SchemaError(
                f"Column {_named(name)} is not declared in the schema."
                f"{_hint(name, self.columns)} Declared: {_listing(self.columns)}."
            )
        return self.columns[name]

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a schema from a TOML file."""
        name = os.fspath(path)
        try:
            text = read_bytes(path).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(f"The schema {name} is not a text file in UTF-8.") from error
        try:
            return cls.parse(text)
        except InputError as error:
            raise type(error)(f"{name}: {error}") from error

    @classmethod
    def parse(cls, text: str) -> Schema:
        """Read a schema from TOML text."""
        return cls.from_mapping(parse_toml(text))

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
        person = self.person
        unit = self.unit if person is None else None
        lines = toml_lines(
            {"relation": str(self.relation), "unit": unit, "n_at_least": self.n_at_least}
        )
        if person is not None:
            name = self.unit if self.unit != person.column else None
            lines += ["", "[unit]", *toml_lines({**asdict(person), "name": name})]
        if self.weight is not None:
            weight = {"column": self.weight.column, "maximum": self.weight.maximum}
            lines += ["", "[weight]", *toml_lines(weight)]
        for column_name, column in self.columns.items():
            facts = {"type": column.kind, **asdict(column)}
            if facts.get("missing_indicator") is False:
                del facts["missing_indicator"]
            lines += ["", f"[columns.{toml_key(column_name)}]", *toml_lines(facts)]
        return "\n".join(lines) + "\n"


def _declared_column(name: str, facts: object) -> DeclaredColumn:
    where = f"Column {_named(name)}: "
    if not isinstance(facts, Mapping):
        raise SchemaError(f'{where}expected a table with type = "numeric", for example.')
    kinds = ", ".join(f'"{kind}"' for kind in _TYPES)
    if "type" not in facts:
        raise SchemaError(f"{where}type is missing; declare one of {kinds}.")
    kind = facts["type"]
    if not isinstance(kind, str) or kind not in _TYPES:
        raise SchemaError(f"{where}type must be one of {kinds}; got {shown(kind)}.")
    allowed = [item.name for item in fields(_TYPES[kind])]
    _refuse_unknown_keys(facts, ("type", *allowed), where)
    required = [item.name for item in fields(_TYPES[kind]) if item.default is MISSING]
    missing = [key for key in required if key not in facts]
    if missing:
        raise SchemaError(
            f"{where}missing {' and '.join(missing)}. Those are public facts, declared by a person "
            "who knows what the column can hold, and are never read off the data: fill them in, "
            "or delete the column from the schema if no model needs it."
        )
    try:
        return _TYPES[kind](**{key: facts[key] for key in allowed if key in facts})
    except InputError as error:
        raise type(error)(f"{where}{error}") from error


def _declared_person(facts: Mapping[str, Any]) -> tuple[str, Unit]:
    """The unit in words, and the column that holds it."""
    where = "unit: "
    form = '[unit] with column = "patient_number" and max_rows = 3'
    _require_section(facts, ("column", "max_rows"), ("order", "name"), where, form)
    try:
        person = Unit(facts["column"], facts["max_rows"], facts.get("order"))
    except InputError as error:
        raise SchemaError(f"{where}{error}") from error
    return facts.get("name", person.column), person


def _declared_weight(facts: object) -> Weighting:
    where, form = "weight: ", '[weight] with column = "weight" and maximum = 10'
    if not isinstance(facts, Mapping):
        raise SchemaError(f"{where}expected a table, {form}.")
    _require_section(facts, ("column", "maximum"), (), where, form)
    return Weighting(facts["column"], positive(f"{where}maximum", facts["maximum"], SchemaError))


def _require_section(
    facts: Mapping[str, Any], required: tuple[str, ...], further: tuple[str, ...], *said: str
) -> None:
    where, form = said
    _refuse_unknown_keys(facts, required + further, where)
    missing = [key for key in required if key not in facts]
    if missing:
        raise SchemaError(f"{where}missing {' and '.join(missing)}; expected {form}.")
    for key in ("column", *further):
        if key in facts and (not isinstance(facts[key], str) or not facts[key].strip()):
            raise SchemaError(f"{where}{key} must be text; got {shown(facts[key])}.")


def _refuse_unknown_keys(data: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for key in data:
        if key not in known:
            raise SchemaError(
                f"{where}unknown key {_named(key)}.{_hint(key, known)} Known: {_listing(known)}."
            )


def _named(name: object) -> str:
    return quoted(str(name), bare=False)


def _hint(name: object, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(str(name)[:200], list(known), n=1)
    return f" Did you mean {_named(close[0])}?" if close else ""


def _listing(names: Iterable[str]) -> str:
    names = list(names)
    rest = len(names) - _SHOWN_NAMES
    listed = ", ".join(map(quoted, names[:_SHOWN_NAMES]))
    return listed + (f" and {rest} more" if rest > 0 else "")
