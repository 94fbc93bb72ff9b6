"""The compiled switch from a loss's code to its slopes and curvatures, a tile of records at a time.

One kernel then serves every loss: the branch is taken once for 64 records, and a new loss costs
no user a second compilation.
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

_LOGISTIC = int(Code.LOGISTIC)
_SQUARED = int(Code.SQUARED)
_HUBER = int(Code.HUBER)
_SMOOTH_HUBER = int(Code.SMOOTH_HUBER)
_HINGE = int(Code.HINGE)
_POISSON = int(Code.POISSON)
_PINBALL = int(Code.PINBALL)
_DISTANCE = int(Code.DISTANCE)
_BOUNDED_POISSON = int(Code.BOUNDED_POISSON)


SHAPELESS = frozenset({Code.LOGISTIC, Code.SQUARED, Code.DISTANCE})


def shape_of(loss: Loss) -> NDArray[np.float64] | None:
    """Public parameters of a loss as compiled passes take them; None for losses without any.

    A pass for those is compiled without the others, in half the time: the compiler leaves out what
    None rules out.
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
    if code == _LOGISTIC:
        for i in range(count):
            out[i] = logistic.derivative(margin[i], np.float64(label[i]))
    elif code == _SQUARED:
        for i in range(count):
            out[i] = squared.derivative(margin[i], np.float64(label[i]))
    elif code == _DISTANCE:
        for i in range(count):
            out[i] = -1.0
    else:
        for i in range(count):
            out[i] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == _HUBER:
            for i in range(count):
                out[i] = huber.derivative(margin[i], np.float64(label[i]), a)
        elif code == _SMOOTH_HUBER:
            for i in range(count):
                out[i] = smooth_huber.derivative(margin[i], np.float64(label[i]), a)
        elif code == _HINGE:
            for i in range(count):
                out[i] = hinge.derivative(margin[i], np.float64(label[i]), a)
        elif code == _POISSON:
            for i in range(count):
                out[i] = poisson.derivative(margin[i], np.float64(label[i]), a, b)
        elif code == _PINBALL:
            for i in range(count):
                out[i] = pinball.derivative(margin[i], np.float64(label[i]), a, b)
        elif code == _BOUNDED_POISSON:
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
    if code == _LOGISTIC:
        for i in range(count):
            out[i] = logistic.curvature(margin[i])
    elif code == _SQUARED:
        for i in range(count):
            out[i] = 1.0
    else:
        for i in range(count):
            out[i] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == _HUBER:
            for i in range(count):
                out[i] = huber.curvature(margin[i], np.float64(label[i]), a)
        elif code == _SMOOTH_HUBER:
            for i in range(count):
                out[i] = smooth_huber.curvature(margin[i], np.float64(label[i]), a)
        elif code == _HINGE:
            for i in range(count):
                out[i] = hinge.curvature(margin[i], np.float64(label[i]), a)
        elif code == _POISSON:
            for i in range(count):
                out[i] = poisson.curvature(margin[i], a, b)
        elif code == _PINBALL:
            for i in range(count):
                out[i] = pinball.curvature(margin[i], np.float64(label[i]), b)
        elif code == _BOUNDED_POISSON:
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
