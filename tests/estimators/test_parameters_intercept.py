"""The intercept inside ball and ridge: what is penalised is what the user sees, and exact without noise."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import tacit
from tacit.contract.plan import FullPenalty, Penalty

RNG = np.random.default_rng(21)
X = RNG.uniform(-1, 3, (2000, 2))
ROWS = np.column_stack([np.ones(2000), X])
Y = (RNG.random(2000) < 1 / (1 + np.exp(-(2 * X[:, 0] - X[:, 1] + 1)))).astype(int)
WARDS = (X[:, 0] > 0).astype(int) + (X[:, 1] > RNG.uniform(-1, 3, 2000))
NUMBERS = np.clip(3 * X[:, 0] - X[:, 1] + 10 + RNG.normal(size=2000), 0, 25)
BALL, RIDGE = {"radius": 0.9}, {"l2": 0.2}


def fitted(kind: str, **settings: Any) -> Any:
    chosen: dict[str, Any] = {"epsilon": math.inf, "bounds": (-1, 3), "penalize_intercept": True, **settings}
    if kind == "numbers":
        return tacit.LinearRegression(y_bounds=(0, 25), **chosen).fit(X, NUMBERS)
    if kind == "huber":
        return tacit.HuberRegressor(y_bounds=(0, 25), scale=1.0, **chosen).fit(X, NUMBERS)
    return tacit.LogisticRegression(**chosen).fit(X, Y if kind == "labels" else WARDS)


def coefficients(fit: Any) -> Any:
    return fit.release_.coefficients().ravel()


def objective(kind: str, w: Any, l2: float) -> Any:
    """Value and gradient of the mean loss and the ridge of all coefficients."""
    if kind == "classes":
        z = ROWS @ w.reshape(3, 3)
        shifted = np.exp(z - z.max(axis=1, keepdims=True))
        chances = shifted / shifted.sum(axis=1, keepdims=True)
        value = -np.log(chances[np.arange(2000), WARDS]).mean()
        slope = (ROWS.T @ (chances - np.eye(3)[WARDS]) / 2000).ravel()
    else:
        z = ROWS @ w
        if kind == "labels":
            value, gap = np.mean(np.logaddexp(0, z) - Y * z), 1 / (1 + np.exp(-z)) - Y
        else:
            c = 1.345 if kind == "huber" else math.inf
            gap = np.clip(z - NUMBERS, -c, c)
            value = np.mean(np.where(np.abs(z - NUMBERS) <= c, gap**2 / 2, np.abs(gap * (z - NUMBERS)) - gap**2 / 2))
        slope = ROWS.T @ gap / 2000
    return value + l2 / 2 * w @ w, slope + l2 * w


@pytest.mark.parametrize("kind", ["labels", "classes", "numbers", "huber"])
def test_the_ridge_holds_the_intercept(kind: str) -> None:
    found = coefficients(fitted(kind, l2=0.2))
    slope = objective(kind, found, 0.2)[1]
    # The objective is strongly convex: the distance to the minimum is at most ‖slope‖ / l2.
    assert np.linalg.norm(slope) / 0.2 < 1e-6
    least = optimize.minimize(lambda w: objective(kind, w, 0.2), 0 * found, jac=True, method="BFGS", tol=1e-9).x
    np.testing.assert_allclose(found, least, atol=1e-6)


@pytest.mark.parametrize("kind", ["labels", "classes", "numbers", "huber"])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_the_ball_holds_the_intercept(kind: str, l2: float) -> None:
    radius = 0.9 if kind in ("labels", "classes") else 6.0
    found = coefficients(fitted(kind, radius=radius, l2=l2))
    slope = objective(kind, found, l2)[1]
    assert np.linalg.norm(found) == pytest.approx(radius, rel=1e-7)
    # On the sphere of the ball the negative slope points outwards along the coefficients.
    multiplier = -(slope @ found) / radius**2
    assert multiplier > 0
    np.testing.assert_allclose(slope + multiplier * found, 0.0, atol=1e-6)


@pytest.mark.parametrize("solver", ["auto", "gradient", "whitened-gradient"])
@pytest.mark.parametrize("kind", ["labels", "classes", "numbers"])
@pytest.mark.filterwarnings("ignore")
def test_private_fits_stay_in_the_ball(kind: str, solver: str) -> None:
    radius = 0.9 if kind != "numbers" else 6.0
    found = coefficients(fitted(kind, radius=radius, epsilon=1.0, solver=solver))
    assert np.linalg.norm(found) <= radius * (1 + 1e-6)


def test_a_private_ridge_is_near_the_exact_one() -> None:
    private, exact = (fitted("numbers", l2=0.2, epsilon=epsilon, random_state=1) for epsilon in (8.0, math.inf))
    np.testing.assert_allclose(coefficients(private), coefficients(exact), atol=0.3)


def test_a_prior_mean_is_of_the_slopes() -> None:
    found = coefficients(fitted("labels", l2=1e4, prior_mean=(0.5, -0.25)))
    np.testing.assert_allclose(found, [0.0, 0.5, -0.25], atol=1e-3)


def test_without_an_intercept_or_a_penalty_it_says_nothing() -> None:
    plain = fitted("labels", penalize_intercept=False, l2=0.2, fit_intercept=False)
    np.testing.assert_array_equal(plain.coef_, fitted("labels", l2=0.2, fit_intercept=False).coef_)
    assert fitted("labels").plan_.penalty == Penalty()
    assert isinstance(fitted("labels", l2=0.2).plan_.penalty, FullPenalty)


def test_a_request_with_it_is_another_request() -> None:
    from tacit.certificate.stored_release import request_digest

    digests = {
        request_digest(
            tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 3), l2=0.2, penalize_intercept=flag).plan(2000, 2)
        )
        for flag in (False, True)
    }
    assert len(digests) == 2
