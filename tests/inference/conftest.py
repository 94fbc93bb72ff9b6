"""Fits without noise beside their statsmodels twins, and releases that nothing was fitted for."""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

import tacit
from tacit.contract.release import Release, Sandwich
from tacit.privacy.budget import Budget

FAMILIES = ("binomial", "gaussian", "poisson")


@dataclass(frozen=True)
class Twins:
    """The same model fitted at ε = ∞ and by statsmodels, and new rows for both."""

    ours: Any
    theirs: Any
    rows: NDArray[np.float64]


@cache
def _fit_twins(family: str) -> Twins:
    rng = np.random.default_rng(11)
    X = np.clip(rng.normal(size=(3000, 3)), -5, 5)
    linear = 0.3 + X @ [0.6, -0.4, 0.0]
    settings: dict[str, Any] = {"epsilon": np.inf, "bounds": (-6, 6), "inference": True}
    Z = sm.add_constant(X)
    if family == "binomial":
        y = (rng.random(3000) < 1 / (1 + np.exp(-linear))).astype(float)
        ours: Any = tacit.LogisticRegression(**settings).fit(X, y)
        theirs = sm.GLM(y, Z, family=sm.families.Binomial()).fit(cov_type="HC0", tol=1e-14)
    elif family == "gaussian":
        # Errors whose spread depends on a feature: the plain covariance would be wrong.
        y = linear + rng.normal(size=3000) * (1 + np.abs(X[:, 0]))
        ours = tacit.LinearRegression(**settings, y_bounds=(-30, 30)).fit(X, y)
        theirs = sm.OLS(y, Z).fit(cov_type="HC0")
    else:
        y = rng.poisson(np.exp(linear)).astype(float)
        ours = tacit.PoissonRegressor(**settings, y_max=60).fit(X, y)
        theirs = sm.GLM(y, Z, family=sm.families.Poisson()).fit(cov_type="HC0", tol=1e-14)
    return Twins(ours, theirs, rng.normal(size=(7, 3)))


@pytest.fixture(params=FAMILIES)
def twins(request: pytest.FixtureRequest) -> Twins:
    """One pair of twins a family."""
    return _fit_twins(request.param)


@cache
def _release(
    signal: float = 400.0, features: int = 3, model: str = "binomial", relation: str = "replace-one"
) -> Release:
    """Release at a chosen n·μ/d, made of chosen numbers: well conditioned, little noise."""
    width = features + 1
    settings: dict[str, Any] = {
        "budget": Budget(mu=1.0, delta=1e-6),
        "bounds": (-1, 1),
        "relation": relation,
        "inference": True,
    }
    if relation == "add-remove":
        settings["n_at_least"] = round(signal * width)
    if model == "binomial":
        estimator: Any = tacit.LogisticRegression(**settings)
    elif model == "gaussian":
        estimator = tacit.LinearRegression(**settings, y_bounds=(-1, 1))
    else:
        estimator = tacit.PoissonRegressor(**settings, y_max=9)
    plan = estimator.plan(round(signal * width), features)
    rng = np.random.default_rng(width)
    half = rng.normal(size=(width, width)) / 10
    score = 0.2 * np.eye(width) + half @ half.T
    to_user = np.eye(width) + rng.normal(size=(width, width)) / 10
    sandwich = Sandwich(
        curvature=0.2 * np.eye(width) + half.T @ half,
        score=score,
        to_user=to_user,
        lifted=False,
        capped=False,
        step_noise=0.01,
        curvature_noise=0.01,
        score_noise=0.02,
        level=0.5,
        step=np.zeros(width),
    )
    return Release(plan, np.linspace(-1.0, 1.0, width), sandwich=sandwich)


def _altered(release: Release, **numbers: Any) -> Release:
    assert release.sandwich is not None
    return replace(release, sandwich=replace(release.sandwich, **numbers))


@cache
def _stepped(signal: float = 400.0, model: str = "binomial") -> Release:
    """Release of one step in whose curvature nothing hides; other numbers are chosen by tests."""
    release = _release(signal, model=model)
    return _altered(
        release,
        curvature=np.diag([0.05, 0.15, 0.2, 0.25]),
        to_user=np.eye(4),
        step=np.array([0.01, 0.0, -0.01, 0.0]),
        visible=0.02,
        step_noise=0.004,
        curvature_noise=0.002,
        pilot_error=1e-3,
        hidden_size=1.0,
        asymmetry=1.0 if model == "poisson" else 0.0,
    )


@pytest.fixture
def make_stepped() -> Any:
    """Make a release of one step by its signal and its model."""
    return _stepped


@pytest.fixture
def make_release() -> Any:
    """Make a release by signal, features, model and relation."""
    return _release


@pytest.fixture
def altered() -> Any:
    """Return a release with other numbers in its sandwich."""
    return _altered
