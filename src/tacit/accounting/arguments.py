"""Checked arguments of the accountants: each function returns the number, or says what it expects.

Infinity is a valid amount of privacy, so `non_negative` accepts it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import BudgetError, SettingError

Floats = NDArray[np.float64]


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


def above_one(name: str, value: float) -> float:
    """Return a number above 1, infinity included."""
    if not value > 1.0:
        raise SettingError(f"{name} is {value!r}; expected a number above 1")
    return value


def as_orders(orders: ArrayLike) -> Floats:
    """Return Rényi orders as an array; each is finite and at least 1."""
    array = np.asarray(orders, dtype=np.float64)
    if not np.all((array >= 1.0) & np.isfinite(array)):
        raise SettingError("an order is not a finite number of at least 1; expected orders like 8")
    return array
