"""The logistic loss log(1 + e^z) - y z of a margin z and a label y in {0, 1}.

Its slope σ(z) - y lies in [-1, 1], its curvature σ(z)(1 - σ(z)) in [0, 1/4].
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.float_bits import exp_negative
from tacit.losses.loss import Code, Loss

# The joint bound is that of (4 p (1 - p))² + (1 - p)⁴, whose maximum is 1.07228 at p = 0.4605.
LOSS = Loss(
    "logistic", Code.LOGISTIC, lipschitz=1.0, smoothness=0.25, one_signed=True, joint=1.0724
)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def sigmoid(z: float) -> float:
    """Return 1 / (1 + e^-z), from e^-|z| alone."""
    e = exp_negative(-abs(z))
    large = 1.0 / (1.0 + e)
    return large if z >= 0.0 else e * large


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float) -> float:
    """Return the slope of the loss in the margin."""
    return sigmoid(z) - y


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float) -> float:
    """Return the second derivative of the loss in the margin."""
    e = exp_negative(-abs(z))
    large = 1.0 / (1.0 + e)
    return e * large * large


def value(z: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the loss of margins and labels, without overflow."""
    return np.logaddexp(0.0, z) - y * z


def probability(z: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return σ(z), without overflow."""
    positive = 1.0 / (1.0 + np.exp(-np.abs(z)))
    return np.where(z >= 0, positive, 1.0 - positive)
