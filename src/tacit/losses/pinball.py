"""The pinball loss of a quantile τ, its corner rounded over ±h, of the residual r = y - z.

    τ r for r ≥ h,   (τ - 1) r for r ≤ -h,   a parabola between, with equal slopes at ±h

Its slope in z lies in [-τ, 1 - τ], its curvature in [0, 1 / (2 h)].
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss

RELATIVE_WIDTH = 0.3
"""Default h in standard deviations of the residuals: like a further error of variance h² / 3."""


def loss(quantile: float, width: float = RELATIVE_WIDTH, *, relative: bool = False) -> Loss:
    """The loss of a public quantile and corner width; `relative` is explained in `Loss`."""
    return Loss(
        "pinball",
        Code.PINBALL,
        lipschitz=max(quantile, 1.0 - quantile),
        smoothness=0.5 / width,
        shape=(quantile, width),
        degree=1,
        relative=relative,
    )


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float, quantile: float, width: float) -> float:
    """Return the smoothed share below the prediction, less the quantile."""
    return min(max((width + z - y) / (2.0 * width), 0.0), 1.0) - quantile


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, y: float, width: float) -> float:
    """Return 1 / (2 h) in the rounded corner, 0 elsewhere."""
    return 0.5 / width if abs(z - y) <= width else 0.0


def value(
    z: NDArray[np.float64], y: NDArray[np.float64], quantile: float, width: float
) -> NDArray[np.float64]:
    """Return the loss; in the corner (h + z - y)² / (4 h) - τ (z - y)."""
    r = z - y
    corner = (width + r) ** 2 / (4.0 * width)
    return np.where(r >= width, r, np.where(r <= -width, 0.0, corner)) - quantile * r
