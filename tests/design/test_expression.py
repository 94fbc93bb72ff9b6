"""Interval arithmetic: what an expression can be lies in its interval, and what has none is refused."""

import math
import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.design.design import Design
from tacit.design.expression import (
    COMPARISONS,
    FUNCTION_NAMES,
    cells_of,
    exact_column,
    interval_of,
    interval_of_power,
    require_moderate,
    require_spread,
    shown_interval,
)
from tacit.design.expression_tree import Cell, Interval
from tacit.design.factor import FUNCTIONS, Numeric
from tacit.design.response import Absent
from tacit.errors import BoundsError

MODERATE = st.floats(-1e30, 1e30)
BINARY: dict[str, Any] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "minimum": min,
    "maximum": max,
}


@st.composite
def intervals(draw: st.DrawFn) -> tuple[Interval, float]:
    """An interval and a number in it."""
    lower, inside, upper = sorted(draw(st.lists(MODERATE, min_size=3, max_size=3)))
    return Interval(lower, upper), inside


@given(function=st.sampled_from(sorted(BINARY)), left=intervals(), right=intervals())
def test_rounded_arithmetic_stays_within_the_interval(
    function: str, left: tuple[Interval, float], right: tuple[Interval, float]
) -> None:
    try:
        found = interval_of(function, (left[0], right[0]))
    except BoundsError:
        assert (function, right[0].holds_zero) == ("/", True)
        return
    assert found.lower <= BINARY[function](left[1], right[1]) <= found.upper


@given(base=intervals(), exponent=st.integers(1, 20))
def test_a_power_stays_within_its_interval(base: tuple[Interval, float], exponent: int) -> None:
    found = interval_of_power(base[0], exponent)
    value = 1.0
    for _ in range(exponent):
        value *= base[1]
    assert found.lower <= value <= found.upper


@pytest.mark.parametrize("function", sorted(FUNCTIONS))
@given(inner=intervals())
def test_functions_are_increasing_on_their_domain(function: str, inner: tuple[Interval, float]) -> None:
    if not FUNCTIONS[function][1](inner[0].lower, inner[0].upper):
        with pytest.raises(BoundsError, match=f"^{function} needs"):
            interval_of(function, (inner[0],))
        return
    found = interval_of(function, (inner[0],))
    value = FUNCTIONS[function][0](inner[1])
    assert found.lower <= value <= found.upper


@given(inner=intervals())
def test_a_size_and_an_opposite_stay_within_their_intervals(inner: tuple[Interval, float]) -> None:
    interval, value = inner
    size = interval_of("abs", (interval,))
    assert 0.0 <= size.lower <= abs(value) <= size.upper
    opposite = interval_of("not", (interval,))
    assert opposite.lower <= 1.0 - value <= opposite.upper


@pytest.mark.parametrize("function", COMPARISONS)
def test_a_comparison_is_true_or_false(function: str) -> None:
    assert interval_of(function, (Interval(0, 1), Interval(5, 9))) == Interval(0.0, 1.0, truth=True)


def test_truth_is_kept_by_products_and_lost_by_sums() -> None:
    truth = Interval(0.0, 1.0, truth=True)
    kept = {name for name in ("+", "-", "*", "minimum", "maximum") if interval_of(name, (truth, truth)).truth}
    assert kept == {"*", "minimum", "maximum"}
    assert interval_of("not", (truth,)).truth


@pytest.mark.parametrize("ends", [(-1.0, 1.0), (0.0, 2.0), (-2.0, 0.0), (0.0, 0.0)])
def test_division_by_an_interval_with_zero_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(BoundsError, match="which holds 0"):
        interval_of("/", (Interval(1, 2), Interval(*ends)))


@pytest.mark.parametrize(("function", "lower"), [("log", 0.0), ("log1p", -1.0), ("sqrt", -1e-300), ("exp", 701.0)])
def test_an_argument_outside_of_the_domain_is_refused(function: str, lower: float) -> None:
    with pytest.raises(BoundsError, match=f"{function} needs"):
        interval_of(function, (Interval(lower, 702.0),))


@pytest.mark.parametrize("end", [math.inf, math.nan, 1e101])
def test_ends_that_are_not_moderate_are_refused(end: float) -> None:
    assert require_moderate(Interval(-1e100, 1e100)).upper == 1e100
    with pytest.raises(BoundsError, match="rescale"):
        require_moderate(Interval(0.0, end))


@pytest.mark.parametrize("ends", [(3.0, 3.0), (0.0, 0.0), (1e20, 1e20 * (1 + 1e-15))])
def test_a_constant_is_refused(ends: tuple[float, float]) -> None:
    with pytest.raises(BoundsError, match="same number for every record"):
        require_spread(Interval(*ends))


def test_centre_and_half_width_and_spelling() -> None:
    interval = Interval(-1.0, 5.0)
    assert (interval.center, interval.half_width) == (2.0, 3.0)
    assert shown_interval(interval) == "[-1, 5]"
    assert {"+", "log", "=="} < FUNCTION_NAMES


@given(lower=st.floats(-1e100, 1e100), width=st.floats(1e-3, 1e50), share=st.floats(0, 1))
def test_an_exact_column_is_stored_without_rounding_within_one(lower: float, width: float, share: float) -> None:
    column = exact_column("x", Numeric("x"), lower, lower + width)
    assert math.frexp(column.scale)[0] == 0.5
    assert column.center == 0.0
    value = min(max(lower + share * width, column.lower), column.upper)
    if abs(value) > 1e-200 or value == 0.0:
        stored = value / column.scale
        assert abs(stored) <= 1.0
        assert stored * column.scale == value


def test_cells_are_found_by_name() -> None:
    columns = tuple(exact_column(name, Numeric(name), 0.0, end) for name, end in (("a", 3.0), ("b", 100.0)))
    cells = cells_of(Design(columns, Absent(), float(np.sqrt(2))))
    assert cells == {"a": Cell("a", 0, 4.0), "b": Cell("b", 1, 128.0)}
