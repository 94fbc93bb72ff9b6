"""The template: names and kinds in, a schema that waits to be filled in out."""

from __future__ import annotations

import inspect
import tomllib

import pytest

from tacit.design.attached_columns import Unit, Weighting
from tacit.design.reading import FileFormat
from tacit.errors import SchemaError
from tacit.schema.schema import BinaryColumn, FactorColumn, NumericColumn, Schema
from tacit.schema.template import template

KINDS = ["numeric", "boolean", "text", "date", "other", "unknown"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "boolean"])
def test_t36_untouched_it_is_refused_with_the_first_column_to_fill_in(kind: str) -> None:
    text = template(["ready", "my age", "later"], ["boolean", kind, "numeric"], "clinic.csv")
    with pytest.raises(SchemaError, match=r'^Column "my age": '):
        Schema.parse(text)


def test_every_kind_has_one_section_in_order() -> None:
    names = ["a", "b c", "d.e", 'f"g', "h\\i", "é"]
    data = tomllib.loads(template(names, KINDS, "clinic.csv"))
    assert list(data["columns"]) == names
    kinds = [column.get("type") for column in data["columns"].values()]
    assert kinds == ["numeric", "binary", "factor", "date", None, None]


def test_t37_no_fact_is_filled_in_but_that_a_boolean_is_one() -> None:
    data = tomllib.loads(template([f"x{i}" for i in range(6)], KINDS, "clinic.csv"))
    facts = [set(column) - {"type"} for column in data["columns"].values()]
    assert facts == [set(), {"levels"}, set(), set(), set(), set()]
    assert list(inspect.signature(template).parameters) == ["names", "kinds", "source_name", "written", "codes"]


def test_filled_in_it_is_a_schema() -> None:
    text = template(["age", "ward", "readmit"], ["numeric", "text", "boolean"], "clinic.csv")
    text = text.replace("# lower =", "lower = 0").replace("# upper =", "upper = 110")
    text = text.replace('# levels = ["…", "…"]', 'levels = ["a", "b"]')
    assert Schema.parse(text) == Schema(
        {"age": NumericColumn(0, 110), "ward": FactorColumn(("a", "b")), "readmit": BinaryColumn((False, True))}
    )


def test_an_unknown_column_can_be_filled_in_by_uncommenting() -> None:
    text = template(["sex"], ["unknown"], "clinic.csv")
    text = text.replace('# type = "binary"', 'type = "binary"')
    text = text.replace("# levels = [0, 1]", "levels = [0, 1]")
    assert Schema.parse(text).columns["sex"] == BinaryColumn((0, 1))


def test_the_optional_facts_are_comments_that_can_be_uncommented() -> None:
    text = template(["age", "ward"], ["numeric", "text"], "clinic.csv")
    text = text.replace("# lower =", "lower = 0").replace("# upper =", "upper = 110")
    text = text.replace("# missing =\n", "missing = 40\nmissing_indicator = true\n")
    text = text.replace('# levels = ["…", "…"]', 'levels = ["a", "b"]')
    text = text.replace('# missing = "…"', 'missing = "a"').replace('# other = "…"', 'other = "b"')
    text = text.replace('unit = "row"', "#").replace("# [unit]", "[unit]")
    text = text.replace('# column = "…"', 'column = "id"', 1).replace("# max_rows", "max_rows")
    text = text.replace('# order = "…"', 'order = "visit"').replace("# [weight]", "[weight]")
    text = text.replace('# column = "…"', 'column = "w"').replace("# maximum", "maximum")
    assert Schema.parse(text) == Schema(
        {"age": NumericColumn(0, 110, 40, missing_indicator=True), "ward": FactorColumn(("a", "b"), "a", "b")},
        unit="id",
        person=Unit("id", 3, "visit"),
        weight=Weighting("w", 1.0),
    )


def test_the_name_of_the_table_cannot_write_lines() -> None:
    text = template(["a"], ["boolean"], 'x.csv\nunit = "other"')
    assert Schema.parse(text).unit == "row"


@pytest.mark.parametrize(
    ("names", "kinds", "words"),
    [
        (["a", "b"], ["numeric"], "one kind"),
        (["a", "b", "a"], ["numeric"] * 3, '"a"'),
        (["a"], ["complex"], "complex"),
        ([""], ["numeric"], "no name"),
        ([], [], "no columns"),
    ],
)
def test_wrong_arguments_are_refused(names: list[str], kinds: list[str], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        template(names, kinds, "clinic.csv")


def test_the_format_of_a_file_is_a_fact_where_its_first_line_has_it() -> None:
    text = template(["a"], ["unknown"], "a.csv", FileFormat(";", encoding="cp1252"), ["-99"])
    data = tomllib.loads(text)
    assert data["file"] == {"delimiter": ";", "encoding": "cp1252"}
    assert data["missing_codes"] == ["-99"]
    assert '# decimal = ","' in text
    assert "[file]" not in template(["a"], ["numeric"], "a.parquet")
