"""The schema: what is publicly known of a table, declared in TOML or Python and never read off the data."""

from __future__ import annotations

import difflib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from datetime import date
from types import MappingProxyType
from typing import Any

from tacit.design.attached_columns import Unit, Weighting
from tacit.design.reading import FileFormat, Reading, codes_given
from tacit.display import Displayed, Shown
from tacit.documents.canonical_json import quoted
from tacit.errors import FileError, InputError, SchemaError
from tacit.files import LARGEST_FILE, read_bytes
from tacit.privacy.relation import Relation
from tacit.schema.columns import BinaryColumn, DateColumn, DeclaredColumn, FactorColumn, NumericColumn
from tacit.text_table import Table
from tacit.validate import positive, shown, whole

__all__ = ["BinaryColumn", "DateColumn", "DeclaredColumn", "FactorColumn", "NumericColumn", "Schema"]

DEEPEST_KEY = 100
"""Parts of a dotted key. The time that tomllib takes grows with the square of their number."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST_KEY}}}")
_ROW = "row"
_Keys = Iterable[str]
_TYPES: Mapping[str, type[DeclaredColumn]] = {
    kind.kind: kind for kind in (NumericColumn, FactorColumn, BinaryColumn, DateColumn)
}


@dataclass(frozen=True, repr=False)
class Schema(Displayed):
    """The public facts about a table.

    Guarantee: unknown keys, missing bounds and missing levels are refused, never guessed.
    `Schema.parse(schema.to_toml()) == schema`.

    `unit` is the unit of privacy in words, e.g. "patient". Each unit holds at most one record, unless `person` names a
    column and the number of records that a person keeps. `n_at_least` is a public lower bound on a private number of
    records (relation "add-remove"). `weight` names the column of weights and its public largest value. `file` says how
    text files are written, and `missing_codes` what stands for a missing cell in every column.

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
    NumericColumn(lower=0.0, upper=110.0, missing=None, missing_indicator=False, missing_codes=())
    """

    columns: Mapping[str, DeclaredColumn] = field(hash=False)
    relation: Relation = Relation.REPLACE_ONE
    unit: str = _ROW
    n_at_least: int | None = None
    person: Unit | None = None
    weight: Weighting | None = None
    file: FileFormat = field(default_factory=FileFormat)
    missing_codes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = dict(self.columns)
        if not columns:
            raise SchemaError("The schema declares no columns; write a [columns.NAME] for each.")
        for name, column in columns.items():
            if not isinstance(name, str) or not name:
                raise SchemaError(f"A column's name must be non-empty text; got {shown(name)}.")
            if not isinstance(column, DeclaredColumn):
                raise SchemaError(f"Column {_named(name)}: expected a column such as NumericColumn.")
        if not isinstance(self.unit, str) or not self.unit.strip():
            raise SchemaError('unit must say what one record is, e.g. unit = "patient".')
        if self.person is not None and self.unit == _ROW:
            object.__setattr__(self, "unit", self.person.column)
        relation = Relation.parse(self.relation)
        if self.n_at_least is not None:
            whole("n_at_least", self.n_at_least, error=SchemaError)
            if relation.n_is_public:
                public = f'with "{relation}" the number of records is public. Remove n_at_least or change the relation'
                raise SchemaError(f'n_at_least belongs to relation = "add-remove"; {public}.')
        object.__setattr__(self, "missing_codes", codes_given("missing_codes", self.missing_codes))
        self._require_codes(columns)
        object.__setattr__(self, "relation", relation)
        object.__setattr__(self, "columns", MappingProxyType(columns))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy through the constructor: a read-only mapping cannot be copied by itself."""
        attached = self.person, self.weight, self.file, self.missing_codes
        return Schema, (dict(self.columns), self.relation, self.unit, self.n_at_least, *attached)

    def _require_codes(self, columns: Mapping[str, DeclaredColumn]) -> None:
        """Refuse a code of the whole table that is a value of some column: it would silently be lost there."""
        for name, column in columns.items():
            for code in self.missing_codes:
                if code not in column.missing_codes and column.holds(code):
                    advice = "list it as missing_codes of the columns in which it means that"
                    raise SchemaError(
                        f"Column {_named(name)}: {shown(code)} is a value that it can have ({column.declared}), and "
                        f"missing_codes of the whole table; {advice}."
                    )

    def _shown(self) -> Shown:
        rows = tuple((name, column.kind, column.declared) for name, column in self.columns.items())
        facts = [("Unit", self.unit), ("Relation", str(self.relation))]
        facts += [] if self.n_at_least is None else [("Records", f"at least {self.n_at_least:,}")]
        return Shown("Schema", tuple(facts), Table(("column", "type", "declared"), rows))

    @property
    def predictors(self) -> tuple[str, ...]:
        """Declared columns but those that name the person or hold the weight of a record."""
        named = {held.column for held in (self.person, self.weight) if held is not None}
        return tuple(name for name in self.columns if name not in named)

    @property
    def attached(self) -> tuple[str, ...]:
        """Columns that name or order a person's records, or hold the weight of a record."""
        person = () if self.person is None else (self.person.column, self.person.order)
        names = (*person, None if self.weight is None else self.weight.column)
        return tuple(name for name in names if name is not None)

    def reading(self, names: Iterable[str]) -> Reading:
        """How these columns are written."""
        declared = {name: self.columns[name] for name in dict.fromkeys(names) if name in self.columns}
        codes = {name: column.missing_codes for name, column in declared.items() if column.missing_codes}
        dates = {name: column.reading for name, column in declared.items() if isinstance(column, DateColumn)}
        return Reading(self.file, self.missing_codes, codes, dates)

    def column(self, name: str) -> DeclaredColumn:
        """The declared column of that name, or an error that lists the declared ones."""
        if name not in self.columns:
            hint = f"{_hint(name, self.columns)} Declared: {_listing(self.columns)}."
            raise SchemaError(f"Column {_named(name)} is not declared in the schema.{hint}")
        return self.columns[name]

    @classmethod
    def of(cls, given: Schema | Mapping[str, Any] | str | os.PathLike[str]) -> Schema:
        """The schema itself, that of plain data laid out like the TOML file, or that of a file."""
        if isinstance(given, Schema):
            return given
        if isinstance(given, str) and "\n" in given:
            raise SchemaError("This text is no path of a file; read TOML text by tacit.Schema.parse(text).")
        if isinstance(given, str | os.PathLike):
            return cls.read(given)
        if isinstance(given, Mapping) and "columns" in given:
            return cls.from_mapping(given)
        form = '{"columns": {"age": {"type": "numeric", "lower": 0, "upper": 110}}}'
        raise SchemaError(f"A schema is a tacit.Schema, the path of a TOML file, or a dict such as {form}.")

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
        known = ("relation", "unit", "n_at_least", "missing_codes", "file", "weight", "columns")
        _require_keys(data, (), known, "")
        declared = data.get("columns", {})
        if not isinstance(declared, Mapping):
            raise SchemaError("columns must be a table with one [columns.NAME] per column.")
        unit, person = data.get("unit", _ROW), None
        if isinstance(unit, Mapping):
            unit, person = _declared_person(unit)
        return cls(
            columns={name: _declared_column(name, facts) for name, facts in declared.items()},
            relation=data.get("relation", Relation.REPLACE_ONE),
            unit=unit,
            n_at_least=data.get("n_at_least"),
            person=person,
            weight=_declared_weight(data["weight"]) if "weight" in data else None,
            file=_declared_file(data.get("file", {})),
            missing_codes=data.get("missing_codes", ()),
        )

    def to_toml(self) -> str:
        """TOML text that `parse` reads back as the same schema."""
        person, unit = self.person, self.unit if self.person is None else None
        top = {"relation": str(self.relation), "unit": unit, "n_at_least": self.n_at_least}
        lines = toml_lines({**top, "missing_codes": self.missing_codes or None})
        if self.file != FileFormat():
            lines += ["", "[file]", *toml_lines(asdict(self.file))]
        if person is not None:
            name = self.unit if self.unit != person.column else None
            lines += ["", "[unit]", *toml_lines({**asdict(person), "name": name})]
        if self.weight is not None:
            lines += ["", "[weight]", *toml_lines({"column": self.weight.column, "maximum": self.weight.maximum})]
        for column_name, column in self.columns.items():
            declared = {"type": column.kind, **column.facts(), "missing_codes": column.missing_codes or None}
            lines += ["", f"[columns.{toml_key(column_name)}]", *toml_lines(declared)]
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
    required = [item.name for item in fields(_TYPES[kind]) if item.default is MISSING]
    advice = (
        ". Those are public facts, declared by a person who knows what the column can hold, and are never read off "
        "the data: fill them in, or delete the column from the schema if no model needs it."
    )
    _require_keys(facts, required, ["type", *allowed], where, advice)
    try:
        return _TYPES[kind](**{key: facts[key] for key in allowed if key in facts})
    except InputError as error:
        raise type(error)(f"{where}{error}") from error


