from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.rows.storage.tiles import LARGEST, map_tiles, public_matrix, to_rows, to_tiles

RNG = np.random.default_rng(11)


def rows_of(length: int, width: int, dtype: Any = np.float32) -> NDArray[Any]:
    response = RNG.integers(0, 2, length)
    return np.column_stack([RNG.normal(size=(length, width)), response]).astype(dtype)


def image_of(rows: NDArray[Any], matrix: NDArray[np.float64]) -> NDArray[Any]:
    checked = public_matrix(matrix, rows.shape[1] - 1)
    return to_rows(map_tiles(to_tiles(rows), checked), len(rows))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 5, 33])
@pytest.mark.parametrize("shape", [np.asarray, np.tril, np.triu, np.zeros_like, np.diag])
def test_sums_run_over_the_columns_in_order(width: int, shape: Any, dtype: Any) -> None:
    M = RNG.normal(size=(width, width)) * 10.0 ** RNG.integers(-6, 6, width)
    M = np.diag(shape(M)) if shape is np.diag else shape(M)
    rows = rows_of(70, width, dtype)
    image = image_of(rows, M)
    stored = M.astype(dtype)
    for row, result in zip(rows, image, strict=True):
        for k in range(width):
            total = dtype(0)
            for j in range(width):
                total += stored[j, k] * row[j]
            assert result[k] == total
        assert result[width] == row[width]


def test_error_against_exact_rationals() -> None:
    width = 20
    M, rows = RNG.normal(size=(width, width)), rows_of(5, width, np.float64)
    image = image_of(rows, M)
    for row, result in zip(rows, image, strict=True):
        for k in range(width):
            terms = [Fraction(float(M[j, k])) * Fraction(float(row[j])) for j in range(width)]
            allowed = (width + 1) * Fraction(2) ** -53 * sum(map(abs, terms))
            assert abs(Fraction(float(result[k])) - sum(terms)) <= allowed


@pytest.mark.parametrize("width", [3, 20, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_t08_a_row_does_not_depend_on_its_place_or_the_others(width: int, dtype: Any) -> None:
    M = RNG.normal(size=(width, width))
    rows = rows_of(300, width, dtype)
    whole = image_of(rows, M)
    order = RNG.permutation(len(rows))
    assert image_of(rows[order], M).tobytes() == whole[order].tobytes()
    for first in (1, 2, 63, 64, 65, 299):
        assert image_of(rows[first:], M).tobytes() == whole[first:].tobytes()
    padded = np.vstack([np.zeros((5, width + 1), dtype), rows])
    assert image_of(padded, M)[5:].tobytes() == whole.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_t40_images_are_finite(dtype: Any) -> None:
    rows = np.array([[1e15, 1e15, 1.0], [-1e15, -1e15, 0.0], [1e15, -1e15, 0.0]], dtype=dtype)
    assert np.isfinite(image_of(rows, np.full((2, 2), LARGEST))).all()


def test_zero_records_stay_zero() -> None:
    image = map_tiles(to_tiles(rows_of(3, 4)), public_matrix(RNG.normal(size=(4, 4)), 4))
    assert not image[:, :, 3:].any()


@pytest.mark.parametrize("matrix", [np.zeros((2, 3)), np.zeros(2), np.eye(3)])
def test_maps_of_another_shape_are_refused(matrix: Any) -> None:
    with pytest.raises(SettingError, match="2 by 2"):
        public_matrix(matrix, 2)


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf, 1e31])
def test_maps_with_wild_entries_are_refused(entry: float) -> None:
    with pytest.raises(SettingError, match="finite entries"):
        public_matrix([[entry]], 1)
