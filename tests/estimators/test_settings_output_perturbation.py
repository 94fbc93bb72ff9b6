"""Fits by output perturbation, from the estimator to the certificate."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import optimize, sparse

import tacit
from tacit import HuberRegressor, LinearRegression, LinearSVC, LogisticRegression, PoissonRegressor, QuantileRegressor
from tacit.certificate.certificate import Certificate
from tacit.errors import CertificateError, LedgerError, SettingError

TRUTH = np.array([-0.3, 1.0, -0.7])
Table = tuple[NDArray[np.float64], NDArray[np.float64]]
SOLVER: dict[str, Any] = {"solver": "output-perturbation", "bounds": {"x0": (-5, 5), "x1": (-4, 6)}}
RESPONSE: dict[str, Any] = {"y_bounds": (-4, 6)}
ESTIMATORS: list[tuple[Any, dict[str, Any]]] = [
    (LogisticRegression, {"classes": [0, 1]}),
    (LinearSVC, {"classes": [0, 1]}),
    (LinearRegression, RESPONSE),
    (HuberRegressor, {**RESPONSE, "scale": 0.8}),
    (QuantileRegressor, {**RESPONSE, "quantile": 0.3, "smoothing": 0.5}),
]


def table(n: int, seed: int, *, labels: bool) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    margins = TRUTH[0] + X @ TRUTH[1:]
    y = (rng.random(n) < 1 / (1 + np.exp(-margins))).astype(int) if labels else margins + rng.normal(size=n)
    return X, y


def losses(kind: type, z: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The documented loss of each estimator, in units of the user."""
    if kind is LogisticRegression:
        return np.asarray(np.logaddexp(0, z) - y * z)
    if kind is LinearSVC:
        m, h = (2 * y - 1) * z, 0.5
        return np.where(m >= 1 + h, 0.0, np.where(m <= 1 - h, 1 - m, (1 + h - m) ** 2 / (4 * h)))
    r = z - np.clip(y, -4, 6)
    if kind is QuantileRegressor:
        tau, h = 0.3, 0.5
        corner = (r + h) ** 2 / (4 * h) - tau * r
        return np.where(r >= h, (1 - tau) * r, np.where(r <= -h, -tau * r, corner))
    c = 10.0 if kind is LinearRegression else 1.345 * 0.8
    return np.where(np.abs(r) <= c, r**2 / 2, c * np.abs(r) - c**2 / 2)


@pytest.mark.parametrize(("make", "settings"), ESTIMATORS, ids=lambda it: getattr(it, "__name__", ""))
@pytest.mark.parametrize("l2", [1e-3, 0.3])
def test_without_noise_the_ridge_minimiser_is_reached(make: Any, settings: dict[str, Any], l2: float) -> None:
    """At ε = ∞: mean loss + (l2 / 2)(‖coef‖² + b²), b the intercept at the centre of the bounds, to 1e-6."""
    labels = "classes" in settings
    X, y = table(400, 2, labels=labels)
    fitted = make(epsilon=math.inf, l2=l2, **SOLVER, **settings).fit(X, y)
    centre = np.array([0.0, 1.0])
    middle = 0.0 if labels else 1.0  # of y_bounds

    def value(at: NDArray[np.float64]) -> float:
        z = middle + at[0] + (X - centre) @ at[1:]
        return float(np.mean(losses(make, z, y)) + l2 / 2 * at @ at)

    found = optimize.minimize(value, np.zeros(3), method="BFGS", options={"gtol": 1e-10})
    best = optimize.minimize(value, found.x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-16}).x
    coef = np.ravel(fitted.coef_)
    at_centre = float(np.ravel(fitted.intercept_)[0]) + coef @ centre - middle
    np.testing.assert_allclose([at_centre, *coef], best, atol=1e-6)
    assert not fitted.certificate_.private


def test_three_classes_without_noise() -> None:
    rng = np.random.default_rng(5)
    X, l2 = rng.normal(size=(300, 2)), 0.1
    y = rng.integers(0, 3, 300) * (X[:, 0] > -1)
    fitted = LogisticRegression(epsilon=math.inf, l2=l2, classes=[0, 1, 2], **SOLVER).fit(X, y)

    def value(flat: NDArray[np.float64]) -> float:
        at = flat.reshape(3, 3)
        z = at[:, 0] + (X - [0.0, 1.0]) @ at[:, 1:].T
        rows = np.log(np.exp(z).sum(axis=1)) - z[np.arange(300), y]
        return float(rows.mean() + l2 / 2 * np.sum(flat**2))

    best = optimize.minimize(value, np.zeros(9), method="BFGS", options={"gtol": 1e-9}).x.reshape(3, 3)
    np.testing.assert_allclose(fitted.coef_, best[:, 1:], atol=1e-6)
    np.testing.assert_allclose(fitted.intercept_ + fitted.coef_ @ [0.0, 1.0], best[:, 0], atol=1e-6)


