"""The bits of a float64 as an integer and back, and an exponential of fixed bits, compiled.

Adding `MAGIC` = 1.5·2^52 to |v| < 2^51 rounds v to the nearest integer k, and the bits of the sum
are those of `MAGIC` plus k. So sums of the rounded values are exact and do not depend on order.

The exponential is a fixed sequence of IEEE operations and calls no library, so one argument gives
the same bits at any place in a block and on any vector unit. The sensitivity proofs need this.
"""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

MAGIC = 1.5 * 2.0**52
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))

_SMALLEST_EXPONENT = -700.0
_INVERSE_LOG_TWO = 1.4426950408889634
# log 2 in two parts; the first has 32 trailing zero bits, so that k times it is exact.
_LOG_TWO_HIGH = 0.6931471803691238
_LOG_TWO_LOW = 1.9082149292705877e-10
_C2, _C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12, _C13 = (1.0 / math.factorial(k) for k in range(2, 14))


def _bitcast(source: Any, target: Any, llvm_type: Any) -> Callable[..., Any]:
    def typing(_context: Any, value: Any) -> Any:
        del value

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return builder.bitcast(arguments[0], llvm_type)

        return target(source), generate

    return typing


float_to_bits: Any = intrinsic(_bitcast(types.float64, types.int64, ir.IntType(64)))
"""Reinterpret a float64 as an int64."""
bits_to_float: Any = intrinsic(_bitcast(types.int64, types.float64, ir.DoubleType()))
"""Reinterpret an int64 as a float64."""


@numba.njit(nogil=True, error_model="numpy", inline="always")
def exp_negative(t: float) -> float:
    """Return e^t for t <= 0, e^-700 below: reduction by log 2, Taylor polynomial of degree 13."""
    t = max(t, _SMALLEST_EXPONENT)
    shifted = t * _INVERSE_LOG_TWO + MAGIC
    k = shifted - MAGIC
    r = (t - k * _LOG_TWO_HIGH) - k * _LOG_TWO_LOW
    p = _C8 + r * (_C9 + r * (_C10 + r * (_C11 + r * (_C12 + r * _C13))))
    p = _C2 + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * (_C7 + r * p)))))
    p = 1.0 + r * (1.0 + r * p)
    power = ((float_to_bits(shifted) - MAGIC_BITS) + 1023) << 52
    return float(p * bits_to_float(power))


_ODD = 17
"""Terms of the series; the next is below 3^-35 of the first."""


@numba.njit(nogil=True, error_model="numpy", inline="always")
def log_one_plus(e: float) -> float:
    """Return log(1 + e) for 0 <= e <= 1: 2(s + s³/3 + s⁵/5 + …) with s = e / (2 + e), at most 1/3."""
    s = e / (2.0 + e)
    square = s * s
    total = 0.0
    for k in range(_ODD - 1, -1, -1):
        total = total * square + 1.0 / (2 * k + 1)
    return 2.0 * s * total
