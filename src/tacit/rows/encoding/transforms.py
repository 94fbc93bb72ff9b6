"""Transforms of cells as fixed sequences of IEEE operations.

Private: the cells. No library call but the square root, which IEEE 754 rounds correctly: a number
has the same image wherever it stands, to the bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from tacit.rows.encoding.logarithm import logarithm

Cells = NDArray[np.float64]

_INVERSE_LOG_TWO = 1.4426950408889634
# log 2 in two parts; the first has 32 trailing zero bits, so that an exponent times it is exact.
_LOG_TWO_HIGH = 0.6931471803691238
_LOG_TWO_LOW = 1.9082149292705877e-10
# Taylor polynomial of degree 13: for |r| <= log(2)/2 its remainder is below 2^-57.
_SERIES = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))


def power(cells: Cells, exponent: int) -> Cells:
    """Whole power of at least 1, by multiplying from the left."""
    result = cells
    for _ in range(exponent - 1):
        result = result * cells
    return result


def transform(function: str, cells: Cells) -> Cells:
    """The function of that name of cells that lie in its domain.

    Guarantee
    ---------
    - A number has the same image wherever it stands, to the bit; the error is below 4 units in the
      last place.

    Examples
    --------
    >>> transform("sqrt", np.array([4.0, 9.0])).tolist()
    [2.0, 3.0]
    """
    return _FUNCTIONS[function](cells)


def _log1p(cells: Cells) -> Cells:
    # log(u)·x/(u - 1) undoes the rounding of u = 1 + x (Kahan).
    near = 1.0 + cells
    rounded = near - 1.0
    tiny = rounded == 0.0
    return np.where(tiny, cells, logarithm(near) * (cells / np.where(tiny, 1.0, rounded)))


def _exp(cells: Cells) -> Cells:
    exponent = np.rint(cells * _INVERSE_LOG_TWO)
    # Far below, where the result is zero anyway, the exponent still has to be an integer.
    exponent = np.clip(exponent, -2000.0, 2000.0)
    rest = (cells - exponent * _LOG_TWO_HIGH) - exponent * _LOG_TWO_LOW
    rest = np.clip(rest, -1.0, 1.0)
    series = np.zeros_like(rest)
    for coefficient in _SERIES:
        series = (series + coefficient) * rest
    return np.ldexp(1.0 + (rest + rest * series), exponent.astype(np.int32))


def _sqrt(cells: Cells) -> Cells:
    return np.sqrt(cells)


_FUNCTIONS: Mapping[str, Callable[[Cells], Cells]] = {
    "log": logarithm,
    "log1p": _log1p,
    "sqrt": _sqrt,
    "exp": _exp,
}
