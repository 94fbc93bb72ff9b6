"""Compiled dispatch: slopes and curvatures of any loss, by its code, for a tile of 64 records.

One kernel serves every loss, and the branch is taken once per tile.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Code, Loss

Vector = NDArray[np.float64]

SHAPELESS = frozenset({Code.LOGISTIC, Code.SQUARED, Code.DISTANCE})


def shape_of(loss: Loss) -> NDArray[np.float64] | None:
    """Public parameters of a loss for compiled passes; None for losses without any.

    With None numba leaves out the branches that need a shape, and compiles in half the time.
    """
    return None if loss.code in SHAPELESS else np.array(loss.shape)


@numba.njit(nogil=True, error_model="numpy")
def slopes(  # noqa: C901, PLR0912 - one branch a loss
    code: int, shape: NDArray[Any] | None, margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write the slope of every record of a tile; `shape` is that of `shape_of`."""
    count = out.shape[0]
    if code == Code.LOGISTIC:
        for i in range(count):
            out[i] = classification.logistic_slope(margin[i], np.float64(label[i]))
    elif code == Code.SQUARED:
        for i in range(count):
            out[i] = margin[i] - np.float64(label[i])
    elif code == Code.DISTANCE:
        out[:] = -1.0
    else:
        out[:] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == Code.HUBER:
            for i in range(count):
                out[i] = regression.huber_slope(margin[i], np.float64(label[i]), a)
        elif code == Code.SMOOTH_HUBER:
            for i in range(count):
                out[i] = regression.smooth_huber_slope(margin[i], np.float64(label[i]), a)
        elif code == Code.HINGE:
            for i in range(count):
                out[i] = classification.hinge_slope(margin[i], np.float64(label[i]), a)
        elif code == Code.POISSON:
            for i in range(count):
                out[i] = poisson.slope(margin[i], np.float64(label[i]), a, b)
        elif code == Code.PINBALL:
            for i in range(count):
                out[i] = regression.pinball_slope(margin[i], np.float64(label[i]), a, b)
        elif code == Code.BOUNDED_POISSON:
            for i in range(count):
                out[i] = poisson.bounded_slope(margin[i], np.float64(label[i]), shape)
        elif code == Code.WEIGHTED_POISSON:
            for i in range(count):
                out[i] = poisson.weighted_slope(margin[i], np.float64(label[i]), shape)
        elif code == Code.WEIGHTED_LOGISTIC:
            for i in range(count):
                y = np.float64(label[i])
                out[i] = classification.weighted_logistic_slope(margin[i], y, a)


@numba.njit(nogil=True, error_model="numpy")
def curvatures(  # noqa: C901, PLR0912 - one branch a loss
    code: int, shape: NDArray[Any] | None, margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write the curvature of every record of a tile."""
    count = out.shape[0]
    if code == Code.LOGISTIC:
        for i in range(count):
            out[i] = classification.logistic_curvature(margin[i])
    elif code == Code.SQUARED:
        out[:] = 1.0
    else:
        out[:] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == Code.HUBER:
            for i in range(count):
                out[i] = regression.huber_curvature(margin[i], np.float64(label[i]), a)
        elif code == Code.SMOOTH_HUBER:
            for i in range(count):
                out[i] = regression.smooth_huber_curvature(margin[i], np.float64(label[i]), a)
        elif code == Code.HINGE:
            for i in range(count):
                out[i] = classification.hinge_curvature(margin[i], np.float64(label[i]), a)
        elif code == Code.POISSON:
            for i in range(count):
                out[i] = poisson.curvature(margin[i], a, b)
        elif code == Code.PINBALL:
            for i in range(count):
                out[i] = regression.pinball_curvature(margin[i], np.float64(label[i]), b)
        elif code == Code.BOUNDED_POISSON:
            for i in range(count):
                out[i] = poisson.bounded_curvature(margin[i], np.float64(label[i]), shape)
        elif code == Code.WEIGHTED_POISSON:
            for i in range(count):
                out[i] = poisson.weighted_curvature(margin[i], shape)
        elif code == Code.WEIGHTED_LOGISTIC:
            for i in range(count):
                out[i] = min(classification.logistic_curvature(margin[i]), a)


def value(loss: Loss, z: Vector, y: Vector) -> Vector:
    """Return the loss of margins and labels, without overflow; not compiled, for public data."""
    a, b = loss.shape[:2]
    r = z - y
    match loss.code:
        case Code.LOGISTIC:
            found = np.logaddexp(0.0, z) - y * z
        case Code.SQUARED:
            found = 0.5 * r**2
        case Code.HUBER:
            found = np.where(np.abs(r) <= a, 0.5 * r**2, a * np.abs(r) - 0.5 * a**2)
        case Code.SMOOTH_HUBER:
            # Without cancellation: (q - 1) / (2 v²) = 2 / (1 + q).
            q = np.sqrt(1.0 + 4.0 * (r / a) ** 2)
            found = 0.5 * a**2 * (q - 1.0 + np.log(2.0 / (1.0 + q)))
        case Code.HINGE:
            m = (2.0 * y - 1.0) * z
            corner = (1.0 + a - m) ** 2 / (4.0 * a)
            found = np.where(m >= 1.0 + a, 0.0, np.where(m <= 1.0 - a, 1.0 - m, corner))
        case Code.POISSON:
            low = np.minimum(z, a)
            found = np.exp(low) * (1.0 + (z - low)) - y * z
        case Code.PINBALL:
            corner = (b + r) ** 2 / (4.0 * b)
            found = np.where(r >= b, r, np.where(r <= -b, 0.0, corner)) - a * r
        case Code.DISTANCE:
            found = -z
        case _:
            raise KeyError(loss.code)
    return np.asarray(found)
