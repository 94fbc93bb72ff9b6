import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from tacit.design.design import Column, Design, matrix_design
from tacit.design.factor import Numeric
from tacit.design.response import Binary
from tacit.errors import BoundsError
from tacit.rows.admission.clip_and_scale import Preparer
from tacit.rows.storage.tiles import LANES, tile_count, to_rows

RESPONSE = Binary("y", (0, 1))


def matrix(count: int, **facts: Any) -> Design:
    given_facts: dict[str, Any] = {"bounds": None, "row_norm": None, "intercept": True} | facts
    return matrix_design([f"x{j}" for j in range(count)], RESPONSE, **given_facts)


def prepared(design: Design, values: Any, dtype: Any = np.float64, valid: Any = None) -> NDArray[Any]:
    rows = np.ascontiguousarray(values, dtype=np.float64)
    flags = np.ones(len(rows), dtype=bool) if valid is None else np.asarray(valid)
    tiles = np.full((tile_count(len(rows)), design.width + 1, LANES), 7.0, dtype=dtype)
    Preparer.of(design).prepare(rows, np.ones((len(rows), 1)), flags, tiles)
    return to_rows(tiles, len(rows))


def exact_norm(row: NDArray[Any]) -> float:
    return math.hypot(*row.astype(np.float64).tolist())


def test_maps_bounds_to_the_unit_interval() -> None:
    out = prepared(matrix(1, bounds=(10, 20)), [[10.0], [15.0], [17.5], [20.0]])
    assert out.tolist() == [[-1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.5, 1.0, 1.0], [1.0, 1.0, 1.0]]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_t02_a_row_outside_the_bounds_equals_the_clipped_row(intercept: bool, dtype: Any) -> None:
    design = matrix(3, bounds=([0, 0, -1], [1, 2, 1]), row_norm=1.2, intercept=intercept)
    far = prepared(design, [[1e6, -1e6, 0.25], [0.5, 1e6, -1e308]], dtype)
    near = prepared(design, [[1.0, 0.0, 0.25], [0.5, 2.0, -1.0]], dtype)
    assert far.tobytes() == near.tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_t02_without_bounds_a_long_row_keeps_its_direction(dtype: Any) -> None:
    design = matrix(2, row_norm=1.0)
    out = prepared(design, [[0.6e6, -0.8e6], [0.6, -0.8]], dtype)
    np.testing.assert_allclose(out[0], out[1], rtol=1e-6)
    assert exact_norm(out[0, :2]) <= design.feature_norm


ADVERSARIAL = [
    [1e308, 1e308, -1e308],
    [1.7976931348623157e308] * 3,
    [5e-324, -5e-324, 0.0],
    [1e308, 5e-324, 1.0],
    [0.0, -0.0, 0.0],
    [1e160, 1e-160, 1.0],
    [1e39, 1e38, 1.0],
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "facts", [{"row_norm": 1.0}, {"row_norm": 1e-9}, {"bounds": (-1e-9, 1e-9)}, {"bounds": (3, 4)}]
)
def test_t40_adversarial_rows_are_finite_and_short(dtype: Any, facts: dict[str, Any]) -> None:
    design = matrix(3, **facts)
    out = prepared(design, ADVERSARIAL, dtype)
    assert np.isfinite(out).all()
    for row in out:
        assert exact_norm(row[:3]) <= design.feature_norm * (1 + 2.0**-40)
        assert exact_norm(row[:4]) <= design.row_norm * (1 + 2.0**-40)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_t40_invalid_rows_are_zero(value: float) -> None:
    rows = [[0.5, 0.5], [value, 0.5], [0.5, 0.5]]
    out = prepared(matrix(2, bounds=(0, 1)), rows, valid=[True, False, True])
    assert out[1].tolist() == [0.0] * 4
    assert out[0].tolist() == out[2].tolist() != [0.0] * 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_outcome_is_written_after_the_features(dtype: Any, intercept: bool) -> None:
    design = matrix(2, bounds=(0, 1), intercept=intercept)
    outcome = np.array([[3.0, 0.25, -1.5], [2.0, 1.0, 0.5]])
    tiles = np.full((1, design.width + 3, LANES), 7.0, dtype=dtype)
    values = np.array([[1.0, 0.5], [1.0, 0.5]])
    Preparer.of(design).prepare(values, outcome, np.array([True, False]), tiles)
    out = to_rows(tiles, 2)
    assert out[0, -3:].tolist() == [3.0, 0.25, -1.5]
    assert out[1].tolist() == [0.0] * (design.width + 3)
    alone = prepared(design, values[:1], dtype)
    assert out[0, : design.width].tobytes() == alone[0, : design.width].tobytes()


def test_t40_a_nan_that_was_not_marked_is_zero_or_bounded() -> None:
    for facts in ({"row_norm": 1.0}, {"bounds": (0, 1)}):
        design = matrix(2, **facts)
        out = prepared(design, [[np.nan, 0.5]])
        assert np.isfinite(out).all()
        assert exact_norm(out[0, :2]) <= design.feature_norm


@settings(max_examples=150, deadline=None)
@given(
    rows=arrays(np.float64, (4, 5), elements=st.floats(allow_nan=False, allow_infinity=False)),
    low=st.floats(-1e6, 1e6),
    spread=st.floats(1e-3, 1e6),
    single=st.booleans(),
)
def test_t09_centring_keeps_the_norm_bound(rows: NDArray[np.float64], low: float, spread: float, single: bool) -> None:
    design = matrix(5, bounds=(low, low + spread))
    out = prepared(design, rows, np.float32 if single else np.float64)
    for row in out:
        assert exact_norm(row[:5]) <= design.feature_norm * (1 + 2.0**-40)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 3, 4, 7, 50])
def test_t08_a_row_does_not_depend_on_its_place(dtype: Any, count: int) -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(203, count)) * 10.0 ** rng.integers(-3, 4, size=(203, 1))
    design = matrix(count, bounds=(-50, 40), row_norm=0.8)
    whole = prepared(design, rows, dtype)
    order = rng.permutation(len(rows))
    assert prepared(design, rows[order], dtype).tobytes() == whole[order].tobytes()
    for first in (1, 2, 3, 101):
        assert prepared(design, rows[first:], dtype).tobytes() == whole[first:].tobytes()
    alone = np.vstack([prepared(design, rows[i : i + 1], dtype) for i in range(len(rows))])
    assert alone.tobytes() == whole.tobytes()


def test_corner_rows_are_not_shrunk() -> None:
    for count in range(1, 60):
        out = prepared(matrix(count, bounds=(-1, 1)), np.ones((1, count)), np.float32)
        assert (out[0] == 1.0).all()


def test_no_columns() -> None:
    design = Design((), RESPONSE, 0.0)
    assert prepared(design, np.empty((2, 0))).tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("norm", [0.0, 1e-200, 1e200, math.nan])
def test_norm_bounds_that_square_badly_are_refused(norm: float) -> None:
    column = Column("a", (Numeric("a"),), -1.0, 1.0, 0.0, 1.0)
    with pytest.raises(BoundsError, match="norm bound"):
        Preparer.of(Design((column,), RESPONSE, norm))


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1e-99])
def test_the_smallest_numbers_are_numbers(size: float) -> None:
    """Regression: the inverse of a subnormal number is infinite, and its record was lost."""
    out = prepared(matrix(2, row_norm=1.0), [[size, 0.0], [0.0, -size]])
    assert out[0, 0] == -out[1, 1] >= size
    assert (out[:, 2:] == 1.0).all()
