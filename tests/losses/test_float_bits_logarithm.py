"""The compiled logarithm against mpmath, and its bits at every place of a block."""

import mpmath
import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.float_bits import log_one_plus

Vector = NDArray[np.float64]


@numba.njit()
def _each(e: Vector) -> Vector:
    out = np.empty_like(e)
    for i in range(len(e)):
        out[i] = log_one_plus(e[i])
    return out


def test_it_agrees_with_mpmath() -> None:
    e = np.concatenate([np.linspace(0, 1, 1001), np.geomspace(1e-300, 1, 300)])
    with mpmath.workdps(30):
        exact = np.array([float(mpmath.log1p(mpmath.mpf(float(each)))) for each in e])
    np.testing.assert_allclose(_each(e), exact, rtol=1e-15)


def test_bits_do_not_depend_on_the_place() -> None:
    e = np.random.default_rng(1).random(67)
    expected = [float(log_one_plus(each)) for each in e]
    for first in range(9):
        np.testing.assert_array_equal(_each(e[first:]), expected[first:])
