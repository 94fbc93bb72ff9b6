"""The natural logarithm of cells as a fixed sequence of IEEE operations.

Private: the cells. No library call: numpy's own logarithm may differ in the last bit between
vector units and strides, and a prepared record must depend on that record alone.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

# log 2 in two parts; the first has 32 trailing zero bits, so that an exponent times it is exact.
_LOG_TWO_HIGH = 0.6931471803691238
_LOG_TWO_LOW = 1.9082149292705877e-10
_ROOT_HALF = math.sqrt(0.5)
# log m = 2 (s + s³/3 + s⁵/5 + …), s = (m - 1) / (m + 1), s² <= 0.02944 for m in [√½, √2]: the
# first term left out, 2 s²³/23, is below 2^-60 of the sum.
_SERIES = tuple(1.0 / k for k in range(21, 1, -2))


def logarithm(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Natural logarithm of positive finite numbers.

    Guarantee
    ---------
    - A number has the same logarithm wherever it stands, to the bit; the error is below 2 units in
      the last place.

    Examples
    --------
    >>> logarithm(np.array([1.0, 2.0])).tolist()
    [0.0, 0.6931471805599453]
    """
    mantissa, exponent = np.frexp(cells)
    small = mantissa < _ROOT_HALF
    mantissa = np.where(small, 2.0 * mantissa, mantissa)
    power = (exponent - small).astype(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    tail = np.zeros_like(s)
    for coefficient in _SERIES:
        tail = (tail + coefficient) * square
    twice = 2.0 * s
    return np.asarray(power * _LOG_TWO_HIGH + (twice + (twice * tail + power * _LOG_TWO_LOW)))
