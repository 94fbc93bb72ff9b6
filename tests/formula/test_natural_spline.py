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


def test_they_are_the_functions_of_r() -> None:
    """ns(women$height, df = 5) as R prints it: knots at fifths of 58, ..., 72 inches."""
    knots = (58.0, 60.8, 63.6, 66.4, 69.2, 72.0)
    whole, heights = np.pad(knots, DEGREE, mode="edge"), np.array([58.0, 59.0, 60.0, 61.0])
    basis = natural_basis("height", knots)
    found = np.column_stack([BSpline(whole, np.array(each.weights), DEGREE)(heights) for each in basis])
    printed = [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [7.592323e-03, 0.0, -8.670223e-02, 2.601067e-01, -1.734045e-01],
        [6.073858e-02, 0.0, -1.503044e-01, 4.509132e-01, -3.006088e-01],
        [2.047498e-01, 6.073858e-05, -1.677834e-01, 5.033503e-01, -3.355669e-01],
    ]
    np.testing.assert_allclose(found, printed, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("inner", INNER)
def test_weights_are_the_last_columns_of_householders_q(inner: tuple[float, ...]) -> None:
    knots = (0.0, *inner, 10.0)
    whole, count = np.pad(knots, DEGREE, mode="edge"), len(knots) - 1 + DEGREE
    bends = [BSpline(whole, unit, DEGREE).derivative(2) for unit in np.eye(count)[1:]]
    ends = np.array([[bend(0.0), bend(10.0)] for bend in bends])
    q = np.linalg.qr(ends, mode="complete")[0][:, 2:]
    found = np.array([each.weights[1:] for each in natural_basis("x", knots)]).T
    np.testing.assert_allclose(found, q, atol=1e-10)


@pytest.mark.parametrize(
    ("low", "width"), [(0.0, 1e-290), (0.0, 1e99), (-1e300, 1e300), (5e-324, 1e-307), (1.0, 1e-15)]
)
def test_a_basis_does_not_depend_on_the_unit_of_its_column(low: float, width: float) -> None:
    near = [low, low + width / 4, low + width / 2, low + width]
    unit = [(knot - low) / width for knot in near]
    found, expected = ([each.weights for each in natural_basis("x", knots)] for knots in (near, unit))
    np.testing.assert_allclose(found, expected, atol=1e-9)
