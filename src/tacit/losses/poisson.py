"""The Poisson loss e^z - y z with log link, its predictor capped at a public value.

Beyond the cap the loss continues along its tangent, so it stays convex. Its slope e^min(z, cap) - y
is bounded by max(e^cap, largest count), its curvature by e^cap.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.float_bits import exp_negative
from tacit.losses.loss import Code, Loss


def loss(cap: float, largest: float) -> Loss:
    """The loss with a public cap on the predictor and a public largest count."""
    return Loss(
        "poisson",
        Code.POISSON,
        lipschitz=max(math.exp(cap), largest),
        smoothness=math.exp(cap),
        shape=(cap, math.exp(cap)),
    )


@numba.njit(nogil=True, error_model="numpy", inline="always")
def rate(z: float, cap: float, highest: float) -> float:
    """Return e^min(z, cap); `highest` is e^cap."""
    return highest * exp_negative(min(z - cap, 0.0))


@numba.njit(nogil=True, error_model="numpy", inline="always")
def derivative(z: float, y: float, cap: float, highest: float) -> float:
    """Return the rate less the count."""
    return rate(z, cap, highest) - y


@numba.njit(nogil=True, error_model="numpy", inline="always")
def curvature(z: float, cap: float, highest: float) -> float:
    """Return the rate below the cap, 0 beyond it."""
    return rate(z, cap, highest) if z <= cap else 0.0


def value(z: NDArray[np.float64], y: NDArray[np.float64], cap: float) -> NDArray[np.float64]:
    """Return the loss."""
    low = np.minimum(z, cap)
    return np.asarray(np.exp(low) * (1.0 + (z - low)) - y * z)
