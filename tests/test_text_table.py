"""Plain tables: aligned, one line a row, harmless."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.text_table import Table, columns_of_numbers, one_line, rounded


def test_alignment() -> None:
    table = Table(("term", "coef"), (("age", "1.5"), ("long name", "-10.25")))
    assert table.text(indent="> ") == "> term         coef\n> age           1.5\n> long name  -10.25"


def test_a_table_without_rows_is_its_header() -> None:
    assert Table(("event", "times"), ()).text() == "event  times"


@given(st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=4))
def test_whatever_the_names(rows: list[tuple[str, str]]) -> None:
    lines = Table(("term", "coef"), tuple(rows)).text().split("\n")
    assert len(lines) == len(rows) + 1
    for line in lines:
        assert line.isprintable()
        assert not line.endswith(" ")


def test_escape_codes_are_spelled_out() -> None:
    assert one_line("a\x1b[31m\nb") == "a\\x1b[31m\\nb"
    assert one_line("größe ε") == "größe ε"


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ([0.0123, 5.0], [1.0, 2.0], [("0.0123", "5.0000"), ("1.0000", "2.0000")]),
        ([10.0, 0.0], [None, 0.5], [("10.000", "0.000"), ("", "0.500")]),
        ([1e-9], [1.0], [("0.000000",), ("1.000000",)]),
        ([2e8], [1.0], [("2e+08",), ("1",)]),
        ([1.0], [math.inf], [("1",), ("inf",)]),
        ([], [], [(), ()]),
    ],
)
def test_numbers(first: list[float | None], second: list[float | None], shown: list[tuple[str, ...]]) -> None:
    assert columns_of_numbers(first, second) == shown


@given(st.floats(1e-12, 1e12))
def test_numbers_are_rounded_down_where_asked(value: float) -> None:
    shown = float(rounded(value, 4, "ROUND_FLOOR"))
    assert value * 0.999 <= shown <= value
