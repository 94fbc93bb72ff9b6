"""Least squares: scikit-learn's fits without privacy, near them with it, within y_bounds."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression as LeastSquares
from sklearn.linear_model import Ridge as Shrunken

from tacit import HuberRegressor, LinearRegression, QuantileRegressor, Ridge
from tacit.design.response import Continuous
from tacit.errors import BoundsError, SettingError

EXACT = 1e-6
FACTS: dict[str, Any] = {"bounds": (0, 10), "y_bounds": (-15, 25)}
SEEDED: dict[str, Any] = {**FACTS, "epsilon": 2.0, "random_state": 5}
SLOPES = [0.5, -0.3, 0.2]


def table(n: int, d: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, d))
    return X, 1.5 + X @ np.resize(SLOPES, d) + rng.normal(size=n)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(60, 1), (1000, 3), (3000, 12)])
def test_without_privacy_it_equals_scikit_learn(n: int, d: int, fit_intercept: bool) -> None:
    X, y = table(n, d)
    model = LinearRegression(epsilon=np.inf, fit_intercept=fit_intercept, **FACTS).fit(X, y)
    expected = LeastSquares(fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=EXACT)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=EXACT)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), atol=1e-5)
    assert isinstance(model.intercept_, float)
    assert model.score(X, y) == pytest.approx(expected.score(X, y), abs=1e-9)


@pytest.mark.parametrize(
    "facts",
    [
        {"bounds": (-3, 40)},
        {"bounds": ([-100, 0, -1], [10, 11, 1000])},
        {"row_norm": 18.0},
        {"relation": "add-remove", "n_at_least": 100},
        {"y_bounds": (-1000, 30)},
        {"y_bounds": (-12.0, 1e6)},
    ],
    ids=str,
)
def test_without_privacy_facts_that_hold_change_nothing(facts: dict[str, Any]) -> None:
    X, y = table(800, 3)
    expected = LeastSquares().fit(X, y)
    model = LinearRegression(epsilon=np.inf, **{**FACTS, **facts}).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=0, atol=1e-5)


@pytest.mark.parametrize("l2", [1e-4, 0.1, 3.0])
@pytest.mark.parametrize("y_bounds", [(-15, 25), (-1e4, 1e4)])
def test_l2_is_scikit_learns_alpha_over_n(l2: float, y_bounds: tuple[float, float]) -> None:
    X, y = table(900, 3)
    expected = Shrunken(alpha=900 * l2, solver="cholesky").fit(X, y)
    for model in (Ridge, LinearRegression):
        found = model(epsilon=np.inf, l2=l2, bounds=(0, 10), y_bounds=y_bounds).fit(X, y)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=EXACT)
        assert found.intercept_ == pytest.approx(expected.intercept_, abs=1e-5)


def test_a_prior_mean_is_where_the_penalty_shrinks_to() -> None:
    X, y = table(900, 3)
    prior = [3.0, -1.0, 0.5]
    shrunk = Ridge(epsilon=np.inf, l2=0.5, prior_mean=prior, **FACTS).fit(X, y)
    expected = Shrunken(alpha=450.0).fit(X, y - X @ prior)
    np.testing.assert_allclose(shrunk.coef_ - prior, expected.coef_, atol=EXACT)
    heavy = Ridge(epsilon=1.0, l2=1e9, prior_mean=prior, **FACTS).fit(X, y)
    np.testing.assert_allclose(heavy.coef_, prior, atol=1e-3)


@pytest.mark.filterwarnings("ignore:Weights above")
@pytest.mark.parametrize("max_weight", [3.0, 50.0])
def test_weights_are_scikit_learns_whatever_the_declared_maximum(max_weight: float) -> None:
    X, y = table(900, 3)
    weights = np.random.default_rng(0).uniform(0, 3, 900)
    facts = {**FACTS, "max_weight": max_weight}
    free = LinearRegression(epsilon=np.inf, **facts).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(free.coef_, LeastSquares().fit(X, y, weights).coef_, atol=EXACT)
    shrunk = Ridge(epsilon=np.inf, l2=0.1, **facts).fit(X, y, sample_weight=weights)
    expected = Shrunken(alpha=0.1 * weights.sum()).fit(X, y, weights)
    np.testing.assert_allclose(shrunk.coef_, expected.coef_, atol=EXACT)


@pytest.mark.parametrize("model", [LinearRegression, Ridge])
def test_predictions_stay_within_the_bounds_of_the_response(model: Any) -> None:
    X, y = table(800, 2)
    fitted = model(**SEEDED).fit(X, y)
    far = fitted.predict([[1e9, 0.0], [-1e9, 0.0], [0.0, 1e9], [0.0, -1e9]])
    assert set(far.tolist()) == {-15.0, 25.0}


@pytest.mark.parametrize("model", [LinearRegression, Ridge])
def test_t02_a_response_outside_the_bounds_equals_the_clipped_one(model: Any) -> None:
    X, y = table(800, 2)
    far, clipped = y.copy(), y.copy()
    far[7], clipped[7] = 1e9, 25.0
    first, second = (model(**SEEDED).fit(X, response) for response in (far, clipped))
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert first.intercept_ == second.intercept_


@pytest.mark.parametrize("model", [LinearRegression, Ridge])
@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_t36_missing_bounds_are_refused_for_any_table(model: Any, scale: float) -> None:
    X, y = table(100, 2)
    with pytest.raises(BoundsError, match=r'y_bounds=.*"private".*schema'):
        model(epsilon=1.0, bounds=(0, 10)).fit(X, y * scale)
    with pytest.raises(BoundsError, match=r"bounds=.*row_norm="):
        model(epsilon=1.0, y_bounds=(0, 10)).fit(X * scale, y)


def test_private_bounds_of_the_response_are_left_to_be_found() -> None:
    model = LinearRegression(epsilon=1.0, bounds=(0, 10), y_bounds="private")
    response = model._response("y", None)
    assert isinstance(response, Continuous)
    assert response.is_open
    assert [fact.value for fact in model._facts(response)] == ["private"]
    for other in (HuberRegressor(scale=1.0), QuantileRegressor(smoothing=1.0)):
        with pytest.raises(SettingError, match="units of y"):
            other._loss(response)


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1), 3, "ab", (0, "1")])
def test_bounds_of_the_response_are_two_finite_numbers_in_order(ends: Any) -> None:
    with pytest.raises(BoundsError, match="y_bounds"):
        LinearRegression(epsilon=1.0, bounds=(0, 1), y_bounds=ends).plan(100, 2)


@pytest.mark.filterwarnings("ignore:The budget is small")
def test_more_columns_than_records_work_and_warn_from_public_facts() -> None:
    X, y = table(30, 50)
    model = LinearRegression(epsilon=1.0, **FACTS)
    with pytest.warns(UserWarning, match="more coefficients|Only the level|small for this table") as caught:
        model.fit(X, y)
    with pytest.warns(UserWarning, match="more coefficients|Only the level|small for this table") as again:
        model.fit(X[::-1] / 2, y)
    assert [str(w.message) for w in caught] == [str(w.message) for w in again]
    assert np.isfinite(model.coef_).all()
    assert model.coef_.shape == (50,)


@pytest.mark.parametrize("epsilon", [1.0, np.inf])
def test_t40_columns_without_variance_work(epsilon: float) -> None:
    X, y = table(500, 3)
    X[:, 1] = 4.0
    model = LinearRegression(epsilon=epsilon, **FACTS).fit(X, y)
    assert np.isfinite(model.coef_).all()


def test_t37_facts_are_listed_with_their_source() -> None:
    X, y = table(500, 2)
    model = LinearRegression(**SEEDED).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    facts = {fact["name"]: fact for fact in model.certificate_.document["public"]}
    assert facts["y_bounds"] == {"name": "y_bounds", "value": [-15.0, 25.0], "source": "declared"}
    assert facts["bounds"]["source"] == "declared"
    assert facts["columns"] == {"name": "columns", "value": ["a", "b"], "source": "assumed"}
    assert model.certificate_.document["loss"] == "squared"


def test_a_private_fit_is_near_the_free_one() -> None:
    """One fit with the system's noise on n = 40,000 records, ε = 1.

    Against the free fit the prediction at the centre has an error of standard deviation 0.012,
    and slopes have less, measured over 600 fits; the largest were 0.086 and 0.024. The bounds are
    20 standard deviations away. False-alarm rate below 1e-6.
    """
    X, y = table(40_000, 3)
    model = LinearRegression(epsilon=1.0, **FACTS).fit(X, y)
    free = LeastSquares().fit(X, y)
    np.testing.assert_allclose(model.coef_, free.coef_, atol=0.15)
    np.testing.assert_allclose(model.predict([[5.0] * 3]), free.predict([[5.0] * 3]), atol=0.25)
    assert model.certificate_.private


def test_bounds_may_be_found_privately() -> None:
    """One fit with the system's noise on n = 20,000 records of very different columns, ε = 1.

    R² is .8400 without privacy and between .8399 and .8401 in 20 fits; the bound is hundreds of
    their standard deviations away. False-alarm rate below 1e-6.
    """
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(20_000, 3))
    y = Z @ [1.0, -2.0, 0.5] + rng.normal(size=20_000)
    X = Z * [1.0, 100.0, 0.01] + [5.0, -2000.0, 0.0]
    model = LinearRegression(epsilon=1.0, bounds="private", y_bounds="private").fit(X, y)
    assert model.score(X, y) > 0.82
    facts = {fact["name"]: fact["value"] for fact in model.certificate_.document["public"]}
    assert (facts["bounds"], facts["y_bounds"]) == ("private", "private")
