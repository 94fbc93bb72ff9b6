"""Feature maps and constraints through the estimators: against scikit-learn's own."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import LinearRegression as LeastSquares
from sklearn.linear_model import LogisticRegression as Reference
from sklearn.preprocessing import PolynomialFeatures

from tacit import LinearRegression, LogisticRegression
from tacit.constraints.region import Box, L1Ball
from tacit.design.design import Design
from tacit.design.feature_map import Polynomial, RandomFourier
from tacit.errors import InputError, SettingError

FACTS: dict[str, Any] = {"bounds": (0, 10), "y_bounds": (-15, 25)}


def table(n: int = 900) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(8)
    X = rng.uniform(0, 10, (n, 3))
    return X, 1.5 + X @ [0.5, -0.3, 0.0] + rng.normal(size=n)


def test_a_polynomial_without_privacy_is_scikit_learns() -> None:
    X, y = table()
    label = ((X[:, 0] - 5) ** 2 + 4 * np.sin(y) > 6).astype(int)
    model = LogisticRegression(epsilon=np.inf, bounds=(0, 10), feature_map=Polynomial(2))
    model.fit(X, label)
    mapped = PolynomialFeatures(2, include_bias=False).fit_transform(X / 5 - 1)
    expected = Reference(C=np.inf, tol=1e-12, solver="newton-cholesky").fit(mapped, label)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(mapped), atol=1e-6)
    assert model.n_features_in_ == 3
    assert model.coef_.shape == (1, 9)


def test_feature_maps_are_public_facts_and_fit_privately() -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fourier = RandomFourier(count=8, scale=1.0, seed=3)
    model = LinearRegression(epsilon=2.0, feature_map=fourier, random_state=0, **FACTS)
    model.fit(frame, y)
    facts = {fact["name"]: fact for fact in model.certificate_.document["public"]}
    assert facts["feature_map"]["value"]["count"] == 8
    assert facts["bounds"]["value"] == [[0.0, 10.0]] * 3
    assert model.coef_.shape == (16,)
    predicted = model.predict(frame)
    assert predicted.shape == (len(X),)
    np.testing.assert_allclose(model.predict(frame[:5]), predicted[:5], rtol=1e-9)
    plan = LinearRegression(epsilon=2.0, feature_map=fourier, **FACTS).plan(900, 3)
    assert plan.design.width == 17


def test_slopes_that_may_not_be_negative_are_scikit_learns() -> None:
    X, y = table()
    model = LinearRegression(epsilon=np.inf, constraint=Box(0.0, np.inf), **FACTS).fit(X, y)
    expected = LeastSquares(positive=True).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_a_private_fit_obeys_its_constraint(epsilon: float) -> None:
    X, y = table()
    model = LinearRegression(epsilon=epsilon, constraint=L1Ball(0.3), **FACTS).fit(X, y)
    assert np.abs(model.coef_).sum() <= 0.3 * (1 + 1e-6)
    logistic = LogisticRegression(epsilon=epsilon, bounds=(0, 10), constraint=Box(0.0, 0.1))
    logistic.fit(X, y > 2)
    assert (logistic.coef_ >= -1e-9).all()
    assert (logistic.coef_ <= 0.1 + 1e-9).all()


@pytest.mark.parametrize("constraint", ["positive", 3, Box([0.0] * 5, [1.0] * 5)])
def test_what_is_no_constraint_on_these_slopes_is_refused(constraint: Any) -> None:
    X, y = table()
    with pytest.raises(InputError):
        LinearRegression(epsilon=1.0, constraint=constraint, **FACTS).fit(X, y)


@pytest.mark.parametrize("solver", ["auto", "gradient"])
def test_a_wide_sparse_table_needs_no_square_matrix(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """300,000 columns would need 671 GiB for it; here 9,000, with the matrix taken away."""
    monkeypatch.setattr(Design, "to_user", None)
    rng = np.random.default_rng(0)
    rows, width = 400, 9_000
    places = rng.integers(0, width, (rows, 3))
    X = sparse.csr_matrix((np.ones(3 * rows), (np.repeat(np.arange(rows), 3), places.ravel())), (rows, width))
    model = LogisticRegression(epsilon=1.0, bounds=(0, 3), solver=solver, classes=[0, 1])
    with pytest.warns(UserWarning, match="Only the level|small for this table|more coefficients"):
        model.fit(X, rng.integers(0, 2, rows))
    assert model.coef_.shape == (1, width)
    assert model.predict(X).shape == (rows,)


def test_a_penalty_on_too_many_columns_is_refused_before_the_charge() -> None:
    model = LogisticRegression(epsilon=1.0, bounds=(0, 1), solver="gradient", l2=0.1)
    with pytest.raises(SettingError, match="square matrix"):
        model.plan(1000, 40_000)
