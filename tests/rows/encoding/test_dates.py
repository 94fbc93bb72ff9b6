"""Dates as numbers, cell by cell."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pytest

from tacit.design.reading import DateReading
from tacit.rows.encoding.dates import date_numbers

DAY = float((dt.date(2015, 1, 3) - dt.date(1970, 1, 1)).days)


def number(cell: Any, form: str = "%Y-%m-%d") -> float:
    cells = np.empty(1, dtype=object)
    cells[0] = cell
    return float(date_numbers(cells, DateReading(form))[0])


@pytest.mark.parametrize(
    ("cell", "form"),
    [
        ("2015-01-03", "%Y-%m-%d"),
        (" 2015-01-03\t", "%Y-%m-%d"),
        ("2015-01-03T23:59:59.999Z", "%Y-%m-%d"),
        ("2015-01-03 10:00", "%Y-%m-%d"),
        ("03.01.2015", "%d.%m.%Y"),
        ("3.1.2015", "%d.%m.%Y"),
        ("1/3/15", "%m/%d/%y"),
        ("03JAN2015", "%d%b%Y"),
        ("20150103", "%Y%m%d"),
        (20150103, "%Y%m%d"),
        (20150103.0, "%Y%m%d"),
        ("03/01/2015 14:30:05", "%d/%m/%Y %H:%M:%S"),
        (b"2015-01-03", "%Y-%m-%d"),
        (dt.date(2015, 1, 3), "%d.%m.%Y"),
        (dt.datetime(2015, 1, 3, 23, tzinfo=dt.UTC), "%d.%m.%Y"),
        (np.datetime64("2015-01-03T05", "ns"), "%d.%m.%Y"),
    ],
)
def test_ways_to_write_a_date(cell: Any, form: str) -> None:
    assert number(cell, form) == DAY


@pytest.mark.parametrize(
    ("cell", "form"),
    [("2015 / 01", "%Y / %m"), ("01/15", "%m/%y"), (201501, "%Y%m"), ("Jan 2015", "%b %Y"), ("2015-01-01", "%Y / %m")],
)
def test_a_month_is_its_first_day(cell: Any, form: str) -> None:
    assert number(cell, form) == DAY - 2


@pytest.mark.parametrize("cell", [None, "", "NA", float("nan"), np.datetime64("NaT")])
def test_missing(cell: Any) -> None:
    assert math.isnan(number(cell))


@pytest.mark.parametrize(
    "cell", ["2015-02-30", "2015-13-01", "0000-01-01", "3.1.2015", "x", True, 1e400, 2.5, [1], "٣"]
)
def test_what_is_no_date_is_infinite(cell: Any) -> None:
    assert math.isinf(number(cell))


def test_years_of_two_digits_are_of_the_last_century_from_69_on() -> None:
    assert number("1.1.69", "%d.%m.%y") == number("1969-01-01")
    assert number("1.1.68", "%d.%m.%y") == number("2068-01-01")


def test_a_month_that_is_none() -> None:
    assert math.isinf(number("03XYZ2015", "%d%b%Y"))
