"""Numbers of the accountants: checked arguments, rounding to the safe side, and bisection.

Proof: ``proofs/accounting/rounding.md``.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.errors import BudgetError, SettingError
from tacit.validate import within

# Relative error granted to a short chain of float operations and one special function.
ALLOWANCE = 2.0**-46
# More than what underflow can hide in any product formed here, and far below any budget.
UNDERFLOW = 2.0**-1000


def float_up(number: Fraction | float) -> float:
    """Return the smallest float that is at least an exact number; infinite beyond the largest float."""
    try:
        nearest = float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.nextafter(math.inf, 0.0)
    return nearest if nearest >= number else math.nextafter(nearest, math.inf)


def float_down(number: Fraction | float) -> float:
    """Return the largest float that is at most an exact number."""
    return -float_up(-number)


def root_up(square: Fraction) -> float:
    """Return the smallest float whose square, compared as a rational, is at least a number of at least 0."""
    if square == 0:
        return 0.0
    numerator, denominator = square.numerator, square.denominator
    # Bits of the integer square root: 53 for the float and enough more that one check settles it.
    shift = 64 - (numerator.bit_length() - denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** shift
    root = Fraction(math.isqrt(math.ceil(scaled) - 1) + 1) / Fraction(2) ** shift
    try:
        result = float(root)
    except OverflowError:
        return math.inf
    while Fraction(result) ** 2 < square:
        result = math.nextafter(result, math.inf)
        if math.isinf(result):
            return result
    below = math.nextafter(result, 0.0)
    return below if Fraction(below) ** 2 >= square else result


def root_down(square: Fraction) -> float:
    """Return the largest float whose square, compared as a rational, is at most a number of at least 0."""
    above = root_up(square)
    if math.isfinite(above) and Fraction(above) ** 2 == square:
        return above
    return math.nextafter(above, 0.0)


def raised(values: NDArray[np.float64], slack: float = ALLOWANCE) -> NDArray[np.float64]:
    """Return values raised by a relative slack and by more than underflow can have hidden."""
    with np.errstate(over="ignore"):
        return np.asarray(values * (1.0 + slack) + UNDERFLOW, dtype=np.float64)


def bisect(low: float, high: float, holds: Callable[[float], bool], accuracy: float) -> tuple[float, float]:
    """Return ends, relatively `accuracy` apart: the upper is `high` or held, the lower is `low` or did not hold."""
    while high - low > accuracy * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high


Floats = NDArray[np.float64]


# Checked numbers: of at least 0, infinity included, and from 0 to 1.
non_negative = partial(within, least=0.0, largest=math.inf, error=BudgetError)
probability = partial(within, least=0.0, largest=1.0, error=BudgetError)


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
