import numpy as np
import pytest
from scipy.interpolate import BSpline

from tacit.rows.encoding.transforms import spline_basis

KNOTS = (-2.0, 0.5, 1.0, 3.0)
CELLS = np.concatenate([np.linspace(-2, 3, 401), KNOTS])


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("knots", [KNOTS, (-2.0, 3.0)])
def test_the_basis_is_scipys(knots: tuple[float, ...], degree: int) -> None:
    whole = np.concatenate([[knots[0]] * degree, knots, [knots[-1]] * degree])
    expected = BSpline.design_matrix(CELLS, whole, degree).toarray()
    basis = spline_basis(CELLS, knots, degree)
    np.testing.assert_allclose(basis, expected, atol=1e-15)
    assert (basis >= 0).all()
    assert (basis <= 1).all()
    np.testing.assert_allclose(basis.sum(axis=1), 1.0, rtol=1e-14)
    assert (np.linalg.norm(basis, axis=1) <= 1 + 1e-14).all()


def test_cells_beyond_the_ends_are_clipped() -> None:
    outside = np.array([-1e300, -2.1, 3.1, 1e300])
    expected = spline_basis(np.array([-2.0, -2.0, 3.0, 3.0]), KNOTS, 3)
    np.testing.assert_array_equal(spline_basis(outside, KNOTS, 3), expected)


def test_t08_a_value_does_not_depend_on_its_place() -> None:
    whole = spline_basis(CELLS, KNOTS, 3)
    alone = np.vstack([spline_basis(CELLS[i : i + 1], KNOTS, 3) for i in range(len(CELLS))])
    strided = spline_basis(np.repeat(CELLS, 2)[::2], KNOTS, 3)
    assert whole.tobytes() == alone.tobytes() == strided.tobytes()
