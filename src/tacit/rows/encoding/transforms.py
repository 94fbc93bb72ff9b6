"""Transforms of cells as fixed sequences of IEEE operations: log, exp, powers, B-splines.

Private: the cells. Public: knots and degree. numpy's functions, but for the square root, may differ
in the last bit between vector units and strides; these do not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tacit.compiling import compiled
from tacit.rows.storage.tiles import Floats

# log 2 in two summands; the first has 32 trailing zero bits, so an exponent times it is exact.
_LOG_TWO_HIGH = 0.6931471803691238
_LOG_TWO_LOW = 1.9082149292705877e-10
_INVERSE_LOG_TWO = 1.4426950408889634
_ROOT_HALF = math.sqrt(0.5)
# log m = 2 (s + s³/3 + s⁵/5 + …), s = (m - 1) / (m + 1), s² <= 0.02944 for m in [√½, √2]: the
# first term left out, 2 s²³/23, is below 2^-60 of the sum.
_LOG_SERIES = tuple(1.0 / k for k in range(21, 1, -2))
# Taylor polynomial of degree 13: for |r| <= log(2)/2 its remainder is below 2^-57.
_EXP_SERIES = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))


def logarithm(cells: Floats) -> Floats:
    """Natural logarithm of positive finite numbers.

    Guarantee
    ---------
    - A number has the same logarithm wherever it stands, to the bit; the error is below 2 units in
      the last place.
    """
    mantissa, exponent = np.frexp(cells)
    small = mantissa < _ROOT_HALF
    mantissa = np.where(small, 2.0 * mantissa, mantissa)
    whole = (exponent - small).astype(np.float64)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    square = s * s
    tail = np.zeros_like(s)
    for coefficient in _LOG_SERIES:
        tail = (tail + coefficient) * square
    twice = 2.0 * s
    return np.asarray(whole * _LOG_TWO_HIGH + (twice + (twice * tail + whole * _LOG_TWO_LOW)))


def power(cells: Floats, exponent: int) -> Floats:
    """Whole power of at least 1, by multiplying from the left."""
    result = cells
    for _ in range(exponent - 1):
        result = result * cells
    return result


def transform(function: str, cells: Floats) -> Floats:
    """The function of that name of cells that lie in its domain.

    Guarantee
    ---------
    - A number has the same image wherever it stands, to the bit; the error is below 4 units in the
      last place.
    """
    return _FUNCTIONS[function](cells)


def _log1p(cells: Floats) -> Floats:
    # log(u)·x/(u - 1) undoes the rounding of u = 1 + x (Kahan).
    near = 1.0 + cells
    rounded = near - 1.0
    tiny = rounded == 0.0
    return np.where(tiny, cells, logarithm(near) * (cells / np.where(tiny, 1.0, rounded)))


def _exp(cells: Floats) -> Floats:
    exponent = np.rint(cells * _INVERSE_LOG_TWO)
    # Far below, where the result is zero anyway, the exponent still has to be an integer.
    exponent = np.clip(exponent, -2000.0, 2000.0)
    rest = (cells - exponent * _LOG_TWO_HIGH) - exponent * _LOG_TWO_LOW
    rest = np.clip(rest, -1.0, 1.0)
    series = np.zeros_like(rest)
    for coefficient in _EXP_SERIES:
        series = (series + coefficient) * rest
    return np.ldexp(1.0 + (rest + rest * series), exponent.astype(np.int32))


_FUNCTIONS: Mapping[str, Callable[[Floats], Floats]] = {
    "log": logarithm,
    "log1p": _log1p,
    "sqrt": np.sqrt,
    "exp": _exp,
}


def spline_basis(cells: Floats, knots: Sequence[float], degree: int) -> Floats:
    """All functions of a B-spline basis at cells within the first and the last knot.

    The recurrence is that of de Boor, "A practical guide to splines", 1978, chapter X. scipy's
    `BSpline` does not promise the same bits everywhere.

    Guarantee
    ---------
    - Every value lies in [0, 1], and the values of a record sum to 1 up to rounding.
    - A record's values depend on its cell, the knots and the degree only, bit by bit.
    """
    whole = np.pad(np.array(knots, dtype=np.float64), degree, mode="edge")
    basis = np.zeros((len(cells), len(knots) - 1 + degree), dtype=np.float64)
    _fill_basis(np.ascontiguousarray(cells), whole, degree, basis)
    return basis


@compiled
def _fill_basis(cells: Floats, knots: Floats, degree: int, basis: Floats) -> None:
    last = len(knots) - degree - 2
    values = np.empty(degree + 1)
    for i in range(len(cells)):
        x = min(max(cells[i], knots[degree]), knots[last + 1])
        span = degree
        while span < last and x >= knots[span + 1]:
            span += 1
        values[0] = 1.0
        for order in range(1, degree + 1):
            carried = 0.0
            for k in range(order):
                right = knots[span + k + 1]
                left = knots[span + 1 + k - order]
                share = values[k] / (right - left)
                values[k] = carried + (right - x) * share
                carried = (x - left) * share
            values[order] = carried
        for k in range(degree + 1):
            basis[i, span - degree + k] = min(max(values[k], 0.0), 1.0)
