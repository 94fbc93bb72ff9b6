"""Proximal step and projection are the minimisers they claim to be."""

import numpy as np
import pytest
from scipy.optimize import minimize

from tacit.constraints.ball import Ball
from tacit.constraints.ridge import Ridge

RNG = np.random.default_rng(14)


def test_proximal_step_minimises() -> None:
    matrix, prior, theta = RNG.normal(size=(3, 4)), RNG.normal(size=3), RNG.normal(size=4)
    ridge = Ridge(0.7, matrix, prior)
    step = 1.9

    def objective(t: np.ndarray) -> float:
        penalty = 0.35 * np.sum((matrix @ t - prior) ** 2)
        return float(0.5 * np.sum((t - theta) ** 2) + step * penalty)

    expected = minimize(objective, theta, tol=1e-14).x
    np.testing.assert_allclose(ridge.proximal(theta, step), expected, atol=1e-6)
    np.testing.assert_allclose(
        ridge.gradient(theta), 0.7 * matrix.T @ (matrix @ theta - prior), atol=1e-12
    )
    assert Ridge(0.0, matrix, prior).proximal(theta, step) is theta


@pytest.mark.parametrize("radius", [0.01, 0.5, 3.0])
def test_projection_is_the_nearest_point(radius: float) -> None:
    matrix, theta = RNG.normal(size=(3, 4)), 5 * RNG.normal(size=4)
    point = Ball(radius, matrix).project(theta)
    assert np.linalg.norm(matrix @ point) <= radius * (1 + 1e-9)
    nearest = minimize(
        lambda t: np.sum((t - theta) ** 2),
        np.zeros(4),
        constraints={"type": "ineq", "fun": lambda t: radius**2 - np.sum((matrix @ t) ** 2)},
        tol=1e-12,
    ).x
    np.testing.assert_allclose(point, nearest, atol=1e-4)


def test_points_inside_stay() -> None:
    theta = np.array([0.1, 0.2])
    assert Ball(1.0, np.eye(2)).project(theta) is theta
    assert Ball(None, np.eye(2)).project(100 * theta).tolist() == [10.0, 20.0]
