"""Compiled dispatch: slopes and curvatures of any loss, by its code, for a tile of 64 records.

One kernel serves every loss, and the branch is taken once per tile. A shape of one row in two dimensions stands for the
losses of `FAMILIES`: numba compiles their branches for such a shape alone, and the others' without them. An own loss is
called through the address of its compiled function, whose bits are a number of its shape: so kernels need not be
compiled for it, nor know it.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.losses import classification, links, log_link, poisson, regression
from tacit.losses.float_bits import float_to_bits
from tacit.losses.loss import Code, Loss
from tacit.losses.own import OwnLoss

SHAPELESS = frozenset({Code.LOGISTIC, Code.SQUARED, Code.DISTANCE})
FAMILIES = frozenset({Code.GAMMA, Code.NEGATIVE_BINOMIAL, Code.PROBIT, Code.CLOGLOG})
"""Losses whose shape has two dimensions."""


def shape_of(loss: Loss) -> NDArray[np.float64] | None:
    """Public parameters of a loss, or None: numba then leaves out branches and compiles in half the time."""
    if Code(loss.code) is Code.OWN:
        if not isinstance(loss, OwnLoss) or loss.compiled is None:
            raise SettingError("An own loss is one of tacit.own_loss(slope, value, lipschitz=…).")
        return np.append(np.array(loss.shape[:2]), np.array([loss.address], dtype=np.int64).view(np.float64))
    if loss.code in FAMILIES:
        return np.array([loss.shape])
    return None if loss.code in SHAPELESS else np.array(loss.shape)


def _call(_context: Any, address: Any, margin: Any, label: Any) -> Any:
    del address, margin, label

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number = ir.DoubleType()
        kind = ir.FunctionType(number, [number, number])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64), generate


called: Any = intrinsic(_call)
"""What the compiled function at an address returns for a margin and a label."""


@numba.njit(nogil=True, error_model="numpy")
def family_slopes(code: int, shape: NDArray[Any], margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]) -> None:
    """Write the slopes of a loss of `FAMILIES`."""
    for i in range(out.shape[0]):
        if code == Code.GAMMA or code == Code.NEGATIVE_BINOMIAL:  # noqa: PLR1714 - numba compares numbers
            out[i] = log_link.slope(margin[i], np.float64(label[i]), shape)
        else:
            out[i] = links.slope_and_curvature(code, margin[i], np.float64(label[i]), shape[0], shape[1])[0]


@numba.njit(nogil=True, error_model="numpy")
def family_curvatures(
    code: int, shape: NDArray[Any], margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write the curvatures of a loss of `FAMILIES`."""
    for i in range(out.shape[0]):
        if code == Code.GAMMA or code == Code.NEGATIVE_BINOMIAL:  # noqa: PLR1714 - numba compares numbers
            out[i] = log_link.curvature(margin[i], np.float64(label[i]), shape)
        else:
            out[i] = links.slope_and_curvature(code, margin[i], np.float64(label[i]), shape[0], shape[1])[1]


@numba.njit(nogil=True, error_model="numpy")
def larger_slopes(
    code: int,
    shape: NDArray[Any] | None,
    margin: NDArray[Any],
    label: NDArray[Any],
    slope: NDArray[Any],
    out: NDArray[Any],
) -> None:
    """Write the larger |slope| of the two labels of every record; `slope` is that of its own label."""
    if shape is None:
        for i in range(out.shape[0]):
            share = slope[i] + np.float64(label[i])
            out[i] = max(share, 1.0 - share)
    elif shape.ndim == 2:
        for i in range(out.shape[0]):
            out[i] = links.slope_and_curvature(code, margin[i], 0.0, shape[0, 0], shape[0, 1])[2]


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
    if shape is None:
        return
    if shape.ndim == 2:
        family_slopes(code, shape[0], margin, label, out)
    else:
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
                out[i] = classification.weighted_logistic_slope(margin[i], np.float64(label[i]), a)
        elif code == Code.OWN:
            # Center and scale of the response, in whose units the function is.
            address = float_to_bits(shape[2])
            for i in range(count):
                out[i] = b * called(address, a + b * margin[i], a + b * np.float64(label[i]))


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
    if shape is None:
        return
    if shape.ndim == 2:
        family_curvatures(code, shape[0], margin, label, out)
    else:
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
