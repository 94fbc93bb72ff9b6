"""Compiled dispatch: slopes and curvatures of any loss, by its code, for a tile of 64 records.

One kernel serves every loss, and the branch is taken once per tile.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses import (
    bounded_poisson,
    hinge,
    huber,
    logistic,
    pinball,
    poisson,
    smooth_huber,
    squared,
)
from tacit.losses.loss import Code, Loss

SHAPELESS = frozenset({Code.LOGISTIC, Code.SQUARED, Code.DISTANCE})


def shape_of(loss: Loss) -> NDArray[np.float64] | None:
    """Public parameters of a loss for compiled passes; None for losses without any.

    With None numba leaves out the branches that need a shape, and compiles in half the time.
    """
    return None if loss.code in SHAPELESS else np.array(loss.shape)


@numba.njit(nogil=True, error_model="numpy")
def slopes(  # noqa: C901, PLR0912 - one branch a loss
    code: int,
    shape: NDArray[Any] | None,
    margin: NDArray[Any],
    label: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write the slope of every record of a tile; `shape` is that of `shape_of`."""
    count = out.shape[0]
    if code == Code.LOGISTIC:
        for i in range(count):
            out[i] = logistic.derivative(margin[i], np.float64(label[i]))
    elif code == Code.SQUARED:
        for i in range(count):
            out[i] = squared.derivative(margin[i], np.float64(label[i]))
    elif code == Code.DISTANCE:
        for i in range(count):
            out[i] = -1.0
    else:
        for i in range(count):
            out[i] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == Code.HUBER:
            for i in range(count):
                out[i] = huber.derivative(margin[i], np.float64(label[i]), a)
        elif code == Code.SMOOTH_HUBER:
            for i in range(count):
                out[i] = smooth_huber.derivative(margin[i], np.float64(label[i]), a)
        elif code == Code.HINGE:
            for i in range(count):
                out[i] = hinge.derivative(margin[i], np.float64(label[i]), a)
        elif code == Code.POISSON:
            for i in range(count):
                out[i] = poisson.derivative(margin[i], np.float64(label[i]), a, b)
        elif code == Code.PINBALL:
            for i in range(count):
                out[i] = pinball.derivative(margin[i], np.float64(label[i]), a, b)
        elif code == Code.BOUNDED_POISSON:
            for i in range(count):
                out[i] = bounded_poisson.derivative(margin[i], np.float64(label[i]), shape)


@numba.njit(nogil=True, error_model="numpy")
def curvatures(  # noqa: C901, PLR0912 - one branch a loss
    code: int,
    shape: NDArray[Any] | None,
    margin: NDArray[Any],
    label: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write the curvature of every record of a tile."""
    count = out.shape[0]
    if code == Code.LOGISTIC:
        for i in range(count):
            out[i] = logistic.curvature(margin[i])
    elif code == Code.SQUARED:
        for i in range(count):
            out[i] = 1.0
    else:
        for i in range(count):
            out[i] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == Code.HUBER:
            for i in range(count):
                out[i] = huber.curvature(margin[i], np.float64(label[i]), a)
        elif code == Code.SMOOTH_HUBER:
            for i in range(count):
                out[i] = smooth_huber.curvature(margin[i], np.float64(label[i]), a)
        elif code == Code.HINGE:
            for i in range(count):
                out[i] = hinge.curvature(margin[i], np.float64(label[i]), a)
        elif code == Code.POISSON:
            for i in range(count):
                out[i] = poisson.curvature(margin[i], a, b)
        elif code == Code.PINBALL:
            for i in range(count):
                out[i] = pinball.curvature(margin[i], np.float64(label[i]), b)
        elif code == Code.BOUNDED_POISSON:
            for i in range(count):
                out[i] = bounded_poisson.curvature(margin[i], np.float64(label[i]), shape)


def value(loss: Loss, z: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the loss of margins and labels; not compiled, for public data."""
    a, b = loss.shape[:2]
    by_code = {
        Code.LOGISTIC: lambda: logistic.value(z, y),
        Code.SQUARED: lambda: squared.value(z, y),
        Code.HUBER: lambda: huber.value(z, y, a),
        Code.SMOOTH_HUBER: lambda: smooth_huber.value(z, y, a),
        Code.HINGE: lambda: hinge.value(z, y, a),
        Code.POISSON: lambda: poisson.value(z, y, a),
        Code.PINBALL: lambda: pinball.value(z, y, a, b),
        Code.DISTANCE: lambda: -z,
    }
    return by_code[loss.code]()
