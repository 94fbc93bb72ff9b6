"""Fits without privacy equal scikit-learn's; private ones are near the truth."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import optimize, stats
from sklearn.linear_model import LogisticRegression as Reference

from tacit import Budget, LogisticRegression
from tacit.errors import SettingError

EXACT = 1e-6
NAMES = ["age", "bmi", "pulse"]


def table(n: int, d: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, d))
    y = rng.random(n) < 1 / (1 + np.exp(-(X - 5) @ np.resize([0.3, -0.2, 0.1], d)))
    return X, y.astype(np.int64)


def reference(X: Any, y: Any, *, C: float = np.inf, fit_intercept: bool = True) -> Reference:
    return Reference(C=C, solver="newton-cholesky", tol=1e-13, max_iter=1000, fit_intercept=fit_intercept).fit(
        np.asarray(X, dtype=np.float64), y
    )


def assert_equal_fits(model: LogisticRegression, expected: Reference) -> None:
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=EXACT)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=0, atol=EXACT)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(60, 1), (61, 2), (1000, 3), (3000, 12), (20_000, 5)])
def test_without_privacy_it_equals_scikit_learn(n: int, d: int, fit_intercept: bool) -> None:
    X, y = table(n, d)
    model = LogisticRegression(epsilon=np.inf, bounds=(0, 10), fit_intercept=fit_intercept)
    assert_equal_fits(model.fit(X, y), reference(X, y, fit_intercept=fit_intercept))
    assert model.coef_.shape == (1, d)
    assert model.intercept_.shape == (1,)
    assert not model.certificate_.private


@pytest.mark.parametrize(
    "facts",
    [
        {"bounds": (-3, 40)},
        {"bounds": ([-100, 0, -1], [10, 11, 1000])},
        {"bounds": (0, 10), "row_norm": 5.0},
        {"row_norm": 18.0},
        {"bounds": np.array([[0.0] * 3, [10.0] * 3])},
        {"bounds": (0, 10), "relation": "zero-out"},
        {"bounds": (0, 10), "relation": "add-remove", "n_at_least": 100},
    ],
    ids=str,
)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_without_privacy_facts_that_hold_change_nothing(facts: dict[str, Any], fit_intercept: bool) -> None:
    X, y = table(800, 3)
    model = LogisticRegression(epsilon=np.inf, fit_intercept=fit_intercept, **facts)
    assert_equal_fits(model.fit(X, y), reference(X, y, fit_intercept=fit_intercept))


def test_float32_input() -> None:
    X, y = table(800, 3)
    single = X.astype(np.float32)
    model = LogisticRegression(epsilon=np.inf, bounds=(0, 10)).fit(single, y)
    assert_equal_fits(model, reference(single, y))


@pytest.mark.parametrize(
    "frame",
    [
        lambda X: pd.DataFrame(X, columns=NAMES),
        lambda X: pl.DataFrame(dict(zip(NAMES, X.T, strict=True))),
        lambda X: pa.table(dict(zip(NAMES, X.T, strict=True))),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_frames_fit_and_predict_like_their_matrix(frame: Callable[[Any], Any]) -> None:
    X, y = table(800, 3)
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": (0, 10), "random_state": 4}
    plain = LogisticRegression(**settings).fit(X, y)
    model = LogisticRegression(**settings).fit(frame(X), y)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_allclose(model.predict_proba(frame(X)), plain.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize(
    "labels",
    [np.array([False, True]), np.array(["no", "yes"]), np.array([-1, 1]), np.array([1.0, 2.0])],
    ids=["bool", "text", "signs", "floats"],
)
@pytest.mark.parametrize("holder", [np.asarray, list, pd.Series, pl.Series], ids=str)
def test_labels_of_any_type(labels: NDArray[Any], holder: Callable[[Any], Any]) -> None:
    X, y = table(300, 2)
    model = LogisticRegression(epsilon=np.inf, bounds=(0, 10)).fit(X, holder(labels[y]))
    assert_equal_fits(model, reference(X, y))
    assert model.classes_.tolist() == labels.tolist()
    predicted = model.predict(X)
    assert set(predicted.tolist()) <= set(labels.tolist())
    np.testing.assert_array_equal(predicted == labels[1], model.decision_function(X) > 0)


def test_declared_classes_give_the_direction() -> None:
    X, y = table(300, 2)
    settings: dict[str, Any] = {"epsilon": np.inf, "bounds": (0, 10)}
    forward = LogisticRegression(**settings, classes=[0, 1]).fit(X, y)
    backward = LogisticRegression(**settings, classes=[1, 0]).fit(X, y)
    np.testing.assert_allclose(backward.coef_, -forward.coef_, atol=EXACT)
    np.testing.assert_array_equal(backward.predict(X), forward.predict(X))


@pytest.mark.parametrize("l2", [1e-4, 0.01, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_l2_is_scikit_learns_penalty(l2: float, fit_intercept: bool) -> None:
    X, y = table(900, 3)
    settings: dict[str, Any] = {"bounds": (0, 10), "fit_intercept": fit_intercept}
    model = LogisticRegression(epsilon=np.inf, l2=l2, **settings).fit(X, y)
    assert_equal_fits(model, reference(X, y, C=1 / (len(X) * l2), fit_intercept=fit_intercept))


def objective(w: NDArray[np.float64], X: Any, y: Any, l2: float, prior: Any) -> float:
    margins = X @ w[1:] + w[0]
    loss = np.mean(np.logaddexp(0, margins) - y * margins)
    return float(loss + l2 / 2 * np.sum((w[1:] - prior) ** 2))


def test_prior_mean_and_radius_against_a_general_minimiser() -> None:
    X, y = table(400, 2)
    prior, l2, radius = np.array([0.5, 0.4]), 0.05, 0.2
    settings: dict[str, Any] = {"bounds": (0, 10), "epsilon": np.inf}
    shrunk = LogisticRegression(**settings, l2=l2, prior_mean=prior.tolist()).fit(X, y)
    found = optimize.minimize(objective, np.zeros(3), (X, y, l2, prior), "BFGS", tol=1e-9)
    np.testing.assert_allclose(shrunk.coef_[0], found.x[1:], atol=1e-5)

    inside = LogisticRegression(**settings, radius=radius).fit(X, y)
    ball = optimize.NonlinearConstraint(lambda w: np.sum(w[1:] ** 2), -np.inf, radius**2)
    found = optimize.minimize(objective, np.zeros(3), (X, y, 0.0, 0.0), "SLSQP", constraints=[ball], tol=1e-14)
    assert np.linalg.norm(inside.coef_) == pytest.approx(radius, rel=1e-6)
    np.testing.assert_allclose(inside.coef_[0], found.x[1:], atol=1e-4)


def test_separable_labels_end_without_privacy() -> None:
    X = np.linspace(0, 10, 50)[:, None]
    y = (X[:, 0] > 5).astype(int)
    free = LogisticRegression(epsilon=np.inf, bounds=(0, 10)).fit(X, y)
    assert np.isfinite(free.coef_).all()
    assert free.score(X, y) == 1.0


def test_a_private_fit_is_near_the_truth() -> None:
    """One fit with the system's noise on n = 40,000 records, ε = 1.

    The table is fixed and its own sampling error below 0.01. The noise of a coefficient has a
    standard deviation below 0.003 (that of the predictor, 0.007), measured over 100 fits; the
    bounds are more than ten of them away. False-alarm rate below 1e-6.
    """
    X, y = table(40_000, 3)
    model = LogisticRegression(epsilon=1.0, bounds=(0, 10)).fit(X, y)
    assert np.abs(model.coef_[0] - [0.3, -0.2, 0.1]).max() < 0.05
    assert np.abs(model.decision_function([[5.0, 5.0, 5.0]])).max() < 0.2
    assert model.certificate_.private


@pytest.mark.parametrize("budget", [Budget(mu=0.3), Budget(rho=0.05), Budget(epsilon=1.0, delta=1e-7)], ids=str)
def test_every_currency_buys_a_fit(simulated: Any, budget: Budget) -> None:
    model = LogisticRegression(budget=budget, bounds=(0, 10)).fit(simulated.X, simulated.y)
    total = model.plan_.guarantee()
    mu = total.mu
    assert mu is not None
    if budget.epsilon is None:
        expected = budget.mu or (2 * (budget.rho or 0)) ** 0.5
        assert mu == pytest.approx(expected, rel=1e-9)
    else:
        assert total.epsilon <= 1.0
        assert total.delta == 1e-7
        exact = stats.norm.cdf(mu / 2 - 1 / mu) - np.e * stats.norm.cdf(-mu / 2 - 1 / mu)
        assert exact == pytest.approx(1e-7, rel=1e-4)


def test_the_plan_needs_no_data_and_is_the_one_that_runs(simulated: Any) -> None:
    model = LogisticRegression(epsilon=1.0, bounds=(0, 10))
    plan = model.plan(2000, 3)
    ran = model.fit(simulated.X, simulated.y).plan_
    assert plan.steps == ran.steps
    assert plan.budget == ran.budget
    assert plan.budget.delta == pytest.approx(min(1e-5, 2000**-1.1))
    assert (plan.solver, plan.forecast) == (ran.solver, ran.forecast)


@pytest.mark.parametrize("n", [0, 1, -3])
def test_a_plan_of_too_few_records_is_refused(n: int) -> None:
    with pytest.raises(SettingError, match="at least 2"):
        LogisticRegression(epsilon=1.0, bounds=(0, 10)).plan(n, 3)


@pytest.mark.filterwarnings("ignore:Only the level")
def test_a_small_budget_warns_from_public_facts_alone() -> None:
    X, y = table(50, 3)
    with pytest.warns(UserWarning, match="mostly noise") as caught:
        LogisticRegression(epsilon=0.1, bounds=(0, 10)).fit(X, y)
    with pytest.warns(UserWarning, match="mostly noise") as again:
        LogisticRegression(epsilon=0.1, bounds=(0, 10)).fit(X[::-1] / 3, y)
    assert [str(w.message) for w in caught] == [str(w.message) for w in again]
