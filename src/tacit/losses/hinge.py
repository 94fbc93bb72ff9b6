"""The Huberised hinge of a margin z and a label y in {0, 1}, with m = (2y - 1) z and width h.

    0 for m ≥ 1 + h,   (1 + h - m)² / (4 h) for |1 - m| ≤ h,   1 - m for m ≤ 1 - h

Its slope lies in [-1, 1], its curvature in [0, 1 / (2 h)].
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss

WIDTH = 0.5


def loss(width: float = WIDTH) -> Loss:
    """The loss with a public width of the rounded corner."""
    return Loss(
        "huberised-hinge",
        Code.HINGE,
        lipschitz=1.0,
        smoothness=0.5 / width,
        shape=(width, 0.0),
        one_signed=True,
    )


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float, width: float) -> float:
    """Return the slope in the margin."""
    sign = 2.0 * y - 1.0
    return -sign * min(max((1.0 + width - sign * z) / (2.0 * width), 0.0), 1.0)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, y: float, width: float) -> float:
    """Return 1 / (2 h) in the rounded corner, 0 elsewhere."""
    return 0.5 / width if abs(1.0 - (2.0 * y - 1.0) * z) <= width else 0.0


def value(z: NDArray[np.float64], y: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Return the loss."""
    m = (2.0 * y - 1.0) * z
    corner = (1.0 + width - m) ** 2 / (4.0 * width)
    return np.where(m >= 1.0 + width, 0.0, np.where(m <= 1.0 - width, 1.0 - m, corner))
