"""The bits of a float64 as an integer and back, inside compiled code.

Adding `MAGIC` = 1.5·2^52 to |v| < 2^51 rounds v to the nearest integer k, and the bits of the sum
are those of `MAGIC` plus k. So sums of the rounded values are exact and do not depend on order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

MAGIC = 1.5 * 2.0**52
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))


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
