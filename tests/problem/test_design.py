"""The design of a matrix: bounds, norms, the way back to the user's scale, storage."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from tacit.errors import BoundsError, CertificateError
from tacit.problem.design import Column, Design, Indicator, Numeric, matrix_design, numeric_column
from tacit.problem.response import Binary

RESPONSE = Binary("y", (0, 1))


def design(
    bounds: Any = None, *, row_norm: float | None = None, width: int = 3, intercept: bool = True
) -> Design:
    names = [f"x{i}" for i in range(width)]
    return matrix_design(names, RESPONSE, bounds=bounds, row_norm=row_norm, intercept=intercept)


def prepared(subject: Design, values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Mapped features with the intercept last, as the formulas of the module say."""
    columns = [
        (np.clip(values[:, j], c.lower, c.upper) - c.center) / c.scale
        for j, c in enumerate(subject.columns)
    ]
    ones = [np.ones(len(values))] if subject.intercept else []
    return np.column_stack([*columns, *ones])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("bounds", [(-1, 1), (0, 5), ([0, -3, 2], [1, 7, 2.5]), None])
def test_user_coefficients_predict_what_prepared_ones_predict(bounds: Any, intercept: bool) -> None:
    subject = design(bounds, row_norm=None if bounds else 4.0, intercept=intercept)
    generator = np.random.default_rng(7)
    low, high = (-1, 1) if bounds is None else bounds
    values = generator.uniform(low, high, size=(50, 3))
    theta = generator.normal(size=subject.width)
    user = subject.to_user() @ theta
    linear = values @ user[int(intercept) :] + (user[0] if intercept else 0.0)
    np.testing.assert_allclose(linear, prepared(subject, values) @ theta, rtol=1e-12, atol=1e-12)


def test_to_user_is_invertible_with_the_forward_map_as_inverse() -> None:
    subject = design(([0, -3, 2], [1, 7, 2.5]))
    forward = np.zeros((4, 4))
    for j, column in enumerate(subject.columns):
        forward[j, 1 + j] = column.scale
        forward[3, 1 + j] = column.center
    forward[3, 0] = 1.0
    np.testing.assert_allclose(subject.to_user() @ forward, np.eye(4), atol=1e-14)


def test_names_have_the_intercept_first() -> None:
    assert design((0, 1)).names == ("Intercept", "x0", "x1", "x2")
    assert design((0, 1), intercept=False).names == ("x0", "x1", "x2")
    assert (design((0, 1)).width, design((0, 1), intercept=False).width) == (4, 3)


@pytest.mark.parametrize("bounds", [(0, 100), (100, 101), (-1e-9, 1e-9), (1e9, 1e9 + 1)])
def test_t01_any_bounds_have_a_positive_scale_and_map_to_one(bounds: tuple[float, float]) -> None:
    column = numeric_column("x", *bounds)
    assert column.scale > 0
    ends = [(side - column.center) / column.scale for side in bounds]
    assert ends == pytest.approx([-1, 1], abs=1e-12)


def test_row_norm_of_bounded_features_counts_the_intercept() -> None:
    assert design((0, 1)).feature_norm == math.sqrt(3)
    assert design((0, 1)).row_norm == pytest.approx(2.0, rel=1e-15)
    assert design((0, 1), row_norm=0.5).feature_norm == 0.5
    assert design((0, 1), row_norm=9.0).feature_norm == math.sqrt(3)
    assert design((0, 1), intercept=False).row_norm == math.sqrt(3)


def test_row_norm_alone_scales_without_clipping_a_coordinate() -> None:
    subject = design(row_norm=6.0)
    assert {(c.lower, c.upper, c.center) for c in subject.columns} == {(-math.inf, math.inf, 0.0)}
    on_the_sphere = np.array([[2.0, 4.0, 4.0]])
    mapped = prepared(subject, on_the_sphere)[0, :3]
    assert np.linalg.norm(mapped) == pytest.approx(subject.feature_norm, rel=1e-14)


def test_t36_missing_bounds_name_the_three_ways_out() -> None:
    with pytest.raises(BoundsError, match=r"bounds=.*row_norm=.*schema"):
        design()


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((1, 0), "reversed"),
        ((1, 1), "reversed"),
        (([0, 0, 2], [1, 1, 1]), "reversed"),
        ((0, math.nan), "finite"),
        ((-math.inf, 1), "finite"),
        (([0, 0], [1, 1]), "length 3"),
        (([[0, 0, 0]], [[1, 1, 1]]), "length 3"),
        ((0, 1, 2), "two numbers"),
        (5, "two numbers"),
        (("a", "b"), "two numbers"),
        ((-1e308, 1e308), "exceed"),
        ((0, 5e-324), "float64"),
        ((1e308, 1.5e308), "exceed"),
        ((0, 1e-310), "float64"),
    ],
)
def test_wrong_bounds_are_refused(bounds: Any, words: str) -> None:
    with pytest.raises(BoundsError, match=words):
        design(bounds)


@pytest.mark.parametrize("row_norm", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("bounds", [None, (0, 1)])
def test_a_wrong_row_norm_is_refused(row_norm: float, bounds: Any) -> None:
    with pytest.raises(BoundsError, match="row_norm"):
        design(bounds, row_norm=row_norm)


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes"), (False, True)])
def test_json_round_trip(classes: tuple[Any, Any]) -> None:
    columns = (
        numeric_column("age", 0, 110),
        Column("age:w[T.b]", (Numeric("age"), Indicator("w", "b")), 0.0, 110.0, 0.0, 110.0),
    )
    subject = Design(columns, Binary("y", classes), math.sqrt(2), intercept=False)
    assert Design.from_json(json.loads(json.dumps(subject.to_json()))) == subject


def test_an_incomplete_stored_design_is_refused() -> None:
    whole = design((0, 1)).to_json()
    for key in whole:
        with pytest.raises(CertificateError, match="incomplete"):
            Design.from_json({name: value for name, value in whole.items() if name != key})
    with pytest.raises(CertificateError):
        Design.from_json({**whole, "response": {"column": "y", "classes": [0, 1, 2]}})
