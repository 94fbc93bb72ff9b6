"""Huber's loss: ½r² up to the threshold c, c|r| - ½c² beyond, of the residual r = z - y.

Its slope is clip(r, ±c); its curvature is 1 for |r| ≤ c and 0 beyond.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.loss import Code, Loss

EFFICIENT = 1.345
"""Threshold, in units of the error's deviation, with 95% efficiency under Gaussian errors."""


def loss(threshold: float, *, relative: bool = False) -> Loss:
    """The loss with a public threshold; `relative` is explained in `Loss`."""
    return Loss(
        "huber",
        Code.HUBER,
        lipschitz=threshold,
        smoothness=1.0,
        shape=(threshold, 0.0),
        degree=2,
        relative=relative,
    )


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float, threshold: float) -> float:
    """Return the clipped residual."""
    return min(max(z - y, -threshold), threshold)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, y: float, threshold: float) -> float:
    """Return 1 where the residual is within the threshold."""
    return 1.0 if abs(z - y) <= threshold else 0.0


def value(z: NDArray[np.float64], y: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Return the loss."""
    r = np.abs(z - y)
    return np.where(r <= threshold, 0.5 * r**2, threshold * r - 0.5 * threshold**2)
