"""A ball whose center is not zero: the nearest point of a moved ellipsoid."""

import numpy as np
import pytest
from scipy import optimize

from tacit.constraints.proximal import Ball

RNG = np.random.default_rng(7)


@pytest.mark.parametrize("classes", [None, 3])
def test_the_nearest_point_of_a_moved_ball(classes: int | None) -> None:
    matrix = RNG.normal(size=(3, 3)) * np.array([1.0, 0.2, 4.0])
    center = RNG.normal(size=3 if classes is None else (3, 1))
    ball = Ball(0.7, matrix, center)
    for _ in range(5):
        theta = RNG.normal(size=3 if classes is None else (3, classes)) * 3
        point = ball.project(theta)
        assert ball.distance(point) <= 0.7 * (1 + 1e-9)
        np.testing.assert_allclose(ball.project(point), point, atol=1e-9)

        def gap(flat: np.ndarray, target: np.ndarray = theta) -> float:
            return float(((flat - target.ravel()) ** 2).sum())

        held = {"type": "ineq", "fun": lambda flat, shape=theta.shape: 0.49 - ball.distance(flat.reshape(shape)) ** 2}
        least = optimize.minimize(gap, point.ravel(), constraints=held, method="SLSQP", options={"ftol": 1e-14})
        assert gap(point.ravel()) <= least.fun + 1e-6


def test_without_a_center_nothing_changes() -> None:
    theta = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(Ball(1.0, np.eye(3)).project(theta), Ball(1.0, np.eye(3), np.zeros(3)).project(theta))
