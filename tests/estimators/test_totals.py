"""Weights and a private number of records: a weight is a number of copies, whatever its maximum.

Fits are seeded: they have no false alarms.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression as LeastSquares

import tacit
from tacit import LogisticRegression, Ridge

N = 4000
SLOPES = np.array([0.5, -0.3])
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "binary": ("LogisticRegression", {}),
    "classes": ("LogisticRegression", {"classes": [0, 1, 2]}),
    "linear": ("LinearRegression", {"y_bounds": (-15, 15)}),
    "huber": ("HuberRegressor", {"y_bounds": (-15, 15)}),
    "quantile": ("QuantileRegressor", {"y_bounds": (-15, 15), "quantile": 0.8}),
    "counts": ("PoissonRegressor", {"y_max": 30}),
    "hinge": ("LinearSVC", {}),
    "mean": ("GaussianMean", {}),
}


def table(case: str, n: int = N) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """A response that the linear model misses, so that it matters which records count more."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0, 10, (n, 2))
    z = (X - 5) @ SLOPES
    if case in {"binary", "hinge"}:
        return X, (z + rng.logistic(size=n) > 0).astype(int)
    if case == "classes":
        scores = np.column_stack([z, -z, 0 * z]) + rng.gumbel(size=(n, 3))
        return X, np.argmax(scores, axis=1)
    if case == "counts":
        return X, rng.poisson(np.exp(0.5 + 0.3 * z))
    return X, z + z**2 / 4 + (1 + X[:, 0] / 5) * rng.normal(size=n)


def fitted(case: str, X: Any, y: Any, weights: Any = None, **settings: Any) -> NDArray[np.float64]:
    name, facts = MODELS[case]
    model = getattr(tacit, name)(bounds=(0, 10), random_state=1, **facts, **settings)
    model.fit(X, y, sample_weight=weights)
    if case == "mean":
        return np.asarray(model.mean_)
    found = np.column_stack([np.atleast_2d(model.coef_), np.ravel(model.intercept_)])
    # Several classes share a shift that no loss sees.
    return found - found.mean(axis=0) if case == "classes" else found


@pytest.mark.filterwarnings("ignore:Weights above")
@pytest.mark.parametrize("max_weight", [4.0, 40.0])
@pytest.mark.parametrize("case", MODELS)
def test_weighted_records_are_repeated_records(case: str, max_weight: float) -> None:
    """Exactly without noise; with next to none, up to where clips and steps of two plans end."""
    X, y = table(case)
    weights = np.random.default_rng(0).integers(0, 5, N)
    copies = np.repeat(np.arange(N), weights)
    for epsilon, gap in ((np.inf, 1e-6), (1000.0, 0.03)):
        weighted = fitted(case, X, y, weights, epsilon=epsilon, max_weight=max_weight)
        repeated = fitted(case, X[copies], y[copies], epsilon=epsilon)
        np.testing.assert_allclose(weighted, repeated, atol=gap)
    unweighted = fitted(case, X, y, epsilon=np.inf)
    assert np.abs(unweighted - repeated).max() > 1e-3


@pytest.mark.parametrize("case", MODELS)
def test_a_fifth_of_the_records_may_be_declared(case: str) -> None:
    """n_at_least = n / 5 under add-remove, ε = 4: as near as with the true number declared."""
    X, y = table(case, 20_000)
    settings: dict[str, Any] = {"epsilon": 4.0, "relation": "add-remove"}
    loose = fitted(case, X, y, n_at_least=4000, **settings)
    exact = fitted(case, X, y, epsilon=np.inf)
    slopes = np.s_[..., :2]
    np.testing.assert_allclose(loose[slopes], exact[slopes], atol=0.04)


@pytest.mark.parametrize("n_at_least", [10, 20_000])
def test_without_privacy_no_declared_number_is_too_small(n_at_least: int) -> None:
    X, y = table("linear", 20_000)
    model = tacit.LinearRegression(epsilon=np.inf, bounds=(0, 10), y_bounds=(-15, 15))
    model.set_params(relation="add-remove", n_at_least=n_at_least).fit(X, y)
    expected = LeastSquares().fit(X, np.clip(y, -15, 15)).coef_
    np.testing.assert_allclose(model.coef_, expected, atol=1e-6)
    assert model.plan_.total == len(X)


