"""Losses of classes: logistic and rounded hinge of a margin z, softmax of K margins.

logistic   log(1 + e^z) - y z, y in {0, 1}; slope σ(z) - y in [-1, 1], curvature in [0, 1/4]
weighted   the logistic score with weight ω = min(1, top / σ(1 - σ)): slope ω(σ - y), curvature at most top; for rare
           labels, whose curvature is small; its mean is zero wherever the model is right
hinge      of m = (2y - 1) z with a corner of width h; slope in [-1, 1], curvature in [0, 1 / (2 h)]: 0 for m ≥ 1 + h,
           (1 + h - m)² / (4 h) for |1 - m| ≤ h, 1 - m below
softmax    log Σ_k e^(z_k) - z_y of a class y; gradient p - e_y, of norm at most √2; curvature diag(p) - p p', with
           eigenvalues in [0, 1/2]
"""

import math

import numba
import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.losses.float_bits import exp_negative
from tacit.losses.loss import Code, Loss

Vector = NDArray[np.float64]

# The joint bound is that of (4 p (1 - p))² + (1 - p)⁴, whose maximum is 1.07228 at p = 0.4605.
LOGISTIC = Loss("logistic", Code.LOGISTIC, 1.0, 0.25, one_signed=True, joint=1.0724)
# That of 4‖diag p - p p'‖² + ‖p - e_y‖⁴ / 4 is 25/16, where two other classes have p = ½ each.
SOFTMAX = Loss("softmax", Code.SOFTMAX, lipschitz=math.sqrt(2.0), smoothness=0.5, joint=1.5625)
HINGE_WIDTH = 0.5


def weighted_logistic(top: float) -> Loss:
    """The weighted logistic score with a public bound on its curvature."""
    return Loss("weighted-logistic", Code.WEIGHTED_LOGISTIC, 1.0, top, (top, 0.0))


def hinge(width: float = HINGE_WIDTH) -> Loss:
    """The rounded hinge with a public width of its corner."""
    return Loss("huberised-hinge", Code.HINGE, 1.0, 0.5 / width, (width, 0.0), one_signed=True)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def logistic_slope(z: float, y: float) -> float:
    """Return σ(z) - y, from e^-|z| alone."""
    e = exp_negative(-abs(z))
    large = 1.0 / (1.0 + e)
    return (large if z >= 0.0 else e * large) - y


@numba.njit(nogil=True, error_model="numpy", inline="always")
def logistic_curvature(z: float) -> float:
    """Return σ(z)(1 - σ(z))."""
    e = exp_negative(-abs(z))
    large = 1.0 / (1.0 + e)
    return e * large * large


@numba.njit(nogil=True, error_model="numpy", inline="always")
def weighted_logistic_slope(z: float, y: float, top: float) -> float:
    """Return ω(σ(z) - y)."""
    curvature = logistic_curvature(z)
    weight = top / curvature if curvature > top else 1.0
    return weight * logistic_slope(z, y)


def logistic_probability(z: Vector) -> Vector:
    """Return σ(z), without overflow."""
    positive = 1.0 / (1.0 + np.exp(-np.abs(z)))
    return np.where(z >= 0, positive, 1.0 - positive)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def hinge_slope(z: float, y: float, width: float) -> float:
    """Return the slope in the margin."""
    sign = 2.0 * y - 1.0
    return -sign * min(max((1.0 + width - sign * z) / (2.0 * width), 0.0), 1.0)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def hinge_curvature(z: float, y: float, width: float) -> float:
    """Return 1 / (2 h) in the rounded corner, 0 elsewhere."""
    return 0.5 / width if abs(1.0 - (2.0 * y - 1.0) * z) <= width else 0.0


def softmax_probability(z: Vector) -> Vector:
    """Return the probabilities of all classes."""
    return np.asarray(special.softmax(z, axis=1))
