"""The nearest point in the coordinates of a solver: optimality conditions, general minimisers."""

import numpy as np
import pytest
from scipy import optimize

from tacit.constraints.proximal import Ball, Projection
from tacit.constraints.region import Box, L1Ball, Region, Simplex, non_negative

RNG = np.random.default_rng(5)
MATRIX = RNG.normal(size=(3, 4)) * np.array([1.0, 0.1, 5.0, 1.0])


@pytest.mark.parametrize("region", [Box(-0.5, 0.3), non_negative(), L1Ball(0.4), Simplex()])
def test_the_projection_is_the_constrained_minimum(region: Region) -> None:
    projection = Projection(region, MATRIX)
    for _ in range(5):
        theta = RNG.normal(size=4) * 3
        point = projection.project(theta)
        slopes = MATRIX @ point
        np.testing.assert_allclose(region.nearest(slopes), slopes, atol=1e-9)
        for _ in range(50):
            target = region.nearest(RNG.normal(size=3))
            other = point + np.linalg.lstsq(MATRIX, target - slopes, rcond=None)[0]
            # Every feasible direction leads away from theta.
            assert float((theta - point) @ (other - point)) <= 1e-6


def test_it_agrees_with_bounded_least_squares() -> None:
    theta = np.array([1.0, -2.0, 0.5, 3.0])
    square = RNG.normal(size=(4, 4))
    point = Projection(Box(-0.2, 0.2), square).project(theta)
    inverse = np.linalg.inv(square)
    expected = optimize.lsq_linear(inverse, theta, (-0.2, 0.2), tol=1e-14).x
    np.testing.assert_allclose(square @ point, expected, atol=1e-6)


def test_a_point_inside_is_kept_to_the_bit() -> None:
    theta = np.array([1e-3, 2e-3, -1e-3, 5.0])
    kept = Projection(Box(-100, 100), MATRIX).project(theta)
    np.testing.assert_array_equal(kept, theta)


def test_no_region_constrains_nothing_and_classes_are_held_one_by_one() -> None:
    theta = RNG.normal(size=(4, 2))
    assert Projection(None, MATRIX).project(theta) is theta
    held = Projection(non_negative(), MATRIX).project(theta)
    assert (MATRIX @ held >= -1e-9).all()
    np.testing.assert_allclose(held[:, 0], Projection(non_negative(), MATRIX).project(theta[:, 0]))


@pytest.mark.parametrize("radius", [0.01, 0.5, 3.0])
def test_the_projection_onto_a_ball_is_the_nearest_point(radius: float) -> None:
    matrix, theta = RNG.normal(size=(3, 4)), 5 * RNG.normal(size=4)
    point = Ball(radius, matrix).project(theta)
    assert np.linalg.norm(matrix @ point) <= radius * (1 + 1e-9)
    nearest = optimize.minimize(
        lambda t: np.sum((t - theta) ** 2),
        np.zeros(4),
        constraints={"type": "ineq", "fun": lambda t: radius**2 - np.sum((matrix @ t) ** 2)},
        tol=1e-12,
    ).x
    np.testing.assert_allclose(point, nearest, atol=1e-4)


def test_points_inside_a_ball_stay() -> None:
    theta = np.array([0.1, 0.2])
    assert Ball(1.0, np.eye(2)).project(theta) is theta
    assert Ball(None, np.eye(2)).project(100 * theta).tolist() == [10.0, 20.0]