def _declared_person(facts: Mapping[str, Any]) -> tuple[str, Unit]:
    """The unit in words, and the column that holds it."""
    advice = '; expected [unit] with column = "patient_number" and max_rows = 3.'
    known = ["column", "max_rows", "order", "name"]
    _require_keys(facts, known[:2], known, "unit: ", advice, texts=("column", "order", "name"))
    try:
        person = Unit(facts["column"], facts["max_rows"], facts.get("order"))
    except InputError as error:
        raise SchemaError(f"unit: {error}") from error
    return facts.get("name", person.column), person


def _declared_weight(facts: object) -> Weighting:
    form = '[weight] with column = "weight" and maximum = 10.'
    if not isinstance(facts, Mapping):
        raise SchemaError(f"weight: expected a table, {form}")
    known = ["column", "maximum"]
    _require_keys(facts, known, known, "weight: ", f"; expected {form}", texts=("column",))
    return Weighting(facts["column"], positive("weight: maximum", facts["maximum"], SchemaError))


def _declared_file(facts: object) -> FileFormat:
    form = '[file] with delimiter = ";", decimal = "," or encoding = "latin-1".'
    if not isinstance(facts, Mapping):
        raise SchemaError(f"file: expected a table, {form}")
    _require_keys(facts, (), [item.name for item in fields(FileFormat)], "file: ")
    try:
        return FileFormat(**facts)
    except InputError as error:
        raise SchemaError(f"file: {error}") from error