@pytest.mark.filterwarnings("ignore:Weights above")
@pytest.mark.parametrize("epsilon", [np.inf, 1000.0])
def test_bounds_are_found_with_weights(epsilon: float) -> None:
    X, y = table("linear")
    weights = np.random.default_rng(0).uniform(0, 4, N)
    model = tacit.LinearRegression(epsilon=epsilon, bounds="private", y_bounds="private")
    model.set_params(max_weight=10.0, random_state=0).fit(X, y, sample_weight=weights)
    expected = LeastSquares().fit(X, y, weights).coef_
    gap = 1e-6 if np.isinf(epsilon) else 0.03
    np.testing.assert_allclose(model.coef_, expected, atol=gap)


@pytest.mark.filterwarnings("ignore:Weights above")
def test_weights_of_any_size_count_by_their_ratio() -> None:
    X, y = table("huber")
    weights = np.random.default_rng(0).uniform(0, 1, N)
    small = fitted("huber", X, y, weights, epsilon=np.inf, max_weight=50.0)
    large = fitted("huber", X, y, 50 * weights, epsilon=np.inf, max_weight=50.0)
    np.testing.assert_allclose(small, large, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Weights above")
@pytest.mark.parametrize("epsilon", [np.inf, 1000.0])
def test_a_penalty_is_beside_the_weighted_mean(epsilon: float) -> None:
    """Σ w loss / Σ w + l2/2 ‖coef‖²: repeated records need the same penalty."""
    X, y = table("linear")
    weights = np.random.default_rng(0).integers(0, 5, N)
    copies = np.repeat(np.arange(N), weights)
    facts: dict[str, Any] = {"bounds": (0, 10), "y_bounds": (-15, 15), "epsilon": epsilon}
    model = Ridge(**facts, l2=5.0, max_weight=20.0, random_state=0)
    model.fit(X, y, sample_weight=weights)
    twin = Ridge(**facts, l2=5.0, random_state=0).fit(X[copies], y[copies])
    gap = 1e-6 if np.isinf(epsilon) else 0.01
    np.testing.assert_allclose(model.coef_, twin.coef_, atol=gap)


def test_a_penalty_sees_the_true_private_number_of_records() -> None:
    X, y = table("linear")
    facts: dict[str, Any] = {"bounds": (0, 10), "y_bounds": (-15, 15), "epsilon": np.inf, "l2": 5.0}
    public = Ridge(**facts).fit(X, y)
    private = Ridge(**facts, relation="add-remove", n_at_least=N // 5).fit(X, y)
    np.testing.assert_allclose(private.coef_, public.coef_, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Weights above")
def test_intervals_of_weighted_and_uncounted_records_hold_the_truth() -> None:
    """Slopes lie within six standard errors, which are those of the noise and the weights."""
    rng = np.random.default_rng(5)
    X = rng.uniform(0, 10, (20_000, 2))
    y = (X - 5) @ SLOPES + rng.logistic(size=len(X)) > 0
    settings: dict[str, Any] = {"epsilon": 4.0, "bounds": (0, 10), "inference": True}
    weights = rng.choice([1.0, 4.0], len(X))
    plain = LogisticRegression(**settings, random_state=0).fit(X, y)
    weighted = LogisticRegression(**settings, max_weight=10.0, random_state=0)
    weighted.fit(X, y, sample_weight=weights)
    loose = LogisticRegression(**settings, relation="add-remove", n_at_least=4000, random_state=0)
    loose.fit(X, y)
    errors = []
    for model in (plain, weighted, loose):
        lower, upper = model.conf_int().to_numpy()[1:].T
        errors.append((upper - lower) / (2 * 1.96))
        assert (np.abs(model.coef_[0] - SLOPES) < 6 * errors[-1]).all()
    # The mean weight is a quarter of the largest: four times the noise at most, and not less.
    assert ((errors[0] < errors[1]) & (errors[1] < 4 * errors[0])).all()
    # Add-remove needs half the noise of replace-one for gradients; n_at_least does not matter.
    assert (errors[2] < 1.3 * errors[0]).all()
