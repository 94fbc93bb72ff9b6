"""Factors: storage, declared needs, bounds of products against a fine grid."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from tacit.design.factor import (
    FUNCTIONS,
    Between,
    Cell,
    Factor,
    Indicator,
    LabelCell,
    Missing,
    Numeric,
    NumericCell,
    Power,
    Spline,
    Transform,
    product_bounds,
    require_declared,
)
from tacit.documents.dataclass_json import from_plain, to_plain
from tacit.errors import BoundsError, InputError, SchemaError, SettingError
from tacit.rows.encoding.transforms import spline_basis

KNOTS = (-2.0, 0.5, 1.0, 3.0)
FACTORS: list[Factor] = [
    Numeric("x"),
    Indicator("w", "b"),
    Power("x", 3),
    Transform("z", "log"),
    Spline("x", KNOTS, 2, 1),
    Between("x", -math.inf, 0.5),
    Missing("x"),
]
CELLS: dict[str, Cell] = {"x": NumericCell(-2.0, 3.0, 0.0), "z": NumericCell(0.25, 4.0), "w": LabelCell(None, "a")}
LEVELS = {"w": ("a", "b")}


@pytest.mark.parametrize("factor", FACTORS)
def test_json_round_trip(factor: Factor) -> None:
    assert from_plain(type(factor), json.loads(json.dumps(to_plain(factor))), "a factor") == factor


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (Power, ("x", 1)),
        (Power, ("x", 21)),
        (Power, ("x", 2.0)),
        (Power, ("x", True)),
        (Transform, ("x", "sin")),
        (Spline, ("x", (0.0,), 1, 0)),
        (Spline, ("x", (0.0, 0.0), 1, 0)),
        (Spline, ("x", (0.0, math.inf), 1, 0)),
        (Spline, ("x", (0.0, 1.0), 0, 0)),
        (Spline, ("x", (0.0, 1.0), 6, 0)),
        (Spline, ("x", (0.0, 1.0), 3, 4)),
        (Spline, ("x", (0.0, 1.0), 3, -1)),
        (Between, ("x", 1.0, 1.0)),
        (Between, ("x", math.nan, 1.0)),
    ],
)
def test_what_is_no_factor_is_refused(kind: Any, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(SettingError):
        kind(*arguments)


def test_t36_t37_a_factor_needs_what_is_declared() -> None:
    for factor in FACTORS:
        require_declared(factor, LEVELS, CELLS)
    for factor in FACTORS[1:]:
        with pytest.raises(SchemaError, match="not declared"):
            require_declared(factor, {}, {})
    require_declared(Numeric("x"), {}, {})
    with pytest.raises(SchemaError, match="missing"):
        require_declared(Missing("z"), LEVELS, CELLS)
    with pytest.raises(SchemaError, match="bound to bound"):
        require_declared(Spline("z", KNOTS, 2, 1), LEVELS, CELLS)
    with pytest.raises(SchemaError, match="bounds"):
        require_declared(Power("w", 2), LEVELS, CELLS)


@pytest.mark.parametrize(
    ("function", "lower", "upper", "holds"),
    [
        ("log", 0.0, 1.0, False),
        ("log", 1e-300, 1.0, True),
        ("log1p", -1.0, 1.0, False),
        ("log1p", -0.5, 1.0, True),
        ("sqrt", -1e-9, 1.0, False),
        ("sqrt", 0.0, 1.0, True),
        ("exp", 0.0, 701.0, False),
        ("exp", -1e9, 700.0, True),
    ],
)
def test_t10_bounds_must_lie_in_the_domain(function: str, lower: float, upper: float, holds: bool) -> None:
    cells: dict[str, Cell] = {"x": NumericCell(lower, upper)}
    error: InputError | None = None
    try:
        require_declared(Transform("x", function), {}, cells)
    except BoundsError as caught:
        error = caught
    assert (error is None) is holds
    assert error is None or FUNCTIONS[function][2] in str(error)


def value(factor: Factor, x: Any, z: Any) -> Any:
    match factor:
        case Numeric(name):
            return x if name == "x" else z
        case Power(name, exponent):
            return (x if name == "x" else z) ** exponent
        case Transform(_, function):
            return np.vectorize(FUNCTIONS[function][0])(z)
        case Spline(_, knots, degree, index):
            return spline_basis(x, knots, degree)[:, index]
        case Between(_, low, high):
            return (low < x) & (x <= high)
        case Indicator() | Missing():
            return (x > 0).astype(float)


PRODUCTS = [
    (Numeric("x"),),
    (Power("x", 2),),
    (Power("x", 3), Numeric("x")),
    (Numeric("x"), Numeric("z")),
    (Power("x", 2), Transform("z", "log")),
    (Numeric("z"), Transform("z", "log")),
    (Transform("z", "exp"), Power("x", 5)),
    (Numeric("x"), Between("x", 0.5, 1.0)),
    (Power("x", 2), Between("x", -math.inf, 0.5)),
    (Numeric("x"), Spline("x", KNOTS, 1, 0)),
    (Power("x", 3), Spline("x", KNOTS, 2, 4)),
    (Numeric("z"), Spline("x", KNOTS, 3, 2)),
    (Spline("x", KNOTS, 1, 0), Between("x", 1.0, math.inf)),
    (Numeric("x"), Indicator("w", "b")),
    (Missing("x"),),
]


@pytest.mark.parametrize("factors", PRODUCTS)
def test_bounds_of_products_hold(factors: tuple[Factor, ...]) -> None:
    grid = np.array(list(itertools.product(np.linspace(-2, 3, 251), [0.25, 0.3, 1.0, 2.0, 4.0]))).T
    found = np.prod([value(factor, *grid) for factor in factors], axis=0)
    lower, upper, partial = product_bounds(factors, CELLS)
    assert lower <= found.min() + 1e-12
    assert found.max() <= upper + 1e-12
    if partial:
        assert lower <= 0 <= upper


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((Power("x", 2),), (0.0, 9.0, False)),
        ((Power("x", 3), Numeric("x")), (0.0, 81.0, False)),
        ((Numeric("x"), Numeric("z")), (-8.0, 12.0, False)),
        ((Numeric("x"), Between("x", 0.5, 1.0)), (0.0, 1.0, True)),
        ((Numeric("x"), Spline("x", KNOTS, 1, 0)), (-2.0, 0.5, True)),
        ((Numeric("z"), Indicator("w", "b")), (0.0, 4.0, True)),
        ((Spline("x", KNOTS, 2, 1),), (0.0, 1.0, True)),
    ],
)
def test_bounds_of_products_are_tight(factors: tuple[Factor, ...], expected: tuple[float, float, bool]) -> None:
    assert product_bounds(factors, CELLS) == expected


def test_bounds_beyond_float64_are_infinite_and_never_silent() -> None:
    cells: dict[str, Cell] = {"x": NumericCell(-1e200, 1e150), "z": NumericCell(0.0, 1e300)}
    assert product_bounds((Power("x", 2),), cells)[1] == math.inf
    assert product_bounds((Power("x", 3),), cells)[:2] == (-math.inf, math.inf)
    assert math.inf in product_bounds((Power("z", 2), Numeric("x")), cells)


def test_supports_of_splines() -> None:
    grid = np.linspace(-2, 3, 501)
    for degree in (1, 2, 3):
        basis = spline_basis(grid, KNOTS, degree)
        for index in range(basis.shape[1]):
            low, high = Spline("x", KNOTS, degree, index).support
            inside = (grid >= low) & (grid <= high)
            assert (basis[~inside, index] == 0).all()
            assert (basis[inside, index] > 0).sum() >= inside.sum() - 2