def _require_keys(
    facts: Mapping[str, Any], required: _Keys, known: _Keys, where: str, advice: str = "", texts: _Keys = ()
) -> None:
    for key in facts:
        if key not in known:
            raise SchemaError(f"{where}unknown key {_named(key)}.{_hint(key, known)} Known: {_listing(known)}.")
    missing = [key for key in required if key not in facts]
    if missing:
        raise SchemaError(f"{where}missing {' and '.join(missing)}{advice}")
    for key in texts:
        if key in facts and (not isinstance(facts[key], str) or not facts[key].strip()):
            raise SchemaError(f"{where}{key} must be text; got {shown(facts[key])}.")


def _named(name: object) -> str:
    return quoted(str(name), bare=False)


_OTHER_WORDS = {
    **dict.fromkeys(("min", "minimum", "low"), "lower"),
    **dict.fromkeys(("max", "maximum", "high"), "upper"),
    **dict.fromkeys(("values", "categories", "labels", "classes"), "levels"),
}
"""What other libraries call a key."""


def _hint(name: object, known: Iterable[str]) -> str:
    known = list(known)
    close = [it for it in [_OTHER_WORDS.get(str(name).lower())] if it in known]
    close = close or difflib.get_close_matches(str(name)[:200], known, n=1)
    return f" Did you mean {_named(close[0])}?" if close else ""


def _listing(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(map(quoted, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML text of bounded size and depth, or refuse it with `SchemaError`."""
    if len(text) > LARGEST_FILE:
        raise SchemaError(f"The schema has more than {LARGEST_FILE} characters.")
    if _DEEP_KEY.search(text):
        quotes = 'a column name with dots needs quotes: [columns."blood.pressure"]'
        raise SchemaError(f"The schema has a dotted key of more than {DEEPEST_KEY} parts; {quotes}.")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        quotes = 'Text needs quotes, and so does a column name with spaces or dots: [columns."blood pressure"].'
        raise SchemaError(f"The schema is not valid TOML: {error}. {quotes}") from error


def toml_string(text: str) -> str:
    """Text as a TOML basic string: JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """A column's name as a TOML key, quoted where it has to be."""
    return name if _BARE_KEY.fullmatch(name) else toml_string(name)


def toml_lines(facts: Mapping[str, Any]) -> list[str]:
    """One line for each fact; None, which stands for nothing declared, has no line."""
    declared = {key: value for key, value in facts.items() if value is not None}
    return [f"{toml_key(key)} = {_toml_value(value)}" for key, value in declared.items()]


def _toml_value(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else repr(value)
