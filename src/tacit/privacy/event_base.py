"""What every event shares: exact numbers of bounded size, a line of text, bounded nesting."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Integral, Rational, Real

from tacit.errors import SettingError

# 1536 bits are at most 463 digits, so a fraction is written in at most 927 characters.
LARGEST_BITS = 1536
LONGEST_LABEL = 200
DEEPEST_NESTING = 16


class Event:
    """A fact that a guarantee is computed from: what was released, never what it costs.

    The meaning of an event never changes, so a stored one can be priced again by a later,
    tighter accountant. Its numbers are exact.

    Guarantee
    ---------
    - Events compare by value and cannot be changed.
    - An event inside events is at most `DEEPEST_NESTING` deep.

    Examples
    --------
    >>> Event().inner()
    ()
    """

    __slots__ = ()

    def inner(self) -> tuple[Event, ...]:
        """The events this one is made of, one level down."""
        return ()


def exact(name: str, value: object) -> Fraction | int:
    """Return an exact number of bounded size, integers as ``int``.

    A float is read as the binary fraction that it is: 0.64 is the number that the machine holds
    for it, not 16/25. Real numbers of other kinds are read if a float holds them, and refused if
    not: rounded to 0 a sensitivity would cost nothing.
    """
    number: Fraction | int
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SettingError(
            f"{name} is a {type(value).__name__}; expected a number: an int, a Fraction or a float"
        )
    if isinstance(value, Integral):
        number = int(value)
    elif isinstance(value, Rational):
        number = Fraction(value)
    else:
        held = float(value)
        if not math.isfinite(held):
            raise SettingError(f"{name} is {held}; expected a finite number")
        if held != value:
            raise SettingError(
                f"{name} is a {type(value).__name__} that no float holds; expected a number: "
                "an int, a Fraction or a float"
            )
        number = Fraction(held)
    number = number.numerator if number.denominator == 1 else number
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_BITS:
        raise SettingError(f"{name} has more than {LARGEST_BITS} bits; expected a smaller number")
    return number


def at_least_zero(name: str, value: object) -> Fraction | int:
    """Return an exact number of at least 0."""
    number = exact(name, value)
    if number < 0:
        raise SettingError(f"{name} is negative; expected a number of at least 0")
    return number


def above_zero(name: str, value: object, why: str = "") -> Fraction | int:
    """Return an exact number above 0."""
    number = exact(name, value)
    if number <= 0:
        reason = f". {why}" if why else ""
        raise SettingError(f"{name} is not positive; expected a number above 0{reason}")
    return number


def probability(name: str, value: object) -> Fraction | int:
    """Return an exact number from 0 to 1."""
    number = exact(name, value)
    if not 0 <= number <= 1:
        raise SettingError(f"{name} is outside [0, 1]; expected a probability")
    return number


def count(name: str, value: object) -> int:
    """Return an integer of at least 1; a float is none, whatever its value."""
    number = exact(name, value) if isinstance(value, Rational) else 0
    if isinstance(value, bool) or not isinstance(number, int) or number < 1:
        raise SettingError(f"{name} is not a count; expected an integer of at least 1")
    return number


def require_line(label: object) -> None:
    """Refuse a label that is no short line of printable text."""
    if not isinstance(label, str) or len(label) > LONGEST_LABEL or not label.isprintable():
        raise SettingError(
            f"label is not a line of text; expected at most {LONGEST_LABEL} printable characters"
        )


def require_nested(outer: str, *events: object) -> None:
    """Refuse what is no event inside an event, and nesting beyond the bound."""
    for event in events:
        if not isinstance(event, Event):
            raise SettingError(
                f"a {type(event).__name__} cannot be inside {outer}; expected an event, "
                "for example Gaussian or Repeated"
            )
        if _depth(event) >= DEEPEST_NESTING:
            raise SettingError(
                f"events are nested more than {DEEPEST_NESTING} deep inside {outer}; "
                "multiply the counts or list the events instead"
            )


def _depth(event: Event) -> int:
    """How many levels lie below an event, which its own construction has bounded."""
    return max((1 + _depth(part) for part in event.inner()), default=0)
