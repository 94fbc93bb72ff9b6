import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import DataError
from tacit.rows.cells import is_missing, to_float64


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", ">f8"])
def test_numeric_types_become_float64(dtype: str) -> None:
    result = to_float64(np.array([0, 1, 1]).astype(dtype), "a")
    assert result.dtype == np.float64
    assert result.tolist() == [0.0, 1.0, 1.0]


def test_objects_that_are_numbers_become_float64() -> None:
    cells = np.array([True, np.bool_(0), 7, Fraction(1, 2), None, pd.NA, 10**400], dtype=object)
    expected = [1.0, 0.0, 7.0, 0.5, np.nan, np.nan, np.inf]
    np.testing.assert_array_equal(to_float64(cells, "a"), expected)


CANARY = "canary-31337"


@pytest.mark.parametrize(
    "cells",
    [
        np.array(["1.5", CANARY]),
        np.array([1.5, CANARY], dtype=object),
        np.array([Decimal("31337.5")], dtype=object),
        np.array([dt.date(2031, 3, 7)], dtype=object),
        np.array(["2031-03-07"], dtype="datetime64[D]"),
        np.array([31337j]),
    ],
)
def test_t41_other_types_are_refused_without_a_value(cells: np.ndarray[Any, Any]) -> None:
    with pytest.raises(DataError, match="'age'") as caught:
        to_float64(cells, "age")
    assert "31337" not in str(caught.value)
    assert "2031" not in str(caught.value)
    assert caught.value.__context__ is None


def test_missing_cells() -> None:
    assert is_missing(None)
    assert is_missing(pd.NaT)
    assert not is_missing("")
