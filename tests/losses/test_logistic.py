"""The logistic loss: derivative identities, constants, and the compiled forms against mpmath."""

import mpmath
import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses import logistic
from tacit.losses.exponential import exp_negative

Vector = NDArray[np.float64]


@numba.njit()
def _compiled(z: Vector, y: float) -> tuple[Vector, Vector, Vector]:
    slopes, curvatures, exponentials = np.empty_like(z), np.empty_like(z), np.empty_like(z)
    for i in range(len(z)):
        slopes[i] = logistic.derivative(z[i], y)
        curvatures[i] = logistic.curvature(z[i])
        exponentials[i] = exp_negative(-abs(z[i]))
    return slopes, curvatures, exponentials


def margins() -> Vector:
    near = np.linspace(-40, 40, 801)
    return np.concatenate([near, [-1e300, -800, -699, -1e-12, 0, 1e-300, 699, 800, 1e300]])


def test_compiled_forms_agree_with_mpmath() -> None:
    z = margins()
    slopes, curvatures, exponentials = _compiled(z, 0.0)
    with mpmath.workdps(40):
        for margin, slope, curvature, exponential in zip(
            z, slopes, curvatures, exponentials, strict=True
        ):
            if abs(margin) > 690:
                continue
            exact = 1 / (1 + mpmath.exp(-mpmath.mpf(float(margin))))
            assert abs(slope / exact - 1) < 1e-14
            assert abs(curvature / (exact * (1 - exact)) - 1) < 1e-14
            assert abs(exponential / mpmath.exp(-abs(mpmath.mpf(float(margin)))) - 1) < 1e-14


def test_constants_bound_the_derivatives() -> None:
    for y in (0.0, 1.0):
        slopes, curvatures, _ = _compiled(margins(), y)
        assert np.abs(slopes).max() <= logistic.LIPSCHITZ
        assert curvatures.max() <= logistic.SMOOTHNESS
        assert curvatures.min() >= 0


def test_derivatives_are_derivatives() -> None:
    z = np.linspace(-5, 5, 101)
    step = 1e-5
    for y in (0.0, 1.0):
        labels = np.full_like(z, y)
        slopes, curvatures, _ = _compiled(z, y)
        by_value = (logistic.value(z + step, labels) - logistic.value(z - step, labels)) / 2 / step
        by_slope = (_compiled(z + step, y)[0] - _compiled(z - step, y)[0]) / 2 / step
        np.testing.assert_allclose(slopes, by_value, atol=1e-9)
        np.testing.assert_allclose(curvatures, by_slope, atol=1e-9)


def test_value_and_probability_never_overflow() -> None:
    z = np.array([-1e308, -1000.0, 0.0, 1000.0, 1e308])
    assert np.isfinite(logistic.value(z, np.array([0.0, 0.0, 1.0, 1.0, 1.0]))).all()
    assert logistic.probability(z).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
