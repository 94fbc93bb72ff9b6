"""The logistic loss log(1 + e^z) - y z of a margin z and a label y in {0, 1}.

Its derivative σ(z) - y lies in [-1, 1], its curvature σ(z)(1 - σ(z)) in [0, 1/4]. The compiled
forms use a fixed sequence of IEEE operations, no library call: the same margin gives the same bits
wherever it stands in a block and whatever the machine's vector unit, as the sensitivity proof
needs.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.bits import MAGIC, MAGIC_BITS, bits_to_float, float_to_bits

NAME = "logistic"
LIPSCHITZ = 1.0
SMOOTHNESS = 0.25

_SMALLEST_EXPONENT = -700.0
_INVERSE_LOG_TWO = 1.4426950408889634
# log 2 in two parts; the first has 32 trailing zero bits, so that k times it is exact.
_LOG_TWO_HIGH = 0.6931471803691238
_LOG_TWO_LOW = 1.9082149292705877e-10
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (
    1.0 / math.factorial(k) for k in range(2, 14)
)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def exp_negative(t: float) -> float:
    """Return e^t for t <= 0, e^-700 below: reduction by log 2, Taylor polynomial of degree 13."""
    t = max(t, _SMALLEST_EXPONENT)
    shifted = t * _INVERSE_LOG_TWO + MAGIC
    k = shifted - MAGIC
    r = (t - k * _LOG_TWO_HIGH) - k * _LOG_TWO_LOW
    p = _C12 + r * _C13
    p = _C11 + r * p
    p = _C10 + r * p
    p = _C9 + r * p
    p = _C8 + r * p
    p = _C7 + r * p
    p = _C6 + r * p
    p = _C5 + r * p
    p = _C4 + r * p
    p = _C3 + r * p
    p = _C2 + r * p
    p = 1.0 + r * (1.0 + r * p)
    power = ((float_to_bits(shifted) - MAGIC_BITS) + 1023) << 52
    scaled: float = p * bits_to_float(power)
    return scaled


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
