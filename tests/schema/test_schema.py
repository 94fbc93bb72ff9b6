"""The schema: strict reading, honest refusals, round trip."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.design.attached_columns import Unit, Weighting
from tacit.errors import BoundsError, FileError, InputError, SchemaError
from tacit.privacy.relation import Relation
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema

CLINIC = """
relation = "add-remove"
unit = "patient"
n_at_least = 1000
[columns.age]
type = "numeric"
lower = 0
upper = 110
[columns.ward]
type = "factor"
levels = ["a", "b", "c"]
[columns.readmit]
type = "binary"
[columns."blood pressure.mean"]
type = "numeric"
lower = -1.5
upper = 1e3
"""


def with_column(**facts: object) -> dict[str, Any]:
    return {"columns": {"age": facts}}


def test_the_example_is_read_as_written() -> None:
    schema = Schema.parse(CLINIC)
    assert schema == Schema(
        relation=Relation.ADD_REMOVE,
        unit="patient",
        n_at_least=1000,
        columns={
            "age": NumericColumn(0, 110),
            "ward": FactorColumn(("a", "b", "c")),
            "readmit": BinaryColumn((0, 1)),
            "blood pressure.mean": NumericColumn(-1.5, 1000.0),
        },
    )
    assert list(schema.columns) == ["age", "ward", "readmit", "blood pressure.mean"]


def test_defaults_are_replace_one_and_row() -> None:
    schema = Schema.from_mapping(with_column(type="binary"))
    assert (schema.relation, schema.unit, schema.n_at_least) == (Relation.REPLACE_ONE, "row", None)


@pytest.mark.parametrize(
    ("facts", "error", "words"),
    [
        ({"type": "numeric", "lower": 1, "upper": 0}, BoundsError, "reversed"),
        ({"type": "numeric", "lower": 1, "upper": 1}, BoundsError, "below"),
        ({"type": "numeric", "lower": float("nan"), "upper": 1}, BoundsError, "finite"),
        ({"type": "numeric", "lower": 0, "upper": float("inf")}, BoundsError, "finite"),
        ({"type": "numeric", "lower": 0, "upper": 10**400}, BoundsError, "finite"),
        ({"type": "numeric", "lower": -1e308, "upper": 1e308}, BoundsError, "rescale"),
        ({"type": "numeric", "lower": 1e308, "upper": 1.5e308}, BoundsError, "rescale"),
        ({"type": "numeric", "lower": 0, "upper": 1e-310}, BoundsError, "rescale"),
        ({"type": "numeric", "lower": "0", "upper": 1}, BoundsError, "lower must be a number"),
        ({"type": "numeric", "lower": 0, "upper": True}, BoundsError, "upper must be a number"),
        ({"type": "numeric", "lower": 0, "uper": 1}, SchemaError, 'Did you mean "upper"'),
        ({"type": "numeric", "lower": 0, "upper": 1, "levels": [1, 2]}, SchemaError, "unknown key"),
        ({"type": "integer"}, SchemaError, '"numeric", "factor", "binary"'),
        ({"type": ["numeric"]}, SchemaError, "type must be one of"),
        ({"lower": 0, "upper": 1}, SchemaError, "type is missing"),
        ({"type": "factor", "levels": ["a"]}, SchemaError, "at least two levels"),
        ({"type": "factor", "levels": []}, SchemaError, "at least two levels"),
        ({"type": "factor", "levels": ["a", "b", "a"]}, SchemaError, "the same"),
        ({"type": "factor", "levels": ["1", "2", "1.0"]}, SchemaError, "the same"),
        ({"type": "factor", "levels": ["1", "True"]}, SchemaError, "the same"),
        ({"type": "factor", "levels": [1, 1.0]}, SchemaError, "the same"),
        ({"type": "factor", "levels": ["a", 1]}, SchemaError, "all text"),
        ({"type": "factor", "levels": [True, 0]}, SchemaError, "all text"),
        ({"type": "factor", "levels": ["", "a"]}, SchemaError, "missing value"),
        ({"type": "factor", "levels": [1.0, float("nan")]}, SchemaError, "finite"),
        ({"type": "factor", "levels": [[1], [2]]}, SchemaError, "text, a number or a boolean"),
        ({"type": "factor", "levels": "ab"}, SchemaError, "must be a list"),
        ({"type": "factor", "levels": 3}, SchemaError, "must be a list"),
        ({"type": "binary", "levels": [0, 1, 2]}, SchemaError, "exactly two"),
        ({"type": "binary", "levels": [0, 0]}, SchemaError, "the same"),
    ],
)
def test_a_wrong_column_is_refused_by_name(facts: dict[str, object], error: type[InputError], words: str) -> None:
    with pytest.raises(error) as caught:
        Schema.from_mapping(with_column(**facts))
    assert str(caught.value).startswith('Column "age": ')
    assert words in str(caught.value)


@pytest.mark.parametrize("facts", [{}, {"lower": 0}, {"upper": 1}])
def test_t36_missing_bounds_are_an_error(facts: dict[str, object]) -> None:
    with pytest.raises(SchemaError, match=r"age.*missing .*never read off the data"):
        Schema.from_mapping(with_column(type="numeric", **facts))


def test_t37_missing_levels_are_an_error() -> None:
    with pytest.raises(SchemaError, match=r"age.*missing levels.*never read off the data"):
        Schema.from_mapping(with_column(type="factor"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({}, "declares no columns"),
        ({"columns": {}}, "declares no columns"),
        ({"columns": [1]}, "must be a table"),
        ({"columns": {"age": 3}}, "expected a table"),
        ({"columns": {"": {"type": "binary"}}}, "non-empty"),
        ({"columns": {3: {"type": "binary"}}}, "non-empty"),
        ({"column": {}}, 'Did you mean "columns"'),
        ({"relation": "replace", **with_column(type="binary")}, "replace-one"),
        ({"relation": 3, **with_column(type="binary")}, "replace-one"),
        ({"unit": " ", **with_column(type="binary")}, "what one record is"),
        ({"unit": 3, **with_column(type="binary")}, "what one record is"),
        ({"unit": {"column": "id"}, **with_column(type="binary")}, "unit: missing max_rows"),
        ({"unit": {"max_rows": 3}, **with_column(type="binary")}, "unit: missing column"),
        ({"weight": 3, **with_column(type="binary")}, "weight: expected a table"),
        ({"weight": {"column": "w"}, **with_column(type="binary")}, "weight: missing maximum"),
        ({"n_at_least": 10, **with_column(type="binary")}, "add-remove"),
        *(
            ({"n_at_least": wrong, "relation": "add-remove", **with_column(type="binary")}, "whole number")
            for wrong in (0, -1, 1.5, True, "10")
        ),
    ],
)
def test_a_wrong_schema_is_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_mapping(data)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("section", "wrong", "words"),
    [
        ("unit", {"max_rows": 0}, "unit: "),
        ("unit", {"max_rows": True}, "whole number"),
        ("unit", {"max_rows": 2.5}, "whole number"),
        ("unit", {"column": ""}, "column must be text"),
        ("unit", {"order": 3}, "order must be text"),
        ("unit", {"name": " "}, "name must be text"),
        ("unit", {"max_row": 3}, 'Did you mean "max_rows"'),
        ("weight", {"maximum": 0}, "positive finite"),
        ("weight", {"maximum": 10**400}, "positive finite"),
        ("weight", {"maximum": float("inf")}, "positive finite"),
        ("weight", {"maximum": "3"}, "must be a number"),
        ("weight", {"maximum": True}, "must be a number"),
        ("weight", {"column": 3}, "column must be text"),
        ("weight", {"max": 3}, 'Did you mean "maximum"'),
    ],
)
def test_a_wrong_section_is_refused(section: str, wrong: dict[str, Any], words: str) -> None:
    right = {"unit": {"column": "id", "max_rows": 3}, "weight": {"column": "w", "maximum": 3}}
    Schema.from_mapping({**right, **with_column(type="binary")})
    changed: dict[str, Any] = {section: {**right[section], **wrong}}
    with pytest.raises(SchemaError) as caught:
        Schema.from_mapping({**changed, **with_column(type="binary")})
    assert str(caught.value).startswith(f"{section}: ")
    assert words in str(caught.value)


def test_t35_a_person_can_have_several_records() -> None:
    column = '[columns.age]\ntype = "binary"\n'
    schema = Schema.parse(f'[unit]\ncolumn = "id"\nmax_rows = 3\norder = "visit"\n{column}')
    assert (schema.person, schema.unit) == (Unit("id", 3, "visit"), "id")
    named = Schema.parse(f'[unit]\ncolumn = "id"\nmax_rows = 1\nname = "patient"\n{column}')
    assert (named.person, named.unit) == (Unit("id", 1), "patient")
    plain = Schema.parse(f'unit = "patient"\n{column}')
    assert (plain.person, plain.unit) == (None, "patient")
    for one in (schema, named, plain):
        assert Schema.parse(one.to_toml()) == one
        assert copy.deepcopy(one) == one
    # Without a word for the unit a person is never called a row.
    assert Schema({"age": BinaryColumn()}, person=Unit("id", 3)).unit == "id"


def test_t11_a_weight_has_a_declared_largest_value() -> None:
    schema = Schema.parse('[weight]\ncolumn = "w"\nmaximum = 10\n[columns.w]\ntype = "binary"\n')
    assert schema.weight == Weighting("w", 10.0)
    assert Schema.parse(schema.to_toml()) == schema
    assert copy.deepcopy(schema) == schema


def test_columns_beside_the_features_are_no_predictors() -> None:
    columns = {name: BinaryColumn() for name in ("id", "w", "visit", "age")}
    schema = Schema(columns, person=Unit("id", 3, "visit"), weight=Weighting("w", 2.0))
    assert schema.predictors == ("visit", "age")
    assert Schema(columns).predictors == tuple(columns)


def test_t37_what_stands_for_a_missing_cell_is_written_and_read() -> None:
    schema = Schema(
        {
            "age": NumericColumn(0, 110, missing=40, missing_indicator=True),
            "bmi": NumericColumn(10, 60, missing=25.5),
            "ward": FactorColumn(("a", "b"), missing="b", other="a"),
            "sex": BinaryColumn((False, True), missing=True),
        }
    )
    assert Schema.parse(schema.to_toml()) == schema
    assert "missing_indicator = false" not in schema.to_toml()


def test_something_else_than_a_mapping_is_refused() -> None:
    with pytest.raises(SchemaError):
        Schema.from_mapping([])  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="NumericColumn"):
        Schema({"age": (0, 1)})  # type: ignore[dict-item]


def test_bad_toml_says_where() -> None:
    with pytest.raises(SchemaError, match=r"not valid TOML.*line 2"):
        Schema.parse("[columns.age]\ntype = numeric\n")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "clinic.toml"
    path.write_bytes(b"\xef\xbb\xbf" + CLINIC.replace("\n", "\r\n").encode())
    assert Schema.read(path) == Schema.read(str(path)) == Schema.parse(CLINIC)
    with pytest.raises(FileError, match=r"absent\.toml"):
        Schema.read(tmp_path / "absent.toml")
    with pytest.raises(FileError):
        Schema.read(tmp_path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match="UTF-8"):
        Schema.read(path)
    path.write_text("[columns.age]\ntype = 'numeric'\nlower = 1\nupper = 0\n", encoding="utf-8")
    with pytest.raises(BoundsError, match=r'clinic\.toml: Column "age"'):
        Schema.read(path)


def test_an_unknown_column_is_answered_with_the_declared_ones() -> None:
    schema = Schema.parse(CLINIC)
    with pytest.raises(SchemaError, match=r'"wrd" is not declared.*"ward".*age, ward, readmit'):
        schema.column("wrd")
    wide = Schema({f"x{i}": BinaryColumn() for i in range(1000)})
    with pytest.raises(SchemaError, match="and 980 more") as caught:
        wide.column("age")
    assert len(str(caught.value)) < 300


def test_numpy_numbers_become_plain_ones() -> None:
    assert NumericColumn(np.float32(0.5), np.int64(2)) == NumericColumn(0.5, 2.0)  # type: ignore[arg-type]
    levels = FactorColumn(tuple(np.array([1, 2]))).levels
    assert [type(level) for level in levels] == [int, int]
    assert BinaryColumn(tuple(np.array([False, True]))).levels == (False, True)


def test_t10_a_schema_cannot_be_changed_after_it_was_checked() -> None:
    given_columns = {"age": NumericColumn(0, 1)}
    schema = Schema(given_columns)
    given_columns["age"] = NumericColumn(0, 2)
    assert schema.columns["age"] == NumericColumn(0, 1)
    with pytest.raises(TypeError):
        schema.columns["age"] = NumericColumn(0, 2)  # type: ignore[index]


def test_a_schema_can_be_copied_and_hashed() -> None:
    schema = Schema.parse(CLINIC)
    twin = copy.deepcopy(schema)
    assert twin == schema
    assert hash(twin) == hash(schema)


texts = st.text(max_size=5).filter(lambda text: text.isprintable() or text.isascii())
ends = st.floats(-1e150, 1e150)
level_lists = st.one_of(
    st.lists(texts, max_size=3),
    st.lists(st.integers(-(10**6), 10**6), max_size=3),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=3),
    st.just([False, True]),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(texts, st.tuples(ends, ends) | level_lists), min_size=1, max_size=4),
    texts,
    st.none() | st.integers(1, 10**9),
)
def test_toml_round_trip(drawn: list[tuple[str, Any]], unit: str, n_at_least: int | None) -> None:
    columns: dict[str, NumericColumn | FactorColumn | BinaryColumn] = {}
    for name, item in drawn:
        try:
            declared = NumericColumn(*item) if isinstance(item, tuple) else FactorColumn(item)
            columns[f"x{name}"] = declared
        except InputError:
            columns[name or "y"] = BinaryColumn(("no", "yes"))
    relation = Relation.ZERO_OUT if n_at_least is None else Relation.ADD_REMOVE
    schema = Schema(columns, relation, f"unit {unit}", n_at_least)
    again = Schema.parse(schema.to_toml())
    assert again == schema
    assert list(again.columns) == list(schema.columns)
    assert again.to_toml() == schema.to_toml()


def test_awkward_names_are_quoted() -> None:
    names = ["a b", "a.b", 'a"b', "a\\b", "a\nb", "\x7f", "é", "1", "-", "true", "`", "[x]", "#"]
    schema = Schema({name: BinaryColumn() for name in names})
    assert list(Schema.parse(schema.to_toml()).columns) == names


@pytest.mark.parametrize("text", ["x = " + "[" * 10_000, "x = " + "9" * 10_000])
def test_what_the_reader_of_toml_cannot_hold_is_refused(text: str) -> None:
    with pytest.raises(SchemaError, match="not valid TOML"):
        Schema.parse(text)


HOSTILE = 'a\x1b[2J\n". Signed by key 00.\u202e'


@pytest.mark.parametrize(
    "data",
    [
        {"columns": {HOSTILE: 3}},
        {"columns": {HOSTILE: {"type": "numeric"}}},
        {"columns": {HOSTILE: {"type": HOSTILE}}},
        {"columns": {"age": {"type": "binary", HOSTILE: 1}}},
        {"columns": {"age": {"type": "factor", "levels": [HOSTILE, HOSTILE]}}},
        {HOSTILE: 1},
        {"unit": {HOSTILE: 1}, "columns": {"age": {"type": "binary"}}},
    ],
)
def test_names_in_errors_are_quoted_and_cut(data: dict[str, Any]) -> None:
    for factor in (1, 10_000):
        with pytest.raises(SchemaError) as caught:
            Schema.from_mapping(_repeated(data, factor))
        said = str(caught.value)
        assert said.isprintable()
        # A value stands between single marks, a name between double ones.
        assert "'" in said or '". Signed' not in said.replace('\\"', "")
        assert len(said) < 600


def _repeated(data: Any, factor: int) -> Any:
    if isinstance(data, dict):
        return {_repeated(key, factor): _repeated(value, factor) for key, value in data.items()}
    if isinstance(data, list):
        return [_repeated(item, factor) for item in data]
    return data * factor if data == HOSTILE else data


def test_an_undeclared_column_is_quoted_and_cut() -> None:
    schema = Schema({HOSTILE * 1000: BinaryColumn()})
    with pytest.raises(SchemaError) as caught:
        schema.column(HOSTILE)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


def test_a_schema_is_given_in_three_ways(tmp_path: Path) -> None:
    plain = {"columns": {"age": {"type": "numeric", "lower": 0, "upper": 110}}}
    schema = Schema.of(plain)
    assert schema == Schema.from_mapping(plain)
    assert Schema.of(schema) is schema
    (tmp_path / "a.toml").write_text(schema.to_toml(), encoding="utf-8")
    assert Schema.of(tmp_path / "a.toml") == schema
    for wrong in ({"age": (0, 110)}, 3, None):
        with pytest.raises(SchemaError, match="or a dict such as"):
            Schema.of(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("key", "known"), [("min", "lower"), ("Max", "upper")])
def test_what_other_libraries_call_a_bound_is_understood(key: str, known: str) -> None:
    """Before, min was taken for "missing"."""
    with pytest.raises(SchemaError, match=f'Did you mean "{known}"'):
        Schema.parse(f'[columns.age]\ntype = "numeric"\nlower = 0\nupper = 1\n{key} = 0')
