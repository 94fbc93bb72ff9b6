"""Fits by a perturbed objective, from the estimator to the certificate."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import optimize

from tacit import (
    HuberRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from tacit.certificate.certificate import Certificate
from tacit.errors import SettingError

TRUTH = np.array([-0.3, 1.0, -0.7])


def table(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = rng.random(n) < 1 / (1 + np.exp(-TRUTH[0] - X @ TRUTH[1:]))
    return X, y.astype(np.int64)


def model(**settings: Any) -> LogisticRegression:
    chosen: dict[str, Any] = {
        "epsilon": 4.0,
        "delta": 1e-6,
        "bounds": (-5, 5),
        "solver": "objective-perturbation",
        "classes": [0, 1],
    }
    return LogisticRegression(**{**chosen, **settings})


@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
def test_a_fit_is_near_the_truth_and_its_certificate_holds(relation: str) -> None:
    """n = 20000: noise and sampling together are below 0.03; ten deviations, no false alarms."""
    fitted = model(relation=relation).fit(*table(20_000, 1))
    found = np.concatenate([fitted.intercept_, fitted.coef_[0]])
    np.testing.assert_allclose(found, TRUTH, atol=0.3)
    assert fitted.certificate_.private
    again = Certificate.from_json(fitted.certificate_.to_json()).check()
    assert again.consistent
    assert fitted.certificate_.document["total"]["epsilon"] <= 4.0 * (1 + 1e-9)


def test_weights_are_honoured() -> None:
    """A class that counts double moves the intercept by about log 2."""
    X, y = table(20_000, 4)
    plain = model(random_state=1).fit(X, y)
    heavy = model(random_state=1, class_weight={1: 2.0}).fit(X, y)
    moved = heavy.intercept_[0] - plain.intercept_[0]
    assert abs(moved - math.log(2)) < 0.2


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", ["one label", "constant", "separable", "two rows"])
def test_t40_singular_tables_are_answered(kind: str) -> None:
    X, y = table(200, 5)
    if kind == "one label":
        y[:] = 1
    elif kind == "constant":
        X[:] = 2.0
    elif kind == "separable":
        y[:] = X[:, 0] > 0
    else:
        X, y = X[:2], y[:2]
    assert np.isfinite(model().fit(X, y).coef_).all()


def test_public_facts_alone_decide_a_refusal() -> None:
    """A plan needs no records, and what it refuses is refused before any are charged."""
    with pytest.raises(SettingError, match="public n"):
        model(relation="add-remove", n_at_least=50).plan(100, 2)
    with pytest.raises(SettingError, match="There are no intervals for solver='objective-perturbation'"):
        model(inference=True).plan(100, 2)
    with pytest.raises(SettingError, match="no prior_mean, radius"):
        model(radius=1.0).plan(100, 2)


def test_without_a_budget_the_fit_is_the_exact_one() -> None:
    X, y = table(500, 6)
    exact = model(epsilon=np.inf, delta=None).fit(X, y)
    usual = model(epsilon=np.inf, delta=None, solver="auto").fit(X, y)
    np.testing.assert_array_equal(exact.coef_, usual.coef_)
    assert not exact.certificate_.private


def regression_table(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.clip(0.1 + X @ [0.5, -0.3] + 0.1 * rng.standard_t(3, size=n), -1, 1)


def hinge(m: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(m >= 1.5, 0.0, np.where(m <= 0.5, 1 - m, (1.5 - m) ** 2 / 2))


def huber(r: NDArray[np.float64], c: float) -> NDArray[np.float64]:
    return np.where(np.abs(r) <= c, r * r / 2, c * np.abs(r) - c * c / 2)


CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "two classes": (LogisticRegression, {}),
    "three classes": (LogisticRegression, {}),
    "svm": (LinearSVC, {}),
    "linear": (LinearRegression, {"y_bounds": (-1, 1)}),
    "ridge": (Ridge, {"y_bounds": (-1, 1)}),
    "huber": (HuberRegressor, {"y_bounds": (-1, 1), "scale": 0.1}),
}


def case(name: str, n: int) -> tuple[NDArray[np.float64], NDArray[Any], int]:
    X, y = regression_table(n, 11)
    if name == "three classes":
        return X, np.digitize(y, [-0.2, 0.3]), 3
    return (X, (y > 0).astype(np.int64), 1) if name in {"two classes", "svm"} else (X, y, 1)


def target(name: str, X: NDArray[np.float64], y: NDArray[Any], classes: int, l2: float) -> NDArray[np.float64]:
    """The minimiser of mean loss + (l2/2)‖all coefficients‖² by scipy; the intercept first."""
    rows = np.column_stack([np.ones(len(X)), X])

    def value(flat: NDArray[np.float64]) -> float:
        z = rows @ flat.reshape(3, classes)
        if name == "three classes":
            losses = np.logaddexp.reduce(z, axis=1) - z[np.arange(len(y)), y]
        elif name == "two classes":
            losses = np.logaddexp(0, z[:, 0]) - y * z[:, 0]
        elif name == "svm":
            losses = hinge((2 * y - 1) * z[:, 0])
        else:
            losses = huber(z[:, 0] - y, 1.345 * 0.1 if name == "huber" else 50.0)
        return float(np.mean(losses) + l2 / 2 * flat @ flat)

    found = optimize.minimize(value, np.zeros(3 * classes), method="BFGS", options={"gtol": 1e-9}).x
    return np.asarray(optimize.minimize(value, found, method="Powell", options={"xtol": 1e-11, "ftol": 1e-15}).x)


def coefficients(fitted: Any) -> NDArray[np.float64]:
    return np.vstack([np.atleast_1d(fitted.intercept_), np.atleast_2d(fitted.coef_).T]).ravel()


@pytest.mark.parametrize("solver", ["objective-perturbation", "objective-perturbation-kst"])
@pytest.mark.parametrize("name", CASES)
def test_at_infinite_epsilon_every_fit_is_its_ridge_minimiser(name: str, solver: str) -> None:
    """To 1e-6 of scipy's minimiser of the documented objective."""
    factory, settings = CASES[name]
    X, y, classes = case(name, 300)
    fitted = factory(epsilon=np.inf, bounds=(-1, 1), solver=solver, l2=0.02, **settings).fit(X, y)
    expected = target(name, X, y, classes, 0.02)
    np.testing.assert_allclose(coefficients(fitted), expected, atol=1e-6)
    assert not fitted.certificate_.private


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("name", CASES)
def test_with_a_large_budget_every_form_comes_near_the_minimiser(name: str, delta: float) -> None:
    """ε = 400 and n = 20000: noise is below 0.003 in a coefficient; ten deviations, no false alarms."""
    factory, settings = CASES[name]
    X, y, classes = case(name, 20_000)
    chosen = {"epsilon": 400.0, "delta": delta, "bounds": (-1, 1), "l2": 0.02, "solver": "objective-perturbation"}
    fitted = factory(**chosen, **settings).fit(X, y)
    np.testing.assert_allclose(coefficients(fitted), target(name, X, y, classes, 0.02), atol=0.03)
    assert fitted.certificate_.check().consistent
    assert fitted.certificate_.document["total"]["delta"] == delta


@pytest.mark.parametrize(
    ("refused", "match"),
    [
        (PoissonRegressor(y_max=5), "not for the poisson loss: the error of its computed gradient is not proven"),
        (HuberRegressor(y_bounds=(-1, 1)), "not for the huber loss: its scale is found in the records: declare it"),
        (QuantileRegressor(y_bounds=(-1, 1)), "not for the pinball loss: its scale is found in the records"),
    ],
)
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_a_loss_is_refused_by_its_missing_property_before_a_record_is_read(
    refused: Any, match: str, delta: float
) -> None:
    chosen = refused.set_params(epsilon=1.0, delta=delta, bounds=(-1, 1), solver="objective-perturbation")
    with pytest.raises(SettingError, match=match):
        chosen.plan(1000, 2)
    X = np.zeros((50, 2))
    X[3, 1] = np.nan
    with pytest.raises(SettingError, match=match):
        chosen.fit(X, np.full(50, np.nan))
