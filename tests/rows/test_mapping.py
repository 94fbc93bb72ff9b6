import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import BoundsError, SettingError
from tacit.rows.mapping import COLUMN_BITS, ROW_BITS, ExactMap

RNG = np.random.default_rng(11)


def block_of(length: int, width: int, norm: float, dtype: Any = np.float32) -> NDArray[Any]:
    rows = RNG.normal(size=(length, width))
    rows *= norm * RNG.uniform(0.1, 1.0, (length, 1)) / np.linalg.norm(rows, axis=1, keepdims=True)
    return np.column_stack([rows, RNG.integers(0, 2, length)]).astype(dtype)


@pytest.mark.parametrize("width", [1, 2, 5, 33, 70])
def test_product_is_that_of_the_integers(width: int) -> None:
    M = RNG.normal(size=(width, width)) * 10.0 ** RNG.integers(-6, 6, width)
    mapping = ExactMap.of(M, 2.0)
    block = block_of(7, width, 2.0, np.float64)
    image = mapping.apply(block)
    for row, result in zip(block, image, strict=True):
        integers = [round(Fraction(u) * int(mapping.row_scale)) for u in row[:width].tolist()]
        for k in range(width):
            column = [int(m) for m in mapping.integers[:, k].tolist()]
            total = sum(u * m for u, m in zip(integers, column, strict=True))
            assert Fraction(float(result[k])) == total * Fraction(float(mapping.back[k]))
    np.testing.assert_array_equal(image[:, width], block[:, width])


@pytest.mark.parametrize("width", [1, 10, 51, 1000])
@pytest.mark.parametrize("norm", [1e-6, 1.0, 7.3, 1e6])
def test_bits_and_bounds(width: int, norm: float) -> None:
    M = np.column_stack([RNG.normal(size=width) * 10.0 ** (j % 9 - 4) for j in range(width)])
    M[:, 0] = 1.0
    mapping = ExactMap.of(M, norm)
    assert norm * mapping.row_scale >= 2.0**20
    for k in range(min(width, 12)):
        column = [int(m) for m in mapping.integers[:, k].tolist()]
        assert sum(m * m for m in column) <= 4**COLUMN_BITS
        assert max(map(abs, column)) >= 2**22


@pytest.mark.parametrize("width", [5, 51, 200])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_error_against_the_float_product(width: int, dtype: Any) -> None:
    M = RNG.normal(size=(width, width))
    block = block_of(50, width, 3.0, dtype)
    image = ExactMap.of(M, 3.0).apply(block)
    assert image.dtype == dtype
    scale = 3.0 * np.linalg.norm(M, axis=0)
    error = np.abs(image[:, :width] - block[:, :width].astype(np.float64) @ M) / scale
    assert error.max() <= math.sqrt(width) * (2.0**-25 + 2.0**-28) * 1.01 + 2.0**-24


@pytest.mark.parametrize("width", [3, 20, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_t08_a_row_does_not_depend_on_the_others(width: int, dtype: Any) -> None:
    mapping = ExactMap.of(RNG.normal(size=(width, width)), 2.0)
    block = block_of(300, width, 2.0, dtype)
    whole = mapping.apply(block)
    order = RNG.permutation(len(block))
    assert mapping.apply(block[order]).tobytes() == whole[order].tobytes()
    for first in (1, 127, 128, 129, 299):
        assert mapping.apply(block[first:]).tobytes() == whole[first:].tobytes()
    padded = np.vstack([np.zeros((5, width + 1), dtype), block])
    assert mapping.apply(padded)[5:].tobytes() == whole.tobytes()


def test_rows_that_break_their_promise_stay_exact() -> None:
    width = 6
    M = RNG.normal(size=(width, width))
    mapping = ExactMap.of(M, 1.0)
    bad = np.array(
        [[1e300] * width, [np.inf] * width, [np.nan] * width, [1.0] * width, [5.0, 0, 0, 0, 0, 0]]
    )
    block = np.column_stack([bad, np.zeros(len(bad))])
    image = mapping.apply(block)[:, :width]
    assert np.isfinite(image).all()
    # Rounding moves a bound of 1 by a few units of 2^-25.
    limit = np.linalg.norm(M, axis=0) * 2 ** (ROW_BITS - math.log2(mapping.row_scale)) * (1 + 1e-6)
    assert (np.abs(image) <= limit).all()
    assert (image[2] == 0.0).all()
    assert mapping.apply(block[3:4]).tobytes() == mapping.apply(block)[3:4].tobytes()


def test_zero_and_tiny_columns() -> None:
    M = np.diag([0.0, 1e-300, 1.0])
    image = ExactMap.of(M, 1.0).apply(np.array([[0.5, 0.5, 0.5, 1.0]]))
    assert image.tolist() == [[0.0, 0.0, 0.5, 1.0]]


@pytest.mark.parametrize(
    "matrix", [np.zeros((2, 3)), np.zeros(3), [[np.nan]], [[np.inf]], [[1e99]]]
)
def test_maps_that_are_refused(matrix: Any) -> None:
    with pytest.raises(SettingError):
        ExactMap.of(matrix, 1.0)


@pytest.mark.parametrize("norm", [0.0, -1.0, math.inf, math.nan])
def test_norms_that_are_refused(norm: float) -> None:
    with pytest.raises(BoundsError):
        ExactMap.of(np.eye(2), norm)
