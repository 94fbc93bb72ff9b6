from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tacit.errors import DataError, SchemaError
from tacit.rows.encoding.cells import level_codes, normal_form, plain_labels


@pytest.mark.parametrize(
    "value", [1, True, 1.0, "1", "1.0", " 1 ", "+1e0", "true", "TRUE", np.int8(1), np.float32(1), b"1"]
)
def test_spellings_of_one(value: Any) -> None:
    assert normal_form(value) == Decimal(1)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), "", pd.NA, np.float64("nan")])
def test_missing_has_no_form(value: Any) -> None:
    assert normal_form(value) is None


@pytest.mark.parametrize("value", ["nan", "inf", "1_000", "NA", "ward b", " a", "1e", ".", "١"])
def test_other_text_is_itself(value: str) -> None:
    assert normal_form(value) == value


def test_large_integers_stay_apart() -> None:
    assert normal_form(2**53) != normal_form(str(2**53 + 1))
    labels = np.array([2**53, 2**53 + 1])
    assert level_codes(labels, [2**53 + 1], "id").tolist() == [-1, 0]


LEVELS = [0, "1.50", "b"]


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (np.array([False, True]), [0, -1]),
        (np.array([0, 1], dtype=np.uint64), [0, -1]),
        (np.array([-0.0, 1.5, np.nan, np.inf]), [0, 1, -1, -1]),
        (np.array([1.5, 0.0], dtype=np.float32), [1, 0]),
        (np.array(["0.0", "1.5", "b", "B", ""]), [0, 1, 2, -1, -1]),
        (np.array([0, "b", None, float("nan"), [1]], dtype=object), [0, 2, -1, -1, -1]),
    ],
)
def test_codes_of_every_type(labels: np.ndarray[Any, Any], codes: list[int]) -> None:
    assert level_codes(labels, LEVELS, "ward").tolist() == codes


@pytest.mark.parametrize("dtype", ["int64", "float64", "U8", "object"])
def test_code_is_that_of_the_normal_form(dtype: str) -> None:
    labels = np.array([0, 1, 2, 3, 1]).astype(dtype)
    forms = [normal_form(level) for level in (3, "1")]
    expected = [forms.index(f) if (f := normal_form(x)) in forms else -1 for x in labels.tolist()]
    assert level_codes(labels, (3, "1"), "y").tolist() == expected


@pytest.mark.parametrize("levels", [[1, "1.0"], ["a", "a"], ["a", None], ["a", ""]])
def test_levels_must_differ(levels: list[Any]) -> None:
    with pytest.raises(SchemaError, match="'ward'"):
        level_codes(np.array(["a"]), levels, "ward")


def test_dates_become_text() -> None:
    dates = np.array(["2020-01-02", "NaT"], dtype="datetime64[D]")
    assert plain_labels(dates).tolist() == ["2020-01-02", None]
    with pytest.raises(DataError):
        plain_labels(np.zeros(1, dtype="f8,f8"))


@pytest.mark.parametrize("strange", [1j, np.timedelta64(3, "s"), "x", b"x", 0.5])
def test_one_label_that_changes_the_type_does_not_change_others(strange: Any) -> None:
    """numpy makes complex numbers, spans of time or text of all whole numbers beside it."""
    labels = np.array([0, 1, strange])
    assert labels.dtype.kind != "i"
    codes = level_codes(plain_labels(labels), [0, 1], "y")
    assert codes[:2].tolist() == [0, 1]
    assert list(map(normal_form, plain_labels(labels)))[:2] == [Decimal(0), Decimal(1)]


class Mute:
    def __str__(self) -> str:
        raise ZeroDivisionError


class Liar:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise ZeroDivisionError


def test_what_has_no_text_is_no_label() -> None:
    collections: list[Any] = [[1], {1: 2}, {1}, np.zeros(2)]
    for value in (Mute(), Liar(), object(), Fraction(10**5000, 3), Decimal("sNaN"), *collections):
        assert normal_form(value) is None


def test_scalars_in_arrays_are_labels() -> None:
    assert normal_form(np.array(1.0)) == Decimal(1)
    assert normal_form(np.ma.masked) is None
