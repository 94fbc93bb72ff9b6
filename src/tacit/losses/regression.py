"""Losses of a prediction z and a response y, with the residual r = z - y, and of a mean.

squared       ½r²; only a clip bounds its slope r; curvature 1
distance      ½‖θ - x‖², up to terms in θ alone the margin loss -z; slope -1, curvature 0
Huber         ½r² up to the threshold c, c|r| - ½c² beyond; slope clip(r, ±c), curvature 0 or 1
smooth Huber  (c² / 2)(q - 1 + log((q - 1) / (2 v²))), v = r / c, q = √(1 + 4 v²): a self-concordant relative
              (Ostrovskii and Bach); slope c·2v / (1 + q) within ±c, curvature 2 / (q (1 + q)) in (0, 1]
pinball       of a quantile τ: (1 - τ) r for r ≥ h, -τ r for r ≤ -h, a parabola between, with equal slopes at ±h;
              slope in [-τ, 1 - τ], curvature in [0, 1 / (2 h)]
"""

import math
from dataclasses import replace

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss

Vector = NDArray[np.float64]

SQUARED = Loss("squared", Code.SQUARED, lipschitz=math.inf, smoothness=1.0, degree=2)
DISTANCE = Loss("squared-distance", Code.DISTANCE, lipschitz=1.0, smoothness=0.0, one_signed=True)
SCATTER = replace(DISTANCE, name="squared-distance of products")
"""Of the products x x' to their mean: what second moments minimise."""
EFFICIENT = 1.345
"""Huber's threshold, in units of the error's deviation, with 95% efficiency if it is Gaussian."""
RELATIVE_WIDTH = 0.3
"""Default h in standard deviations of the residuals: like a further error of variance h² / 3."""


def huber(threshold: float, *, relative: bool = False) -> Loss:
    """Huber's loss with a public threshold; `relative` is explained in `Loss`."""
    return Loss("huber", Code.HUBER, threshold, 1.0, (threshold, 0.0), degree=2, relative=relative)


def smooth_huber(threshold: float) -> Loss:
    """The smooth Huber loss with a public threshold."""
    return Loss("smooth-huber", Code.SMOOTH_HUBER, threshold, 1.0, (threshold, 0.0), degree=2, joint=1.0)


def pinball(quantile: float, width: float = RELATIVE_WIDTH, *, relative: bool = False) -> Loss:
    """The pinball loss of a public quantile and corner width; `relative` is explained in `Loss`."""
    steepest, shape = max(quantile, 1.0 - quantile), (quantile, width)
    return Loss("pinball", Code.PINBALL, steepest, 0.5 / width, shape, degree=1, relative=relative)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def huber_slope(z: float, y: float, threshold: float) -> float:
    """Return the clipped residual."""
    return min(max(z - y, -threshold), threshold)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def huber_curvature(z: float, y: float, threshold: float) -> float:
    """Return 1 where the residual is within the threshold."""
    return 1.0 if abs(z - y) <= threshold else 0.0


@numba.njit(nogil=True, error_model="numpy", inline="always")
def smooth_huber_slope(z: float, y: float, threshold: float) -> float:
    """Return the slope; it equals c·(2v / (q - 1) - 1 / v), without cancellation at 0."""
    v = (z - y) / threshold
    return threshold * 2.0 * v / (1.0 + math.sqrt(1.0 + 4.0 * v * v))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def smooth_huber_curvature(z: float, y: float, threshold: float) -> float:
    """Return the second derivative in the prediction."""
    v = (z - y) / threshold
    q = math.sqrt(1.0 + 4.0 * v * v)
    return 2.0 / (q * (1.0 + q))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def pinball_slope(z: float, y: float, quantile: float, width: float) -> float:
    """Return the smoothed share below the prediction, less the quantile."""
    return min(max((width + z - y) / (2.0 * width), 0.0), 1.0) - quantile


@numba.njit(nogil=True, error_model="numpy", inline="always")
def pinball_curvature(z: float, y: float, width: float) -> float:
    """Return 1 / (2 h) in the rounded corner, 0 elsewhere."""
    return 0.5 / width if abs(z - y) <= width else 0.0
