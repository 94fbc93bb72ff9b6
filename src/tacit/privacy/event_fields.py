"""The rules for the numbers and texts of an event: exact, bounded, and within their range."""

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from fractions import Fraction
from numbers import Integral, Rational, Real

from tacit.errors import SettingError

# 1536 bits are at most 463 digits, so a fraction is written in at most 927 characters.
LARGEST_BITS = 1536
LONGEST_LABEL = 200


def exact(name: str, value: object) -> Fraction | int:
    """Return an exact number of bounded size, integers as ``int``.

    A float is read as the binary fraction that it is. Other real numbers are refused if no float
    holds them: rounded to 0 a sensitivity would cost nothing.
    """
    number: Fraction | int
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SettingError(f"{name} is a {type(value).__name__}; expected a number: an int, a Fraction or a float")
    if isinstance(value, Integral):
        number = int(value)
    elif isinstance(value, Rational):
        number = Fraction(value)
    else:
        held = float(value)
        if not math.isfinite(held):
            raise SettingError(f"{name} is {held}; expected a finite number")
        if held != value:
            kind = f"{type(value).__name__} that no float holds"
            raise SettingError(f"{name} is a {kind}; expected a number: an int, a Fraction or a float")
        number = Fraction(held)
    number = number.numerator if number.denominator == 1 else number
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_BITS:
        raise SettingError(f"{name} has more than {LARGEST_BITS} bits; expected a smaller number")
    return number


def _checked(holds: Callable[[Fraction | int], bool], fault: str) -> Callable[[str, object], Fraction | int]:
    def check(name: str, value: object) -> Fraction | int:
        number = exact(name, value)
        if not holds(number):
            raise SettingError(f"{name} {fault}")
        return number

    return check


def count(name: str, value: object) -> int:
    """Return an integer of at least 1; a float is none, whatever its value."""
    number = exact(name, value) if isinstance(value, Rational) else 0
    if isinstance(value, bool) or not isinstance(number, int) or number < 1:
        raise SettingError(f"{name} is not a count; expected an integer of at least 1")
    return number


def _line(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_LABEL or not value.isprintable():
        raise SettingError(f"{name} is not a line of text; expected at most {LONGEST_LABEL} printable characters")
    return value


at_least_zero = _checked(lambda it: it >= 0, "is negative; expected a number of at least 0")
above_zero = _checked(lambda it: it > 0, "is not positive; expected a number above 0")
probability = _checked(lambda it: 0 <= it <= 1, "is outside [0, 1]; expected a probability")
# What each field must be. Fields of one name mean the same in every event.
RULES: Mapping[str, Callable[[str, object], object]] = {
    **dict.fromkeys(("squared_sensitivity", "sensitivity", "curvature_ratio", "epsilon", "eta"), at_least_zero),
    **dict.fromkeys(("variance", "scale", "mean"), above_zero),
    **dict.fromkeys(("delta", "rate"), probability),
    **dict.fromkeys(("coordinates", "queries", "times", "sample", "draws", "population"), count),
    "shape": _checked(lambda it: it > -1, "is not above -1; expected 1, a geometric law, e.g."),
    "gamma": _checked(lambda it: 0 < it < 1, "is not between 0 and 1; expected for example 1/10"),
    "signs": _checked(lambda it: it in (1, 2), "is neither 1 nor 2: the signs of a derivative"),
    "classes": _checked(
        lambda it: isinstance(it, int) and it >= 2, "is no integer of at least 2: the number of classes"
    ),
    "label": _line,
}


def check_fields(event: object) -> None:
    """Replace each number and text of an event, or of a law of runs, by its checked value."""
    for field in fields(event):  # type: ignore[arg-type]
        if field.name in RULES:
            value = RULES[field.name](field.name, getattr(event, field.name))
            object.__setattr__(event, field.name, value)
