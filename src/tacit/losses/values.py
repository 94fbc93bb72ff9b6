"""Compiled values of losses, by their codes, for a tile of 64 records; and whether a margin has the wrong sign.

Every value is a fixed sequence of IEEE operations, so one margin and label have the same bits at any place of a table.
"""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.losses.float_bits import exp_negative, log_one_plus
from tacit.losses.loss import Code

ZERO_ONE = -1
"""Stands for a code where only the sign of a margin counts."""


@numba.njit(nogil=True, error_model="numpy", inline="always")
def logistic_value(z: float, y: float) -> float:
    """Return log(1 + e^z) - y z, from e^-|z| alone."""
    return max(z, 0.0) + log_one_plus(exp_negative(-abs(z))) - y * z


@numba.njit(nogil=True, error_model="numpy", inline="always")
def hinge_value(z: float, y: float, width: float) -> float:
    """Return the rounded hinge."""
    m = (2.0 * y - 1.0) * z
    if m >= 1.0 + width:
        return 0.0
    return 1.0 - m if m <= 1.0 - width else (1.0 + width - m) * (1.0 + width - m) / (4.0 * width)


@numba.njit(nogil=True, error_model="numpy", inline="always")
def huber_value(z: float, y: float, threshold: float) -> float:
    """Return Huber's loss."""
    r = abs(z - y)
    return 0.5 * r * r if r <= threshold else threshold * r - 0.5 * threshold * threshold


@numba.njit(nogil=True, error_model="numpy", inline="always")
def pinball_value(z: float, y: float, quantile: float, width: float) -> float:
    """Return the rounded pinball loss."""
    r = z - y
    above = r if r >= width else (0.0 if r <= -width else (width + r) * (width + r) / (4.0 * width))
    return above - quantile * r


@numba.njit(nogil=True, error_model="numpy")
def values(  # noqa: C901, PLR0912 - one branch a loss
    code: int, shape: NDArray[Any] | None, margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write the loss of every record of a tile; `shape` is that of `dispatch.shape_of`. Others than these are 0."""
    count = out.shape[0]
    if code == ZERO_ONE:
        for i in range(count):
            out[i] = 1.0 if (margin[i] > 0.0) != (np.float64(label[i]) > 0.5) else 0.0
    elif code == Code.LOGISTIC:
        for i in range(count):
            out[i] = logistic_value(margin[i], np.float64(label[i]))
    elif code == Code.SQUARED:
        for i in range(count):
            r = margin[i] - np.float64(label[i])
            out[i] = 0.5 * r * r
    else:
        out[:] = 0.0
    if shape is not None:
        a, b = shape[0], shape[1]
        if code == Code.HUBER:
            for i in range(count):
                out[i] = huber_value(margin[i], np.float64(label[i]), a)
        elif code == Code.HINGE:
            for i in range(count):
                out[i] = hinge_value(margin[i], np.float64(label[i]), a)
        elif code == Code.PINBALL:
            for i in range(count):
                out[i] = pinball_value(margin[i], np.float64(label[i]), a, b)
