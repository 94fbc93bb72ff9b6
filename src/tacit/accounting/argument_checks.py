"""Checked arguments of the accountants, with the errors of a budget.

Infinity is a valid amount of privacy, so `non_negative` accepts it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import BudgetError, SettingError
from tacit.validate import within

Floats = NDArray[np.float64]


def non_negative(name: str, value: float) -> float:
    """Return a number of at least 0, infinity included."""
    return within(name, value, 0.0, math.inf, BudgetError)


def probability(name: str, value: float) -> float:
    """Return a number from 0 to 1."""
    return within(name, value, 0.0, 1.0, BudgetError)


def above_one(name: str, value: float) -> float:
    """Return a number above 1, infinity included."""
    if not value > 1.0:
        raise SettingError(f"{name} must be above 1; got {value!r}.")
    return value


def as_orders(orders: ArrayLike) -> Floats:
    """Return Rényi orders as an array; each is finite and at least 1."""
    array = np.asarray(orders, dtype=np.float64)
    if not np.all((array >= 1.0) & np.isfinite(array)):
        raise SettingError("an order is not a finite number of at least 1; expected orders like 8")
    return array
