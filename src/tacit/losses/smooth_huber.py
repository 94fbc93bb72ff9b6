"""A self-concordant relative of Huber's loss (Ostrovskii and Bach).

With v = r / c and q = √(1 + 4 v²), r = z - y,

    loss  = (c² / 2)(q - 1 + log((q - 1) / (2 v²)))
    slope = c·2v / (1 + q),   curvature = 2 / (q (1 + q))

The slope lies within ±c, the curvature in (0, 1]. The slope equals 2v / (q - 1) - 1 / v, without
cancellation at 0.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss


def loss(threshold: float) -> Loss:
    """The loss with a public threshold."""
    return Loss(
        "smooth-huber",
        Code.SMOOTH_HUBER,
        lipschitz=threshold,
        smoothness=1.0,
        shape=(threshold, 0.0),
        degree=2,
        joint=1.0,
    )


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float, threshold: float) -> float:
    """Return the slope in the prediction."""
    v = (z - y) / threshold
    return threshold * 2.0 * v / (1.0 + math.sqrt(1.0 + 4.0 * v * v))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, y: float, threshold: float) -> float:
    """Return the second derivative in the prediction."""
    v = (z - y) / threshold
    q = math.sqrt(1.0 + 4.0 * v * v)
    return 2.0 / (q * (1.0 + q))


def value(z: NDArray[np.float64], y: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Return the loss, without cancellation: (q - 1) / (2 v²) = 2 / (1 + q)."""
    q = np.sqrt(1.0 + 4.0 * ((z - y) / threshold) ** 2)
    return np.asarray(0.5 * threshold**2 * (q - 1.0 + np.log(2.0 / (1.0 + q))))
