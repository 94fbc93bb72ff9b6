"""The bits of a float64 as an integer and back, inside compiled code.

Adding `MAGIC` = 1.5·2^52 to |v| < 2^51 rounds v to the nearest integer, and the bits of the sum are
those of `MAGIC` plus that integer. So integers can be added up from bits, in any order, exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

MAGIC = 1.5 * 2.0**52
MAGIC_BITS = int(np.float64(MAGIC).view(np.int64))


@intrinsic
def float_to_bits(_context: Any, value: Any) -> Any:
    """Reinterpret a float64 as an int64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@intrinsic
def bits_to_float(_context: Any, value: Any) -> Any:
    """Reinterpret an int64 as a float64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate
