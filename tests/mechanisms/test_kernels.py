"""The integers of a record obey their bound, in exact rationals, whatever the record is."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.mechanisms.kernels import CURVATURE, PLAIN, SCORE, add_gradients, enforceable, quantise_rows
from tacit.rows.storage.tiles import LANES

LOGISTIC = ((0, np.zeros(2)), (False, False))
LOGISTIC_MOMENTS = ((0, np.zeros(2), (0.25, 1.0)), (False, False))

ADVERSARIAL = [0.0, -0.0, 5e-324, -2.2e-308, 1e-300, 1e-160, 2.0**-300, 1.0, -1.0, 1e16, 1e153, 1e308]


def one_tile(rows: list[list[float]], responses: list[float], dtype: Any = np.float64) -> NDArray[Any]:
    """A block of one tile that holds these rows in its first lanes and zeros elsewhere."""
    width = len(rows[0])
    tile = np.zeros((1, width + 1, LANES), dtype=dtype)
    for lane, (row, response) in enumerate(zip(rows, responses, strict=True)):
        tile[0, :width, lane] = row
        tile[0, width, lane] = response
    return tile


def gradient_integers(
    row: list[float], response: float, theta: list[float], scale: float, bound: int, *, downweighted: bool = False
) -> list[int]:
    """Integers that one record adds."""
    total = np.zeros(len(row), dtype=np.int64)
    limit = enforceable(bound, len(row))
    add_gradients(
        one_tile([row], [response]),
        np.array(theta),
        *LOGISTIC,
        (scale, limit, limit / scale if downweighted else np.inf),
        total,
    )
    return [int(value) for value in total]


def squared_norm(integers: list[int]) -> int:
    """Exact squared norm."""
    return sum(value * value for value in integers)


entries = st.one_of(st.sampled_from(ADVERSARIAL), st.floats(allow_nan=False, allow_infinity=False), st.floats(-1, 1))


@settings(max_examples=400)
@given(
    row=st.lists(entries, min_size=1, max_size=9),
    response=st.sampled_from([0.0, 1.0]),
    exponent=st.integers(7, 36),
    scale_exponent=st.integers(-40, 200),
    data=st.data(),
)
def test_t02_gradient_bound_is_never_exceeded(
    row: list[float], response: float, exponent: int, scale_exponent: int, data: st.DataObject
) -> None:
    bound = 2**exponent
    theta = data.draw(st.lists(entries, min_size=len(row), max_size=len(row)))
    for downweighted in (False, True):
        integers = gradient_integers(row, response, theta, 2.0**scale_exponent, bound, downweighted=downweighted)
        assert squared_norm(integers) <= bound * bound


@settings(max_examples=300)
@given(
    row=st.lists(entries, min_size=1, max_size=9),
    exponent=st.integers(12, 36),
    row_bound=st.sampled_from([1e-90, 1e-3, 1.0, 7.5, 1e90]),
    weights=st.sampled_from([PLAIN, CURVATURE, SCORE]),
    data=st.data(),
)
def test_t04_outer_products_stay_within_their_bound(
    row: list[float], exponent: int, row_bound: float, weights: int, data: st.DataObject
) -> None:
    bound = 2**exponent
    width = len(row)
    theta = np.array(data.draw(st.lists(entries, min_size=width, max_size=width)))
    out = np.empty((width, LANES))
    limit = enforceable(math.isqrt(bound), width)
    quantise_rows(one_tile([row], [0.0]), theta, weights, *LOGISTIC_MOMENTS, (row_bound, limit), out)
    assert (out == np.rint(out)).all()
    assert squared_norm([int(value) for value in out[:, 0]]) <= bound
    assert not out[:, 1:].any()


@settings(max_examples=300)
@given(
    row=st.lists(entries, min_size=1, max_size=9),
    weight=st.one_of(st.floats(0, 1), st.sampled_from([5e-324, 1e-300, 2.0, 1e300])),
    row_bound=st.sampled_from([1e-90, 1e-3, 1.0, 7.5, 1e90]),
    weights=st.sampled_from([PLAIN, CURVATURE]),
)
def test_t11_weighted_outer_products_stay_within_their_bound(
    row: list[float], weight: float, row_bound: float, weights: int
) -> None:
    """Also where a weight is larger than any that a store holds."""
    bound, width = 2**36, len(row)
    limit = enforceable(math.isqrt(bound), width)
    out = np.empty((width, LANES))
    tile = np.concatenate([one_tile([row], [0.0]), np.zeros((1, 1, LANES))], axis=1)
    tile[0, width + 1, 0] = weight
    how = LOGISTIC_MOMENTS[0], (True, False), (row_bound, limit)
    quantise_rows(tile, np.zeros(width), weights, *how, out)
    assert squared_norm([int(value) for value in out[:, 0]]) <= bound


def test_t11_a_weight_that_is_no_number_adds_nothing() -> None:
    for weight in (math.nan, -1.0, math.inf):
        tile = np.concatenate([one_tile([[0.5]], [0.0]), np.zeros((1, 1, LANES))], axis=1)
        tile[0, 2, 0] = weight
        out = np.empty((1, LANES))
        how = LOGISTIC_MOMENTS[0], (True, False), (1.0, 1e3)
        quantise_rows(tile, np.zeros(1), PLAIN, *how, out)
        assert not out.any()


@settings(max_examples=200)
@given(data=st.data(), width=st.integers(1, 6))
def test_t01_replacing_a_record_moves_the_sum_by_at_most_twice_the_bound(data: st.DataObject, width: int) -> None:
    vector = st.lists(entries, min_size=width, max_size=width)
    theta = data.draw(st.lists(st.floats(-30, 30), min_size=width, max_size=width))
    shared = data.draw(st.lists(vector, min_size=1, max_size=5))
    one, other = data.draw(vector), data.draw(vector)
    bound = 2**20
    totals = []
    for extra in (one, other):
        rows = [*shared, extra]
        total = np.zeros(width, dtype=np.int64)
        limit = enforceable(bound, width)
        tile = one_tile(rows, [1.0] * len(rows))
        add_gradients(tile, np.array(theta), *LOGISTIC, (2.0**20, limit, np.inf), total)
        totals.append([int(value) for value in total])
    gap = [a - b for a, b in zip(*totals, strict=True)]
    assert squared_norm(gap) <= 4 * bound * bound


def test_bound_is_reached() -> None:
    """The bound is tight: opposite rows on the clip come within rounding of 2S."""
    bound, theta = 2**30, [0.0, 0.0]
    plus = gradient_integers([3.0, 4.0], 1.0, theta, 1e15, bound)
    minus = gradient_integers([3.0, 4.0], 0.0, theta, 1e15, bound)
    gap = math.sqrt(squared_norm([a - b for a, b in zip(plus, minus, strict=True)]))
    assert 2 * bound * (1 - 1e-8) < gap <= 2 * bound


def test_the_check_would_catch_a_missing_clip() -> None:
    """Seeded bug: with a limit beyond the bound the property fails."""
    total = np.zeros(2, dtype=np.int64)
    add_gradients(one_tile([[3.0, 4.0]], [1.0]), np.zeros(2), *LOGISTIC, (1e15, 2.0 * 2**30, np.inf), total)
    assert squared_norm([int(value) for value in total]) > (2**30) ** 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_records_integers_do_not_depend_on_its_place(dtype: Any) -> None:
    rng = np.random.default_rng(7)
    width = 13
    rows = rng.normal(size=(LANES * 5, width)).astype(dtype)
    responses = (rng.random(LANES * 5) < 0.5).astype(dtype)
    theta = rng.normal(size=width)
    limit = enforceable(2**36, width)

    def summed(order: NDArray[np.int64], tiles_at_once: int) -> NDArray[np.int64]:
        total = np.zeros(width, dtype=np.int64)
        block = np.zeros((5, width + 1, LANES), dtype=dtype)
        block[:, :width] = rows[order].reshape(5, LANES, width).transpose(0, 2, 1)
        block[:, width] = responses[order].reshape(5, LANES)
        for first in range(0, 5, tiles_at_once):
            part = block[first : first + tiles_at_once]
            add_gradients(part, theta, *LOGISTIC, (2.0**35, limit, np.inf), total)
        return total

    reference = summed(np.arange(LANES * 5), 5)
    alone = np.zeros(width, dtype=np.int64)
    for row, response in zip(rows, responses, strict=True):
        tile = one_tile([row.tolist()], [float(response)], dtype)
        add_gradients(tile, theta, *LOGISTIC, (2.0**35, limit, np.inf), alone)
    assert (reference == alone).all()
    for tiles_at_once in (1, 2, 3):
        assert (summed(rng.permutation(LANES * 5), tiles_at_once) == reference).all()


def test_gradient_equals_the_formula() -> None:
    rng = np.random.default_rng(3)
    width, bound = 4, 2**36
    rows = rng.normal(size=(LANES, width))
    responses = (rng.random(LANES) < 0.5).astype(float)
    theta = rng.normal(size=width)
    clip = 1.3
    limit = enforceable(bound, width)
    total = np.zeros(width, dtype=np.int64)
    tile = one_tile(rows.tolist(), responses.tolist())
    add_gradients(tile, theta, *LOGISTIC, (limit / clip, limit, np.inf), total)
    slope = 1 / (1 + np.exp(-rows @ theta)) - responses
    norms = np.linalg.norm(rows, axis=1)
    slope *= np.minimum(1, clip / (np.abs(slope) * norms))
    np.testing.assert_allclose(total / (limit / clip), rows.T @ slope, rtol=0, atol=1e-8)


@pytest.mark.parametrize("width", [1, 2, 100, 1000])
@pytest.mark.parametrize("bound", [0, 1, 500, 2**20, 2**36])
def test_enforceable_leaves_room_for_rounding(width: int, bound: int) -> None:
    limit = enforceable(bound, width)
    # (limit·(1 + (width + 8)·2^-53) + √width/2)² ≤ bound², with √width rounded up.
    root = Fraction(math.isqrt(width * 10**60) + 1, 10**30)
    reach = Fraction(limit) * (1 + Fraction(width + 8, 2**53)) + root / 2
    assert limit == 0.0 or reach <= bound
