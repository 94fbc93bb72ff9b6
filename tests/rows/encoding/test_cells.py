import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import DataError
from tacit.rows.encoding.cells import cell_number, is_missing, text_number, to_float64


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", ">f8"])
def test_numeric_types_become_float64(dtype: str) -> None:
    result = to_float64(np.array([0, 1, 1]).astype(dtype), "a")
    assert result.dtype == np.float64
    assert result.tolist() == [0.0, 1.0, 1.0]


def test_objects_that_are_numbers_become_float64() -> None:
    numbers = [True, np.bool_(0), 7, Fraction(1, 2), None, pd.NA, 10**400, Decimal("2.5")]
    expected = [1.0, 0.0, 7.0, 0.5, np.nan, np.nan, np.inf, 2.5]
    np.testing.assert_array_equal(to_float64(np.array(numbers, dtype=object), "a"), expected)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (np.array([1.0, 0.1 + 0.2, -0.0, "x"]), [1.0, 0.1 + 0.2, -0.0, np.inf]),
        (np.array([1.5, np.nan, b"x"]), [1.5, np.nan, np.inf]),
        (np.array([True, False, "x"]), [1.0, 0.0, np.inf]),
        (np.array([1.5, np.nan, 1j]), [1.5, np.nan, np.inf]),
        (np.array([1, 2, np.timedelta64(3, "h")]), [1.0, 2.0, 3.0]),
        (np.array([1, np.timedelta64("NaT", "s")]), [1.0, np.nan]),
    ],
)
def test_one_cell_that_changes_the_type_does_not_change_others(
    cells: np.ndarray[Any, Any], expected: list[float]
) -> None:
    """The types that numpy gives to numbers beside one text, complex number or span of time."""
    assert cells.dtype.kind in "USmc"
    assert to_float64(cells, "a").tobytes() == np.array(expected).tobytes()


@pytest.mark.parametrize(
    "text", [*("1", "+1", "-2.5", "1.", ".5", "1e5", "1E-5", "00012", " 3 ", "\t4", "5e-324", "-0")]
)
def test_text_spells_numbers(text: str) -> None:
    assert text_number(text) == float(text)
    assert text_number(" True ") == 1.0


@pytest.mark.parametrize("text", ["1e999", "x", "1,5", "1_000", "１", "inf", "0x10", "--1", " ", "fal\u017fe"])
def test_other_text_is_no_number(text: str) -> None:
    assert text_number(text) == np.inf


def test_t41_dates_are_refused_by_their_type_without_a_value() -> None:
    with pytest.raises(DataError, match="'age'") as caught:
        to_float64(np.array(["2031-03-07"], dtype="datetime64[D]"), "age")
    assert "2031" not in str(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(DataError, match="'age'"):
        to_float64(np.empty(0, dtype="datetime64[D]"), "age")


class Rogue(float):
    """A number whose own code may not be run."""

    def __float__(self) -> float:
        raise ZeroDivisionError

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError

    def __hash__(self) -> int:
        raise ZeroDivisionError


def test_no_code_of_a_cell_is_run() -> None:
    assert cell_number(Rogue(0.5)) == 0.5
    for cell in (object(), [1.0], {}, dt.date(2031, 3, 7), 1j, Decimal("sNaN"), np.zeros(1)):
        assert cell_number(cell) == np.inf
    assert cell_number(np.array(2.0)) == 2.0
    assert np.isnan(cell_number(np.ma.masked))


def test_missing_cells() -> None:
    assert is_missing(None)
    assert is_missing(pd.NaT)
    assert not is_missing("")
