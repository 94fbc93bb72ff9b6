import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.privacy import event_fields, event_json
from tacit.privacy.event import DEEPEST_NESTING, Composed, Event, Gaussian, Repeated
from tacit.privacy.event_fields import LARGEST_BITS, above_zero, at_least_zero, count, exact, probability


@pytest.mark.parametrize("value", ["1", None, True, 1j, math.nan, math.inf, -np.inf])
def test_only_finite_real_numbers_are_facts(value: object) -> None:
    with pytest.raises(SettingError, match=r"amount is .*expected a (finite )?number"):
        exact("amount", value)


@pytest.mark.parametrize("value", [0.1, 1.5, 5e-324, 1.7e308, np.float64(0.64), np.float32(0.1)])
def test_floats_are_read_as_the_binary_fractions_they_are(value: float) -> None:
    assert Fraction(exact("amount", value)) == Fraction(float(value))
    assert isinstance(exact("amount", 2.0), int)


@pytest.mark.parametrize(
    "value", [mpmath.mpf("1e-400"), mpmath.mpf(1) / 3 + mpmath.mpf(2) ** -54, np.longdouble(1) / 3]
)
def test_a_real_number_that_no_float_holds_is_refused(value: object) -> None:
    if value == float(value):  # type: ignore[arg-type]
        value = mpmath.mpf(2) ** -2000  # Where the widest float of the machine is a double.
    with pytest.raises(SettingError, match="no float holds"):
        exact("amount", value)


def test_a_sensitivity_is_never_rounded_to_nothing() -> None:
    with pytest.raises(SettingError, match="squared_sensitivity is a mpf that no float holds"):
        Gaussian(mpmath.mpf("1e-400"), Fraction(1, 10**400))
    assert Gaussian(mpmath.mpf("0.25"), 1).squared_sensitivity == Fraction(1, 4)


@pytest.mark.parametrize("value", [2.0, np.float64(3), True, Fraction(3, 2), "2"])
def test_a_count_is_no_float(value: object) -> None:
    with pytest.raises(SettingError, match="times"):
        count("times", value)


def test_integers_and_fractions_are_kept_exactly() -> None:
    assert exact("amount", np.int64(7)) == 7
    assert isinstance(exact("amount", Fraction(4, 2)), int)
    assert exact("amount", Fraction(1, 3)) == Fraction(1, 3)
    with pytest.raises(SettingError, match="bits"):
        exact("amount", 2**LARGEST_BITS)


def test_ranges_are_checked_exactly() -> None:
    tiny = Fraction(1, 10**300)
    assert at_least_zero("x", 0) == 0
    assert above_zero("x", tiny) == tiny
    assert probability("x", 1) == 1
    assert count("x", 3) == 3


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (at_least_zero, Fraction(-1, 10**300)),
        (above_zero, 0),
        (probability, 1 + Fraction(1, 10**300)),
        (probability, Fraction(-1, 10**300)),
        (count, 0),
        (count, Fraction(1, 2)),
    ],
)
def test_numbers_outside_their_range_are_refused(check: Callable[[str, object], object], value: Fraction | int) -> None:
    with pytest.raises(SettingError, match="amount"):
        check("amount", value)


@pytest.mark.parametrize("label", ["two\nlines", "x" * 201, 7])
def test_labels_are_short_printable_lines(label: object) -> None:
    assert Gaussian(1, 1, "gradient").label == "gradient"
    with pytest.raises(SettingError, match="label is not a line of text"):
        Gaussian(1, 1, label)  # type: ignore[arg-type]


def test_nesting_is_bounded_whatever_nests() -> None:
    event: Event = Gaussian(1, 1)
    for level in range(DEEPEST_NESTING):
        event = Composed((event,)) if level % 2 else Repeated(event, 1)
    with pytest.raises(SettingError, match="nested"):
        Composed((Gaussian(1, 1), event))
    with pytest.raises(SettingError, match="cannot be inside"):
        Composed(("gaussian",))  # type: ignore[arg-type]


def test_an_event_has_no_parts_of_itself() -> None:
    assert Event().inner() == ()


def test_every_field_of_every_event_is_checked() -> None:
    # An event checks the events and the law inside itself.
    for kind in [kind for kinds in event_json._KINDS.values() for kind in kinds.values()]:
        names = {field.name for field in fields(kind)} - {"event", "events", "law"}
        assert names <= set(event_fields.RULES)
