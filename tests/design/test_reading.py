"""Declared formats, codes and dates."""

from __future__ import annotations

import encodings
import pkgutil
from datetime import date, timedelta

import pytest

from tacit.design.design import Design
from tacit.design.reading import DateReading, FileFormat, Reading, codes_given, number_of
from tacit.documents.dataclass_json import from_plain, to_plain
from tacit.errors import CertificateError, SchemaError
from tacit.formula.formula import design_from_formula
from tacit.schema.schema import Schema


@pytest.mark.parametrize(("given", "mark"), [(";", ";"), ("tab", "\t"), ("\\t", "\t"), ("pipe", "|"), (" ", " ")])
def test_delimiters_have_names(given: str, mark: str) -> None:
    assert FileFormat(given).delimiter == mark


@pytest.mark.parametrize("given", ["", ";;", "a", "1", '"', "'", "\n", "\r", "\0", ".", "-", "+", "é", 5, ["x"]])
def test_what_stands_in_numbers_names_or_lines_is_no_delimiter(given: str) -> None:
    with pytest.raises(SchemaError, match="delimiter must be one character"):
        FileFormat(given)


@pytest.mark.parametrize("decimal", ["", ";", "..", None])
def test_a_decimal_mark_is_a_point_or_a_comma(decimal: str) -> None:
    with pytest.raises(SchemaError, match="decimal"):
        FileFormat(decimal=decimal)


@pytest.mark.parametrize("given", ["latin-1", "LATIN1", "iso-8859-1", "utf-8-sig", "Windows-1252", "shift_jis"])
def test_encodings_are_known_by_their_usual_names(given: str) -> None:
    assert "abc".encode(FileFormat(encoding=given).encoding) == b"abc"


@pytest.mark.parametrize(
    "given", ["utf-16", "utf-7", "hz", "iso2022_jp", "unicode_escape", "rot13", "cp037", "", 7, "?"]
)
def test_encodings_that_change_ascii_are_refused(given: str) -> None:
    with pytest.raises(SchemaError, match="encoding must"):
        FileFormat(encoding=given)


def test_no_encoding_joins_or_parts_lines() -> None:
    """Lines are parted before they are decoded, one by one where letters have several bytes."""
    tried = 0
    for module in pkgutil.iter_modules(encodings.__path__):
        try:
            written = FileFormat(encoding=module.name)
        except SchemaError:
            continue
        tried += 1
        bytes_of = bytes(range(128, 256))
        assert not any(letter.isascii() for letter in bytes_of.decode(written.encoding, "replace"))
        if not written.by_line:
            for byte in bytes_of:
                assert bytes([65, byte, 10, 66]).decode(written.encoding, "replace")[-2:] == "\nB"
    assert tried > 60


def test_days_and_years_count_from_1970_or_an_origin() -> None:
    day = date(2015, 7, 2)
    assert number_of(DateReading(), day) == (day - date(1970, 1, 1)).days
    assert number_of(DateReading(unit="years"), day) == pytest.approx(2015.5, abs=0.01)
    assert number_of(DateReading(origin="2015-07-01"), day) == 1
    assert number_of(DateReading(unit="years", origin="2014-07-02"), day) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("unit", ["days", "years"])
@pytest.mark.parametrize("origin", [None, "1999-12-31"])
def test_a_number_is_the_date_it_came_from(unit: str, origin: str | None) -> None:
    reading = DateReading(unit=unit, origin=origin)
    for days in range(0, 3_600_000, 997):
        day = date(1, 1, 1) + timedelta(days=days)
        assert reading.date_of(number_of(reading, day)) == day


@pytest.mark.parametrize(
    "given", ["", "%Y", "%m", "%Y-%d", "%Y-%m-%d-%d", "%j", "%Y-%m-%d %q", "%Y%y%m%d", "%", "x" * 61]
)
def test_a_format_has_year_month_and_day_once(given: str) -> None:
    with pytest.raises(SchemaError, match="format must"):
        DateReading(given)


def test_a_format_like_iso_s_is_refused() -> None:
    with pytest.raises(SchemaError, match="cannot be told"):
        DateReading("%Y-%d-%m")


def test_codes_are_texts_each_once() -> None:
    assert codes_given("missing_codes", [-99, "n.a.", -99]) == ("-99", "n.a.")
    assert codes_given("missing_codes", -99) == ("-99",)


@pytest.mark.parametrize("given", [[""], [None], [True], [float("nan")], {"a": 1}, 5j])
def test_codes_that_are_none(given: object) -> None:
    with pytest.raises(SchemaError, match="missing_codes must be"):
        codes_given("missing_codes", given)


def test_what_is_usual_is_not_stored_and_all_is_read_back() -> None:
    assert to_plain(Reading()) == {}
    reading = Reading(
        FileFormat(";", ","), ("-99",), {"a": ("9",)}, {"b": DateReading("%d.%m.%Y", "years", "2000-01-01")}
    )
    assert from_plain(Reading, to_plain(reading), "reading") == reading
    assert reading.codes_of("a") == ("-99", "9")


@pytest.mark.parametrize(
    "forged",
    [
        {"file": {"delimiter": "ab", "decimal": ".", "encoding": "utf-8"}},
        {"file": {"delimiter": ",", "decimal": ".", "encoding": "utf-16"}},
        {"dates": {"d": {"format": "%Q", "unit": "days", "origin": None}}},
        {"dates": {"d": {"format": "%Y-%m-%d", "unit": "weeks", "origin": None}}},
        {"missing_codes": 7},
        {"other": 1},
    ],
)
def test_a_forged_reading_in_a_stored_design_is_refused(forged: dict[str, object]) -> None:
    schema = Schema.parse("[columns.x]\ntype = 'numeric'\nlower = 0\nupper = 1\n[columns.y]\ntype = 'binary'\n")
    stored = design_from_formula("y ~ x", schema).to_json()
    assert "reading" not in stored
    with pytest.raises(CertificateError):
        Design.from_json({**stored, "reading": forged})