@pytest.mark.parametrize(("make", "settings"), ESTIMATORS, ids=lambda it: getattr(it, "__name__", ""))
@pytest.mark.parametrize("relation", ["replace-one", "zero-out"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_certificate_holds_and_is_stored(make: Any, settings: dict[str, Any], relation: str, delta: float) -> None:
    labels = "classes" in settings
    model = make(epsilon=4.0, delta=delta, relation=relation, **SOLVER, **settings).fit(*table(500, 1, labels=labels))
    document = Certificate.from_json(model.certificate_.to_json())
    assert document.private
    assert document.check().consistent
    (entry,) = document.parsed["events"]
    assert entry["arithmetic"] == ("real-number proof" if delta == 0.0 else "bounded-float")
    assert document.parsed["total"]["epsilon"] <= 4.0
    assert document.parsed["total"]["delta"] == delta
    assert (document.parsed["total"]["mu"] is None) == (delta == 0.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("arithmetic", "exact"),
        ("query", "gradient"),
        ("sensitivity", {"bound": "1", "squared": "4"}),
        ("noise", {"law": "gamma norm rounded to integers", "bits": 40, "scale": str(2**40)}),
    ],
)
def test_an_altered_certificate_is_refused(name: str, value: Any) -> None:
    model = LogisticRegression(epsilon=4.0, delta=0.0, **SOLVER).fit(*table(500, 1, labels=True))
    parsed = model.certificate_.parsed
    changed = {**parsed["events"][0], name: value}
    with pytest.raises(CertificateError, match="event 1"):
        Certificate.made({**parsed, "events": [changed]}).check()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_fit_is_near_the_truth(delta: float) -> None:
    """n = 50 000, ε = 8: ridge, noise and sampling together are below 0.2; one seed, no false alarms."""
    settings: dict[str, Any] = {**SOLVER, "bounds": (-5, 5), "random_state": 3}
    model = LogisticRegression(epsilon=8.0, delta=delta, **settings).fit(*table(50_000, 1, labels=True))
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), TRUTH, atol=0.2)


@pytest.mark.filterwarnings("ignore:Weights above")
def test_weights_are_of_the_users_mean() -> None:
    """Σ w loss / n + (l2 / 2)‖·‖²: weights of 2 and twice the l2 change nothing."""
    X, y = table(3000, 4, labels=True)
    settings: dict[str, Any] = {"epsilon": math.inf, "bounds": (-5, 5), "solver": SOLVER["solver"]}
    plain = LogisticRegression(l2=0.1, **settings).fit(X, y)
    weighted = LogisticRegression(l2=0.2, max_weight=4.0, **settings).fit(X, y, sample_weight=np.full(3000, 2.0))
    np.testing.assert_allclose(weighted.coef_, plain.coef_, atol=1e-6)


def test_sparse_rows_are_fitted_as_dense_ones() -> None:
    X, y = table(3000, 4, labels=True)
    models = [
        LogisticRegression(epsilon=2.0, row_norm=5.0, solver=SOLVER["solver"], random_state=1, classes=[0, 1]).fit(
            rows, y
        )
        for rows in (X, sparse.csr_array(X))
    ]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_refusals_come_before_any_record() -> None:
    """A table with a NaN is not reached."""
    X, y = table(50, 6, labels=True)
    X[0, 0] = np.nan
    with pytest.raises(SettingError, match="strongly convex"):
        LogisticRegression(epsilon=1.0, l2=0, **SOLVER).fit(X, y)
    with pytest.raises(SettingError, match="strongly convex"):
        LogisticRegression(epsilon=1.0, delta=0, l2=0.0, **SOLVER).fit(X, y)
    with pytest.raises(SettingError, match="huber loss: its scale"):
        HuberRegressor(epsilon=1.0, **SOLVER, **RESPONSE).fit(X, y)
    with pytest.raises(SettingError, match="poisson loss"):
        PoissonRegressor(epsilon=1.0, y_max=3, **SOLVER).fit(X, y)


def test_a_gaussian_minimum_is_paid_from_a_ledger(tmp_path: Any) -> None:
    X, y = table(400, 7, labels=True)
    with tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=3.0, delta=1e-6)):
        LogisticRegression(epsilon=1.0, delta=1e-7, classes=[0, 1], **SOLVER).fit(X, y)


def test_a_pure_minimum_is_paid_from_a_pure_ledger(tmp_path: Any) -> None:
    X, y = table(400, 7, labels=True)
    with tacit.Ledger(tmp_path / "ledger.db", budget=tacit.Budget(epsilon=3.0, delta=0), law="pure"):
        LogisticRegression(epsilon=1.0, delta=0, classes=[0, 1], **SOLVER).fit(X, y)
        with pytest.raises(LedgerError, match="pure"):
            LogisticRegression(epsilon=1.0, delta=1e-7, classes=[0, 1], **SOLVER).fit(X, y)


def test_glm_takes_the_solver() -> None:
    X, y = table(2000, 8, labels=True)
    numeric = '[columns.{}]\ntype = "numeric"\nlower = -5\nupper = 5\n'
    columns = numeric.format("a") + numeric.format("b") + '[columns.y]\ntype = "binary"\n'
    schema = tacit.Schema.parse('unit = "row"\n' + columns)
    rows = pa.table({"a": X[:, 0], "b": X[:, 1], "y": y})
    settings: dict[str, Any] = {"solver": SOLVER["solver"], "inference": False}
    fit = tacit.glm("y ~ a + b", rows, schema, epsilon=2.0, delta=0.0, **settings)
    assert fit.certificate.check().consistent


@pytest.mark.parametrize("l2", [1e-300, 1e-120, 1e-20])
def test_a_ridge_that_is_next_to_nothing_is_refused_by_the_plan(l2: float) -> None:
    """The minimum would be found late or never, after the charge."""
    for estimator in (LogisticRegression, LinearSVC):
        model = estimator(epsilon=1, delta=1e-6, bounds=(-1, 1), solver="output-perturbation", l2=l2, classes=[0, 1])
        with pytest.raises(SettingError, match="l2"):
            model.plan(n=500, d=2)
