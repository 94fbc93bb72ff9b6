"""The sandwich without noise: HC0 to six digits, however loose the public bounds are."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from numpy.typing import NDArray

import tacit
from tacit.solvers.exact_intervals import is_dependent

Matrix = NDArray[np.float64]


def features(count: int = 2500) -> Matrix:
    return np.clip(np.random.default_rng(7).normal(size=(count, 2)), -5, 5)


def errors_of(model: Any) -> Matrix:
    return np.array(model.bse.tolist())


@pytest.mark.parametrize("bound", [5, 80])
def test_loose_bounds_cost_no_digits(bound: float) -> None:
    X = features()
    Z = sm.add_constant(X)
    rng = np.random.default_rng(8)
    linear = 0.2 + X @ [0.5, -0.3]
    shared: dict[str, Any] = {"epsilon": np.inf, "bounds": (-bound, bound), "inference": True}

    label = (rng.random(len(X)) < 1 / (1 + np.exp(-linear))).astype(int)
    logistic = tacit.LogisticRegression(**shared).fit(X, label)
    known = sm.GLM(label, Z, family=sm.families.Binomial()).fit(cov_type="HC0", tol=1e-14)
    np.testing.assert_allclose(errors_of(logistic), known.bse, rtol=1e-6)

    y = linear + rng.standard_t(3, len(X))
    ends = (-20 * bound, 20 * bound)
    squares = tacit.LinearRegression(**shared, y_bounds=ends).fit(X, y)
    known = sm.OLS(y, Z).fit(cov_type="HC0")
    np.testing.assert_allclose(errors_of(squares), known.bse, rtol=1e-6)

    counts = rng.poisson(np.exp(linear))
    poisson = tacit.PoissonRegressor(**shared, y_max=20 * bound).fit(X, counts)
    known = sm.GLM(counts, Z, family=sm.families.Poisson()).fit(cov_type="HC0", tol=1e-14)
    np.testing.assert_allclose(errors_of(poisson), known.bse, rtol=1e-6)


def test_huber_goes_by_its_own_threshold() -> None:
    """M⁻¹QM⁻¹ / n with ψ(r) = clip(r, ±kσ), kσ where the fit found it."""
    X = features()
    Z = sm.add_constant(X)
    y = X @ [0.5, -0.3] + np.random.default_rng(9).standard_t(2, len(X))
    y = np.clip(y, -30, 30)
    model = tacit.HuberRegressor(epsilon=np.inf, bounds=(-5, 5), y_bounds=(-30, 30), inference=True)
    model.fit(X, y)
    residuals = y - Z @ np.append(model.intercept_, model.coef_)
    threshold = 1.345 * np.quantile(np.abs(residuals), 0.7, method="inverted_cdf") / 1.036
    M = np.linalg.inv((Z * (np.abs(residuals) <= threshold)[:, None]).T @ Z)
    scores = Z * np.clip(residuals, -threshold, threshold)[:, None]
    expected = np.sqrt(np.diag(M @ scores.T @ scores @ M))
    np.testing.assert_allclose(errors_of(model), expected, rtol=1e-6)
    plain = np.sqrt(np.diag(sm.OLS(y, Z).fit(cov_type="HC0").cov_params()))
    assert (errors_of(model) < 0.9 * plain).all()


@pytest.mark.filterwarnings("ignore:Weights above")
def test_weights_and_exposures_are_those_of_statsmodels() -> None:
    X = features()
    Z = sm.add_constant(X)
    rng = np.random.default_rng(10)
    weight, exposure = rng.uniform(0.2, 2.0, len(X)), rng.uniform(0.5, 3.0, len(X))
    counts = rng.poisson(exposure * np.exp(0.2 + X @ [0.3, -0.2]))
    shared: dict[str, Any] = {"epsilon": np.inf, "bounds": (-5, 5), "inference": True}
    model = tacit.PoissonRegressor(**shared, y_max=60, exposure_bounds=(0.5, 3)).fit(X, counts, exposure=exposure)
    known = sm.GLM(counts, Z, family=sm.families.Poisson(), exposure=exposure)
    np.testing.assert_allclose(errors_of(model), known.fit(cov_type="HC0", tol=1e-14).bse, rtol=1e-6)
    y = X @ [0.5, -0.3] + rng.normal(size=len(X))
    squares = tacit.LinearRegression(**shared, y_bounds=(-9, 9), max_weight=2.0)
    squares.fit(X, y, sample_weight=weight)
    known = sm.WLS(y, Z, weights=weight).fit(cov_type="HC0")
    np.testing.assert_allclose(errors_of(squares), known.bse, rtol=1e-6)


def test_records_of_one_person_are_one_cluster() -> None:
    X = features()
    Z = sm.add_constant(X)
    rng = np.random.default_rng(12)
    person = rng.integers(0, 400, len(X))
    own = rng.normal(size=400)[person]
    y = X @ [0.5, -0.3] + own + rng.normal(size=len(X))
    model = tacit.LinearRegression(
        epsilon=np.inf, bounds=(-5, 5), y_bounds=(-9, 9), inference=True, max_rows_per_unit=40
    ).fit(X, y, units=person)
    once = 1 / np.bincount(person)[person]
    known = sm.WLS(y, Z, once).fit(cov_type="cluster", cov_kwds={"groups": person, "use_correction": False})
    # Room for 40 rows a person leaves fewer digits to each.
    np.testing.assert_allclose(errors_of(model), known.bse, rtol=1e-5)


def test_a_sparse_matrix_has_the_same_errors() -> None:
    X = features()
    X[np.abs(X) < 0.5] = 0.0
    y = (np.random.default_rng(13).random(len(X)) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    model = tacit.LogisticRegression(epsilon=np.inf, bounds=(-5, 5), inference=True)
    dense = errors_of(model.fit(X, y))
    np.testing.assert_allclose(errors_of(model.fit(sp.csr_matrix(X), y)), dense, rtol=1e-6)


def test_dependent_columns_are_known_whatever_their_scale() -> None:
    assert not is_dependent(np.diag([1e-12, 1.0]))
    assert is_dependent(np.ones((2, 2)))
    assert is_dependent(np.zeros((2, 2)))
