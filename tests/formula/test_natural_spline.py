"""Natural splines: straight beyond the bounds, and all of them."""

import numpy as np
import pytest
from scipy.interpolate import BSpline, CubicSpline

from tacit.formula.natural_spline import DEGREE, natural_basis

INNER = [(), (3.0,), (2.0, 5.0), (1.0, 4.0, 6.0, 9.0), (0.5, 0.7, 9.9)]


@pytest.mark.parametrize("inner", INNER)
def test_they_span_the_natural_cubic_splines(inner: tuple[float, ...]) -> None:
    knots = (0.0, *inner, 10.0)
    basis = natural_basis("x", knots)
    assert len(basis) == len(knots) - 1
    whole, x = np.pad(knots, DEGREE, mode="edge"), np.linspace(0, 10, 300)
    functions = [BSpline(whole, np.array(each.weights), DEGREE) for each in basis]
    matrix = np.column_stack([np.ones_like(x), *(each(x) for each in functions)])
    assert np.linalg.matrix_rank(matrix) == len(knots)
    for each in functions:
        second = each.derivative(2)
        np.testing.assert_allclose([second(0.0), second(10.0)], 0.0, atol=1e-9)
        assert each(0.0) == 0.0
    for seed in range(3):
        values = np.random.default_rng(seed).normal(size=len(knots))
        natural = CubicSpline(knots, values, bc_type="natural")(x)
        found = matrix @ np.linalg.lstsq(matrix, natural, rcond=None)[0]
        np.testing.assert_allclose(found, natural, atol=1e-9)


@pytest.mark.parametrize("inner", INNER)
def test_values_lie_between_the_weights(inner: tuple[float, ...]) -> None:
    x = np.linspace(0, 10, 1001)
    for each in natural_basis("x", (0.0, *inner, 10.0)):
        values = BSpline(np.pad(each.knots, DEGREE, mode="edge"), np.array(each.weights), DEGREE)(x)
        assert values.min() >= min(each.weights) - 1e-12
        assert values.max() <= max(each.weights) + 1e-12
