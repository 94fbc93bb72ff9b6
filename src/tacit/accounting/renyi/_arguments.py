"""Checks of arguments and the rounding upwards that all Rényi curves share."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import BudgetError, SettingError

Floats = NDArray[np.float64]

# Relative error granted to a short chain of float operations and one special function.
ALLOWANCE = 2.0**-46
# More than what underflow can hide in any product formed here, and far below any budget.
UNDERFLOW = 2.0**-1000


def as_orders(orders: ArrayLike) -> Floats:
    """Return orders as an array; each is finite and at least 1."""
    array = np.asarray(orders, dtype=np.float64)
    if not np.all((array >= 1.0) & np.isfinite(array)):
        raise SettingError("an order is not a finite number of at least 1; expected orders like 8")
    return array


def raised(values: Floats, slack: float = ALLOWANCE) -> Floats:
    """Return values raised by a relative slack and by more than underflow can have hidden."""
    with np.errstate(over="ignore"):
        return np.asarray(values * (1.0 + slack) + UNDERFLOW, dtype=np.float64)


def non_negative(name: str, value: float) -> float:
    """Return a number of at least 0, infinity included."""
    number = float(value)
    if not number >= 0.0:
        raise BudgetError(f"{name} is {number!r}; expected a number of at least 0")
    return number


def positive(name: str, value: float) -> float:
    """Return a finite number above 0."""
    number = float(value)
    if not 0.0 < number < math.inf:
        raise SettingError(f"{name} is {number!r}; expected a finite number above 0")
    return number


def probability(name: str, value: float) -> float:
    """Return a number from 0 to 1."""
    number = float(value)
    if not 0.0 <= number <= 1.0:
        raise BudgetError(f"{name} is {number!r}; expected a number from 0 to 1")
    return number


def count(name: str, value: int) -> int:
    """Return an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise SettingError(f"{name} is {value!r}; expected an integer of at least 1")
    return int(value)


def log_expm1(exponents: Floats) -> Floats:
    """Logarithm of exp(t) - 1 for t >= 0, minus infinity at 0."""
    with np.errstate(divide="ignore"):
        small = np.log(np.expm1(np.minimum(exponents, 1.0)))
        large = exponents + np.log1p(-np.exp(-np.maximum(exponents, 0.5)))
    return np.where(exponents < 1.0, small, large)


def log_one_plus(logarithm: float) -> float:
    """Logarithm of 1 + exp(t), accurate for both signs of t."""
    if logarithm > 0.0:
        return logarithm + math.log1p(math.exp(-logarithm))
    return math.log1p(math.exp(logarithm))


def log_sum(logarithms: Floats) -> float:
    """Logarithm of a sum of exponentials, minus infinity for an empty sum."""
    top = float(np.max(logarithms, initial=-math.inf))
    if math.isinf(top):
        return top
    return top + math.log(float(np.sum(np.exp(logarithms - top))))
