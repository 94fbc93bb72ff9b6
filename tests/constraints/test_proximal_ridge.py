"""The proximal step of the ridge penalty is the minimiser it claims to be."""

import numpy as np
from scipy.optimize import minimize

from tacit.constraints.proximal import RidgePenalty

RNG = np.random.default_rng(14)


def test_proximal_step_minimises() -> None:
    matrix, prior, theta = RNG.normal(size=(3, 4)), RNG.normal(size=3), RNG.normal(size=4)
    ridge = RidgePenalty(0.7, matrix, prior)
    step = 1.9

    def objective(t: np.ndarray) -> float:
        penalty = 0.35 * np.sum((matrix @ t - prior) ** 2)
        return float(0.5 * np.sum((t - theta) ** 2) + step * penalty)

    expected = minimize(objective, theta, tol=1e-14).x
    np.testing.assert_allclose(ridge.proximal(theta, step), expected, atol=1e-6)
    np.testing.assert_allclose(ridge.gradient(theta), 0.7 * matrix.T @ (matrix @ theta - prior), atol=1e-12)
    assert RidgePenalty(0.0, matrix, prior).proximal(theta, step) is theta
