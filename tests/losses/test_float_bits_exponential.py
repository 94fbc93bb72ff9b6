"""The compiled exponential against mpmath, and its bits at every place of a block."""

import mpmath
import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.float_bits import exp_negative

Vector = NDArray[np.float64]


@numba.njit()
def _each(t: Vector) -> Vector:
    out = np.empty_like(t)
    for i in range(len(t)):
        out[i] = exp_negative(t[i])
    return out


def test_it_agrees_with_mpmath() -> None:
    t = -np.concatenate([np.linspace(0, 50, 1501), np.geomspace(1e-300, 699, 300)])
    with mpmath.workdps(30):
        exact = np.array([float(mpmath.exp(mpmath.mpf(float(each)))) for each in t])
    np.testing.assert_allclose(_each(t), exact, rtol=4e-16)


def test_the_ends() -> None:
    found = _each(np.array([0.0, -0.0, -700.0, -701.0, -1e300, -np.inf]))
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2] > 0
    assert (found[2:] == found[2]).all()


def test_bits_do_not_depend_on_the_place() -> None:
    t = -np.random.default_rng(1).exponential(10.0, 67)
    expected = [float(exp_negative(each)) for each in t]
    for first in range(9):
        np.testing.assert_array_equal(_each(t[first:]), expected[first:])
