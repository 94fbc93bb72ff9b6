"""Estimators of own losses: those of the built-in twins, on every storage, and private whatever the loss is."""

import math
from typing import Any

import numba
import numpy as np
import pytest
from scipy import optimize, sparse
from sklearn.base import clone

import tacit
from tacit.errors import LedgerError, SettingError

RNG = np.random.default_rng(6)
X = RNG.uniform(-1, 3, (3000, 2))
Y = (RNG.random(3000) < 1 / (1 + np.exp(-(2 * X[:, 0] - X[:, 1])))).astype(int)
NUMBERS = 3 * X[:, 0] - X[:, 1] + 10 + RNG.normal(size=3000)


def logistic_slope(margin: float, label: float) -> float:
    return 1.0 / (1.0 + math.exp(-margin)) - label


def logistic_value(margin: float, label: float) -> float:
    return math.log1p(math.exp(margin)) - label * margin


def tanh_slope(margin: float, label: float) -> float:
    return math.tanh(margin - label)


def plain_log_cosh(gap: float) -> float:
    return abs(gap) + math.log1p(math.exp(-2.0 * abs(gap))) - math.log(2.0)


log_cosh: Any = numba.njit(plain_log_cosh)
"""A compiled function that the function of a loss calls."""


def tanh_value(margin: float, label: float) -> float:
    return float(log_cosh(margin - label))


LOGISTIC = tacit.own_loss(logistic_slope, logistic_value, lipschitz=1.0, curvature=0.25, convex=True, name="logistic")
TANH = tacit.own_loss(tanh_slope, tanh_value, lipschitz=1.0, curvature=1.0, convex=True)


def classifier(**settings: Any) -> Any:
    chosen = {"loss": LOGISTIC, "epsilon": 1.0, "bounds": (-1, 3), "classes": (0, 1), **settings}
    return tacit.MarginClassifier(**chosen)


@pytest.mark.parametrize(
    ("settings", "attached"),
    [
        ({}, {}),
        ({"relation": "zero-out"}, {}),
        ({"max_weight": 3.0}, {"sample_weight": np.arange(3000) % 3 + 0.5}),
        ({"max_rows_per_unit": 2}, {"units": np.arange(3000) // 3}),
        ({"clip": 0.3, "noise_multiplier": 30.0, "iterations": 40, "epsilon": None}, {}),
        ({"fit_intercept": False}, {}),
    ],
)
@pytest.mark.filterwarnings("ignore:Weights above")
def test_an_own_logistic_loss_is_logistic_regression(settings: dict[str, Any], attached: dict[str, Any]) -> None:
    mine = classifier(random_state=3, **settings).fit(X, Y, **attached)
    same = {name: value for name, value in mine.get_params(deep=False).items() if name not in ("loss", "solver")}
    twin = tacit.LogisticRegression(solver="gradient", **same).fit(X, Y, **attached)
    np.testing.assert_allclose(mine.coef_, twin.coef_, rtol=1e-6)
    assert mine.plan_.guarantee() == twin.plan_.guarantee()
    assert mine.plan_.forecast == twin.plan_.forecast


def test_sparse_rows_are_read() -> None:
    every = classifier(row_norm=4.0, bounds=None, random_state=3)
    dense, compressed = (clone(every).fit(rows, Y) for rows in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.coef_, compressed.coef_, rtol=1e-9)


def test_at_infinite_epsilon_it_is_the_minimiser_of_the_value() -> None:
    fit = tacit.MarginRegressor(loss=TANH, epsilon=math.inf, bounds=(-1, 3), y_bounds=(0, 25), l2=0.01).fit(X, NUMBERS)
    rows = np.column_stack([np.ones(3000), X])

    def objective(w: Any) -> Any:
        gap = rows @ w - np.clip(NUMBERS, 0, 25)
        value = np.mean(np.abs(gap) + np.log1p(np.exp(-2 * np.abs(gap))) - math.log(2)) + 0.005 * w[1:] @ w[1:]
        return value, rows.T @ np.tanh(gap) / 3000 + 0.01 * np.append(0.0, w[1:])

    least = optimize.minimize(objective, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    np.testing.assert_allclose([fit.intercept_, *fit.coef_], least, atol=1e-6)
    exact = classifier(epsilon=math.inf).fit(X, Y)
    twin = tacit.LogisticRegression(epsilon=math.inf, bounds=(-1, 3)).fit(X, Y)
    np.testing.assert_allclose(exact.coef_, twin.coef_, atol=1e-6)


def test_units_of_the_response_do_not_matter() -> None:
    """Numbers in cents with a loss in cents: the same coefficients in cents."""

    def wide(margin: float, label: float) -> float:
        return 100.0 * math.tanh((margin - label) / 100.0)

    def wide_value(margin: float, label: float) -> float:
        return 10_000.0 * float(log_cosh((margin - label) / 100.0))

    cents = tacit.own_loss(wide, wide_value, lipschitz=100.0, curvature=1.0, convex=True)
    settings: dict[str, Any] = {"epsilon": 1.0, "bounds": (-1, 3), "iterations": 30, "random_state": 1}
    euro = tacit.MarginRegressor(loss=TANH, y_bounds=(0, 25), **settings).fit(X, NUMBERS)
    cent = tacit.MarginRegressor(loss=cents, y_bounds=(0, 2500), **settings).fit(X, 100 * NUMBERS)
    np.testing.assert_allclose(cent.coef_, 100 * euro.coef_, rtol=1e-5)


@pytest.mark.parametrize("solver", ["newton", "objective-perturbation", "whitened-gradient", "double-noise-newton"])
@pytest.mark.usefixtures("nothing_spent")
def test_a_solver_that_needs_more_names_it(solver: str) -> None:
    with pytest.raises(SettingError, match=rf'"{solver}" needs .*Of an own loss'):
        classifier(solver=solver).fit(X, Y)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": None}, "own_loss"),
        ({"loss": "logistic"}, "own_loss"),
        ({"loss": logistic_slope}, "own_loss"),
        ({"inference": True}, "no intervals for an own loss"),
        ({"relation": "add-remove", "n_at_least": 10}, "public n"),
        ({"bounds": "private"}, "declared bounds"),
    ],
)
@pytest.mark.usefixtures("nothing_spent")
def test_what_cannot_be_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        classifier(**settings).fit(X, Y)


def test_an_open_response_has_no_units() -> None:
    with pytest.raises(SettingError, match="units of y"):
        tacit.MarginRegressor(loss=TANH, epsilon=1.0, bounds=(-1, 3), y_bounds="private").fit(X, NUMBERS)


def test_t2_a_record_beyond_the_bounds_acts_as_if_it_stood_on_them() -> None:
    far, held = X.copy(), X.copy()
    far[7], held[7] = (1e6, -1e6), (3.0, -1.0)
    one, other = (classifier(random_state=5).fit(rows, Y) for rows in (far, held))
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_the_certificate_says_what_is_enforced() -> None:
    fit = classifier().fit(X, Y)
    document = fit.certificate_.document
    assert (document["loss"], document["private"]) == ("own: logistic", True)
    (fact,) = [fact for fact in document["public"] if fact["name"] == "loss"]
    assert fact["value"]["lipschitz"] == 1.0
    assert fit.summary() is not None


def test_a_key_cannot_stand_for_code() -> None:
    ledger = tacit.Ledger(budget=tacit.Budget(epsilon=8, delta=1e-4))
    with ledger.request("mine"), pytest.raises(LedgerError, match="own loss"):
        classifier().fit(X, Y)
    assert ledger.charges() == ()
