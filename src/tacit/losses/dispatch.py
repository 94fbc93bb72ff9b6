"""Compiled dispatch: slopes and curvatures of any loss, by its code, for a tile of 64 records.

One kernel serves every built-in loss, and the branch is taken once per tile. Kernels are compiled once more for own
losses, whose shape is a tuple: the address of the function, and center and scale of the response.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Code, Loss
from tacit.losses.own import OwnLoss

SHAPELESS = frozenset({Code.LOGISTIC, Code.SQUARED, Code.DISTANCE})


def shape_of(loss: Loss) -> NDArray[np.float64] | tuple[int, float, float] | None:
    """Public parameters of a loss, or None: numba then leaves out branches and compiles in half the time."""
    if isinstance(loss, OwnLoss):
        return loss.address, loss.shape[0], loss.shape[1]
    return None if loss.code in SHAPELESS else np.array(loss.shape)


@numba.njit(nogil=True, error_model="numpy")
def slopes(code: int, shape: Any, margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]) -> None:
    """Write the slope of every record of a tile; `shape` is that of `shape_of`."""
    _slopes(code, shape, margin, label, out)


def _slopes(*_arguments: Any) -> None:
    """Stand for the slopes of built-in and of own losses; it is never run."""


@overload(_slopes, jit_options={"nogil": True, "error_model": "numpy"}, strict=False)
def _choose_slopes(_code: Any, shape: Any, *_others: Any) -> Any:
    return _own_slopes if isinstance(shape, types.BaseTuple) else _built_in_slopes


def _own_slopes(
    _code: int, shape: tuple[int, float, float], margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]
) -> None:
    address, center, scale = shape
    for i in range(out.shape[0]):
        out[i] = scale * _called(address, center + scale * margin[i], center + scale * np.float64(label[i]))


def _call_typing(_context: Any, address: Any, margin: Any, label: Any) -> Any:
    """Call the compiled function at an address."""
    del address, margin, label

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number = ir.DoubleType()
        kind = ir.FunctionType(number, [number, number])
        return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

    return types.float64(types.int64, types.float64, types.float64), generate


_called: Any = intrinsic(_call_typing)


def _built_in_slopes(  # noqa: C901, PLR0912 - one branch a loss
    code: int, shape: NDArray[Any] | None, margin: NDArray[Any], label: NDArray[Any], out: NDArray[Any]
) -> None:
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
                out[i] = classification.weighted_logistic_slope(margin[i], np.float64(label[i]), a)


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
