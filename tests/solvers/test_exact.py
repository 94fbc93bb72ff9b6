"""Minimisers without noise agree with independent ones."""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

import tacit

RNG = np.random.default_rng(8)
N = 800
X = RNG.uniform(-1, 1, (N, 3))
Y = np.clip(X @ [1.0, -0.5, 0.0] + 0.2 + RNG.standard_t(3, N) / 3, -4, 4)
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-2 * X[:, 0] - 0.3))).astype(int)
EXACT: dict[str, Any] = {"epsilon": np.inf, "bounds": (-1, 1)}


def test_newton_finds_the_root_of_the_gradient() -> None:
    model = tacit.LogisticRegression(**EXACT).fit(X, LABELS)
    margins = X @ model.coef_[0] + model.intercept_[0]
    gap = 1 / (1 + np.exp(-margins)) - LABELS
    assert np.abs(np.column_stack([X, np.ones(N)]).T @ gap / N).max() < 1e-9


def test_least_squares_in_a_ball_lies_on_the_sphere_where_it_must() -> None:
    model = tacit.LinearRegression(**EXACT, y_bounds=(-4, 4), radius=0.5).fit(X, Y)

    def value(theta: Any) -> float:
        return float(np.mean((X @ theta[:3] + theta[3] - Y) ** 2))

    ball = optimize.NonlinearConstraint(lambda theta: theta[:3] @ theta[:3], 0, 0.25)
    found = optimize.minimize(value, np.full(4, 0.1), constraints=ball, method="SLSQP", options={"ftol": 1e-14})
    assert np.linalg.norm(model.coef_) == pytest.approx(0.5, rel=1e-6)
    np.testing.assert_allclose(model.coef_, found.x[:3], atol=1e-4)


def test_projected_descent_keeps_to_the_region() -> None:
    region = tacit.constraints.non_negative()
    model = tacit.LinearRegression(**EXACT, y_bounds=(-4, 4), constraint=region).fit(X, Y)
    found = optimize.lsq_linear(np.column_stack([X, np.ones(N)]), Y, bounds=([0, 0, 0, -np.inf], np.inf))
    np.testing.assert_allclose(model.coef_, found.x[:3], atol=1e-5)


def test_quasi_newton_fits_quantiles() -> None:
    model = tacit.QuantileRegressor(**EXACT, y_bounds=(-4, 4), quantile=0.8).fit(X, Y)
    assert np.mean(model.predict(X) >= Y) == pytest.approx(0.8, abs=0.02)
