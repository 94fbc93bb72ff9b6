"""Bits of floats as integers and back, and rounding by one addition."""

import numba
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tacit.losses.float_bits import MAGIC, MAGIC_BITS, bits_to_float, float_to_bits


@numba.njit()
def _bits(value: float) -> int:
    return int(float_to_bits(value))


@numba.njit()
def _back(bits: int) -> float:
    return float(bits_to_float(bits))


@given(st.floats(allow_nan=False))
def test_bits_are_those_of_numpy_and_lead_back(value: float) -> None:
    assert _bits(value) == int(np.float64(value).view(np.int64))
    assert np.float64(_back(_bits(value))).view(np.int64) == np.float64(value).view(np.int64)


@given(st.floats(-(2.0**51) + 1, 2.0**51 - 1))
def test_adding_the_constant_rounds_to_the_nearest_integer(value: float) -> None:
    # round() of Python is exact and takes ties to even, as IEEE addition does.
    assert _bits(value + MAGIC) - MAGIC_BITS == round(value)
