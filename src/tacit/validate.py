"""Checked scalars: numbers and choices that somebody gave, or an error that says what is expected.

Every function returns the value as a plain Python number, so numpy's scalars go no further. True
and False are not numbers here. `error` is the class of the exception.
"""

import math
from collections.abc import Callable, Iterable
from numbers import Integral, Real

from tacit.errors import InputError, SettingError


def is_number(value: object) -> bool:
    """Whether a value is a real number of any type, infinity and NaN included."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object, least: int | None = None) -> bool:
    """Whether a value is of an integer type, and at least `least` if that is given."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return least is None or int(value) >= least


def finite(name: str, value: object, error: type[InputError] = SettingError) -> float:
    """Return a finite number as a float, or refuse it."""
    return _held(name, value, error, math.isfinite, "be a finite number")


def positive(name: str, value: object, error: type[InputError] = SettingError) -> float:
    """Return a number in (0, ∞) as a float, or refuse it."""
    return _held(name, value, error, lambda it: 0.0 < it < math.inf, "be a positive finite number")


def within(name: str, value: object, least: float, largest: float, error: type[InputError] = SettingError) -> float:
    """Return a number in [least, largest] as a float, or refuse it."""
    return _held(name, value, error, lambda it: least <= it <= largest, f"lie in [{least:g}, {largest:g}]")


def between(name: str, value: object, low: float, high: float, error: type[InputError] = SettingError) -> float:
    """Return a number in the open interval (low, high) as a float, or refuse it."""
    return _held(name, value, error, lambda it: low < it < high, f"lie between {low:g} and {high:g}")


def whole(
    name: str, value: object, least: int = 1, largest: int | None = None, error: type[InputError] = SettingError
) -> int:
    """Return an integer from `least` to `largest`, both included, or refuse it."""
    if isinstance(value, Integral) and is_whole(value, least) and (largest is None or int(value) <= largest):
        return int(value)
    extent = f"of at least {least}" if largest is None else f"from {least} to {largest}"
    raise error(f"{name} must be a whole number {extent}; got {shown(value)}.")


def one_of(name: str, value: object, choices: Iterable[str], error: type[InputError] = SettingError) -> str:
    """Return one of the listed texts, or refuse what is none."""
    listed = tuple(map(str, choices))
    if isinstance(value, str) and value in listed:
        return value
    raise error(f"{name} must be one of {', '.join(map(repr, listed))}; got {shown(value)}.")


def shown(value: object) -> str:
    """Spell a refused value for a message, in at most 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _held(name: str, value: object, error: type[InputError], holds: Callable[[float], bool], expected: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise error(f"{name} must be a number; got {shown(value)}.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf  # type: ignore[operator]
    if not holds(number):
        raise error(f"{name} must {expected}; got {number}.")
    return number
