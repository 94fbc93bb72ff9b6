"""The squared loss ½(z - y)² of a prediction z and a response y, and squared distance for means.

The slope is the residual z - y, which only a clip bounds; the curvature is 1. Squared distance
½‖θ - x‖² is, up to terms in θ alone, the margin loss -z, with slope -1 and curvature 0.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss

LOSS = Loss("squared", Code.SQUARED, lipschitz=float("inf"), smoothness=1.0, degree=2)
DISTANCE = Loss("squared-distance", Code.DISTANCE, lipschitz=1.0, smoothness=0.0, one_signed=True)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float) -> float:
    """Return the residual."""
    return z - y


def value(z: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return half the squared residual."""
    return np.asarray(0.5 * (z - y) ** 2)
