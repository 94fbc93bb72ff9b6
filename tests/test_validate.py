"""Checked scalars: what passes comes back plain, what does not is named with what was expected."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tacit import validate
from tacit.errors import BoundsError, SettingError
from tacit.privacy.relation import Relation


@pytest.mark.parametrize("value", [1, 2.5, np.int64(3), np.float32(0.5), Fraction(1, 2)])
def test_numbers_come_back_as_floats(value: object) -> None:
    assert validate.is_number(value)
    for check in (validate.finite, validate.positive):
        number = check("x", value)
        assert type(number) is float
        assert number == value


@pytest.mark.parametrize("value", [True, np.True_, "1", None, [1.0], np.array([1.0]), 1 + 0j])
def test_what_is_no_number_is_refused(value: object) -> None:
    assert not validate.is_number(value)
    for check in (validate.finite, validate.positive):
        with pytest.raises(BoundsError, match="x must be a number; got"):
            check("x", value, BoundsError)
    with pytest.raises(SettingError, match="must be a number"):
        validate.within("x", value, 0.0, 1.0)
    with pytest.raises(SettingError, match="must be a whole number"):
        validate.whole("x", value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
def test_what_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(SettingError, match="x must be a finite number"):
        validate.finite("x", value)
    with pytest.raises(SettingError, match="x must be a positive finite number"):
        validate.positive("x", value)
    with pytest.raises(SettingError, match="x must lie in"):
        validate.within("x", value, -1.0, 1.0)
    with pytest.raises(SettingError, match="x must lie between 0 and 1"):
        validate.between("x", value, 0.0, 1.0)


@pytest.mark.parametrize("value", [0, -1, -0.0, -1e-300])
def test_what_is_not_positive_is_refused(value: float) -> None:
    with pytest.raises(SettingError, match="positive"):
        validate.positive("x", value)


def test_ends_of_intervals() -> None:
    assert validate.within("x", 0, 0.0, 1.0) == 0.0
    assert validate.within("x", 1, 0.0, 1.0) == 1.0
    assert validate.between("x", 0.5, 0.0, 1.0) == 0.5
    for end in (0.0, 1.0):
        with pytest.raises(SettingError, match="x must lie between 0 and 1; got"):
            validate.between("x", end, 0.0, 1.0)
    with pytest.raises(SettingError, match=r"x must lie in \[0, 1\]; got 1.5"):
        validate.within("x", 1.5, 0.0, 1.0)


def test_whole_numbers() -> None:
    assert validate.whole("x", np.int32(4), 4, 4) == 4
    assert type(validate.whole("x", np.int32(4))) is int
    assert validate.whole("x", 0, least=0) == 0
    assert validate.is_whole(-3)
    assert not validate.is_whole(3, least=4)
    assert not validate.is_whole(3.0)
    with pytest.raises(SettingError, match="x must be a whole number of at least 1; got 0"):
        validate.whole("x", 0)
    with pytest.raises(SettingError, match=r"of at least 1; got 2\.0"):
        validate.whole("x", 2.0)
    with pytest.raises(BoundsError, match="x must be a whole number from 1 to 3; got 4"):
        validate.whole("x", 4, 1, 3, BoundsError)


def test_listed_choices() -> None:
    assert validate.one_of("x", "b", ("a", "b")) == "b"
    for value in ("c", None, ["a"], 1):
        with pytest.raises(SettingError, match="x must be one of 'a', 'b'; got"):
            validate.one_of("x", value, ("a", "b"))
    with pytest.raises(SettingError, match="x must be one of 'replace-one', 'zero-out', 'add-remove'; got"):
        validate.one_of("x", "swap", Relation)


def test_a_long_value_is_cut() -> None:
    with pytest.raises(SettingError) as caught:
        validate.one_of("x", "c" * 10_000, ("a",))
    assert len(str(caught.value)) < 120
