"""The logistic loss: derivative identities, constants, and the compiled forms against mpmath."""

from typing import Any

import mpmath
import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses import classification
from tacit.losses.float_bits import exp_negative
from tests.losses.loss_identities import Case, check_constants, check_derivatives, check_self_concordance, check_signs
from tools import loss_pictures

Vector = NDArray[np.float64]


@numba.njit()
def _compiled(z: Vector, y: float) -> tuple[Vector, Vector, Vector]:
    slopes, curvatures, exponentials = np.empty_like(z), np.empty_like(z), np.empty_like(z)
    for i in range(len(z)):
        slopes[i] = classification.logistic_slope(z[i], y)
        curvatures[i] = classification.logistic_curvature(z[i])
        exponentials[i] = exp_negative(-abs(z[i]))
    return slopes, curvatures, exponentials


def formula(z: Any, y: float) -> Any:
    return mpmath.log(1 + mpmath.exp(z)) - y * z


def margins() -> Vector:
    near = np.linspace(-40, 40, 801)
    return np.concatenate([near, [-1e300, -800, -699, -1e-12, 0, 1e-300, 699, 800, 1e300]])


def test_compiled_forms_agree_with_mpmath() -> None:
    z = margins()
    slopes, curvatures, exponentials = _compiled(z, 0.0)
    with mpmath.workdps(40):
        for margin, slope, curvature, exponential in zip(z, slopes, curvatures, exponentials, strict=True):
            if abs(margin) > 690:
                continue
            exact = 1 / (1 + mpmath.exp(-mpmath.mpf(float(margin))))
            assert abs(slope / exact - 1) < 1e-14
            assert abs(curvature / (exact * (1 - exact)) - 1) < 1e-14
            assert abs(exponential / mpmath.exp(-abs(mpmath.mpf(float(margin)))) - 1) < 1e-14


def test_identities() -> None:
    case = Case(classification.LOGISTIC, formula, (0.0, 1.0), extremes=(-1e300, -800.0, 800.0, 1e300))
    check_derivatives(case)
    # The published joint constant is the maximum 1.07228, rounded up.
    check_constants(case, joint=1.07228)
    assert classification.LOGISTIC.joint < 1.0725
    check_signs(case)
    check_self_concordance(case, (-12.0, 12.0))


def test_value_and_probability_never_overflow() -> None:
    z = np.array([-1e308, -1000.0, 0.0, 1000.0, 1e308])
    found = loss_pictures.value(classification.LOGISTIC, z, np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
    assert np.isfinite(found).all()
    assert classification.logistic_probability(z).tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
