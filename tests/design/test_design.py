"""The design of a matrix: bounds, norms, the way back to the user's scale, storage."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from tacit.design import design as design_module
from tacit.design.design import Column, Design, matrix_design, numeric_column
from tacit.design.factor import Indicator, Numeric
from tacit.design.feature_map import Custom, FeatureMap, Polynomial, RandomFourier
from tacit.design.response import Absent, Binary, Continuous
from tacit.errors import BoundsError, CertificateError, SchemaError, SettingError

RESPONSE = Binary("y", (0, 1))


def design(bounds: Any = None, *, row_norm: float | None = None, width: int = 3, intercept: bool = True) -> Design:
    names = [f"x{i}" for i in range(width)]
    return matrix_design(names, RESPONSE, bounds=bounds, row_norm=row_norm, intercept=intercept)


def prepared(subject: Design, values: np.ndarray[Any, np.dtype[np.float64]]) -> Any:
    """Mapped features with the intercept last, as the formulas of the module say."""
    columns = [(np.clip(values[:, j], c.lower, c.upper) - c.center) / c.scale for j, c in enumerate(subject.columns)]
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
    with pytest.raises(BoundsError, match=r'bounds=.*row_norm=.*bounds="private"'):
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
    subject = Design(columns, Binary("y", classes), math.sqrt(2), intercept=False, levels={"w": ("a", "b")})
    assert Design.from_json(json.loads(json.dumps(subject.to_json()))) == subject


def test_t36_a_factor_of_undeclared_levels_makes_no_design() -> None:
    with pytest.raises(SchemaError, match="not declared"):
        Design((Column("w", (Indicator("w", "b"),), 0.0, 1.0, 0.0, 1.0),), RESPONSE, 1.0)


def mapped(feature_map: FeatureMap, **facts: Any) -> Design:
    given = {"bounds": (0, 4), "row_norm": None, "intercept": True, **facts}
    return matrix_design(["a", "b", "c"], RESPONSE, feature_map=feature_map, **given)


def test_a_polynomial_takes_the_place_of_its_inputs() -> None:
    subject = mapped(Polynomial(2))
    assert subject.names == ("Intercept", "a", "b", "c", "a^2", "a b", "a c", "b^2", "b c", "c^2")
    assert {(c.factors, c.lower, c.upper, c.center, c.scale) for c in subject.columns} == {((), -1.0, 1.0, 0.0, 1.0)}
    assert subject.feature_norm == 3.0
    assert [(c.name, c.center, c.scale) for c in subject.inputs] == [(name, 2.0, 2.0) for name in "abc"]
    assert subject.input_norm == math.sqrt(3)
    np.testing.assert_array_equal(mapped(Polynomial(2), intercept=False).to_user(), np.eye(9))


def test_fourier_features_are_scaled_so_that_a_coordinate_reaches_one() -> None:
    for facts in ({}, {"bounds": None, "row_norm": 7.0}):
        subject = mapped(RandomFourier(16), **facts)
        assert {(c.lower, c.upper, c.scale) for c in subject.columns} == {(-0.25, 0.25, 0.25)}
        assert (len(subject.columns), subject.feature_norm) == (32, 4.0)


def test_a_custom_map_needs_no_bounds_but_its_own() -> None:
    for facts in ({}, {"bounds": None, "row_norm": 7.0}, {"bounds": None}):
        subject = mapped(Custom(lambda row: row[:2], 6.0), **facts)
        assert subject.names == ("Intercept", "f0", "f1")
        assert {(c.lower, c.upper) for c in subject.columns} == {(-math.inf, math.inf)}
        assert subject.feature_norm * subject.columns[0].scale == pytest.approx(6.0)
        assert subject.input_norm is None


@pytest.mark.parametrize("feature_map", [Polynomial(2), RandomFourier(4, 2.0, 9)])
def test_mapped_json_round_trip(feature_map: FeatureMap) -> None:
    subject = mapped(feature_map)
    assert Design.from_json(json.loads(json.dumps(subject.to_json()))) == subject


def test_t36_a_map_does_without_no_bound_it_needs() -> None:
    with pytest.raises(BoundsError, match="bounds="):
        mapped(Polynomial(2), bounds=None, row_norm=3.0)
    with pytest.raises(BoundsError, match="never read off the data"):
        mapped(RandomFourier(3), bounds=None)
    with pytest.raises(SettingError, match="feature_map"):
        mapped("polynomial")  # type: ignore[arg-type]


def test_an_incomplete_stored_design_is_refused() -> None:
    whole = design((0, 1)).to_json()
    for key in whole:
        with pytest.raises(CertificateError, match="incomplete"):
            Design.from_json({name: value for name, value in whole.items() if name != key})
    with pytest.raises(CertificateError):
        Design.from_json({**whole, "response": {"column": "y", "classes": [0, 1, 2]}})


def test_private_bounds_leave_every_column_open() -> None:
    subject = design("private")
    assert subject.open_places == (0, 1, 2)
    assert all(column.is_open for column in subject.columns)
    assert subject.feature_norm == math.sqrt(3)
    assert not any(column.is_open for column in design(row_norm=2.0).columns)
    assert design((0, 1)).open_places == ()
    names = ["x0", "x1"]
    for bounds, places in (("private", (0, 1, 3)), ((0, 1), (3,))):
        opened = matrix_design(names, Continuous.opened("y"), bounds=bounds, row_norm=None, intercept=True)
        assert opened.open_places == places


def test_private_bounds_are_refused_where_columns_cannot_be_shifted_or_are_mapped() -> None:
    facts: dict[str, Any] = {"bounds": "private", "row_norm": None, "intercept": True}
    with pytest.raises(BoundsError, match="toarray"):
        matrix_design(["x0"], RESPONSE, **facts, shifted=False)
    with pytest.raises(BoundsError, match="declared"):
        matrix_design(["x0"], RESPONSE, **facts, feature_map=Polynomial(2))
    with pytest.raises(BoundsError, match='"private"'):
        matrix_design(["x0"], RESPONSE, **{**facts, "bounds": "auto"})


@pytest.mark.parametrize("response", [Binary("y", (0, 1)), Continuous.of("y", -3, 5), Absent()])
@pytest.mark.parametrize("intercept", [True, False])
def test_user_coefficients_need_no_square_matrix(
    response: Any, intercept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the largest dense width they are what the matrix gives, up to rounding."""
    names = [f"x{j}" for j in range(5)]
    bounds = ([0, -3, 2, 1, 0], [1, 7, 2.5, 9, 4])
    subject = matrix_design(names, response, bounds=bounds, row_norm=None, intercept=intercept)
    for outputs in ((), (3,)):
        theta = np.random.default_rng(0).normal(size=(subject.width, *outputs))
        expected = subject.to_user() @ theta
        np.testing.assert_array_equal(subject.user_coefficients(theta), expected)
        with monkeypatch.context() as patched:
            patched.setattr(design_module, "LARGEST_DENSE", 0)
            patched.setattr(design_module.Design, "to_user", None)
            np.testing.assert_allclose(subject.user_coefficients(theta), expected, rtol=1e-12, atol=1e-12)
