"""Columns of dates, and codes for missing cells."""

from __future__ import annotations

from datetime import date

import pytest

from tacit.errors import BoundsError, SchemaError
from tacit.schema.schema import DateColumn, FactorColumn, NumericColumn, Schema

TOML = """
missing_codes = [-99, "n.a."]

[file]
delimiter = ";"
decimal = ","
encoding = "cp1252"

[columns.admitted]
type = "date"
lower = 2015-01-01
upper = 2024-12-31
missing = 2020-01-01
format = "%d.%m.%Y"
unit = "years"

[columns.born]
type = "date"
lower = "1900-01-01"
upper = "2024-12-31"
origin = 2024-12-31

[columns.ward]
type = "factor"
levels = ["a", "b"]
missing_codes = ["unknown"]
"""


def test_a_schema_of_files_codes_and_dates_is_read_back() -> None:
    schema = Schema.parse(TOML)
    assert Schema.parse(schema.to_toml()) == schema
    admitted = schema.columns["admitted"]
    assert isinstance(admitted, DateColumn)
    assert admitted.lower == pytest.approx(2015, abs=0.01)
    assert admitted.declared == "2015-01-01 to 2024-12-31, in years"
    assert schema.columns["born"].cell.upper == 0  # type: ignore[union-attr]
    reading = schema.reading(["admitted", "ward"])
    assert set(reading.dates) == {"admitted"}
    assert reading.codes_of("ward") == ("-99", "n.a.", "unknown")


@pytest.mark.parametrize("given", [2015, 2015.0, "01.01.2015", None, True])
def test_bounds_of_dates_are_dates(given: object) -> None:
    with pytest.raises(SchemaError, match="lower must be a date such as 2015-01-31"):
        DateColumn(given, date(2024, 1, 1))  # type: ignore[arg-type]


def test_bounds_of_dates_are_in_order() -> None:
    with pytest.raises(BoundsError, match="reversed"):
        DateColumn("2024-01-01", "2015-01-01")  # type: ignore[arg-type]


@pytest.mark.parametrize("code", [1, "a", "1.0", "50"])
def test_a_code_of_the_table_that_a_column_can_hold_is_refused(code: object) -> None:
    columns = {"age": NumericColumn(0, 110), "ward": FactorColumn(("a", "b"))}
    with pytest.raises(SchemaError, match="list it as missing_codes of the columns"):
        Schema(columns, missing_codes=(code,))  # type: ignore[arg-type]


def test_the_same_code_may_be_listed_where_it_is_meant() -> None:
    assert NumericColumn(0, 110, missing_codes=(99,)).missing_codes == ("99",)  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="cannot be a level and a code"):
        FactorColumn(("a", "b"), missing_codes=("a",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file = 3", "file: expected a table"),
        ("[file]\nsep = ';'", 'file: unknown key "sep"'),
        ("[file]\ndelimiter = 'ab'", "file: delimiter must be one character"),
        ("missing_codes = {a = 1}", "missing_codes must be a list"),
    ],
)
def test_what_is_wrong_is_named(text: str, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        Schema.parse(f"{text}\n[columns.a]\ntype = 'binary'\n")
