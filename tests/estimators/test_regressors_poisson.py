"""Poisson regression: scikit-learn's and statsmodels' fits without privacy; exposures."""

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray
from sklearn.linear_model import PoissonRegressor as Reference

from tacit import PoissonRegressor
from tacit.errors import BoundsError, DataError, SettingError

EXACT = 1e-6
FACTS: dict[str, Any] = {"bounds": (0, 10), "y_max": 60}
SEEDED: dict[str, Any] = {**FACTS, "epsilon": 2.0, "random_state": 5}
SLOPES = np.array([0.15, -0.1, 0.05])


def table(n: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 10, (n, 3))
    return X, rng.poisson(np.exp(0.5 + X @ SLOPES))


def exposed(n: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    rng = np.random.default_rng(2)
    X, time = rng.uniform(0, 10, (n, 3)), rng.uniform(0.5, 4.0, n)
    return X, rng.poisson(time * np.exp(0.5 + X @ SLOPES)), time


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_without_privacy_it_equals_scikit_learn(l2: float, fit_intercept: bool) -> None:
    X, y = table(1500)
    settings: dict[str, Any] = {"fit_intercept": fit_intercept}
    model = PoissonRegressor(epsilon=np.inf, l2=l2, **FACTS, **settings).fit(X, y)
    expected = Reference(alpha=l2, tol=1e-12, solver="newton-cholesky", **settings).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=EXACT)
    assert model.intercept_ == pytest.approx(expected.intercept_, abs=EXACT)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-5)


def test_exposures_are_statsmodels() -> None:
    X, y, time = exposed(1500)
    model = PoissonRegressor(epsilon=np.inf, exposure_bounds=(0.1, 10), bounds=(0, 10), y_max=200)
    model.fit(X, y, exposure=time)
    family = sm.families.Poisson()
    expected = sm.GLM(y, sm.add_constant(X), family=family, exposure=time).fit(tol=1e-13)
    np.testing.assert_allclose(model.coef_, expected.params[1:], atol=EXACT)
    assert model.intercept_ == pytest.approx(expected.params[0], abs=EXACT)
    rates = np.exp(X @ model.coef_ + model.intercept_)
    np.testing.assert_allclose(model.predict(X), rates, rtol=1e-12)


def test_t02_exposures_outside_the_bounds_equal_those_on_them() -> None:
    X, y, time = exposed(800)
    far, clipped = time.copy(), time.copy()
    far[[3, 4]], clipped[[3, 4]] = [1e9, 1e-9], [4.0, 0.5]
    settings: dict[str, Any] = {**SEEDED, "exposure_bounds": (0.5, 4.0)}
    first, second = (PoissonRegressor(**settings).fit(X, y, exposure=values) for values in (far, clipped))
    assert first.coef_.tobytes() == second.coef_.tobytes()


def test_t02_counts_above_the_largest_equal_it() -> None:
    X, y = table(800)
    far, clipped = y.copy(), y.copy()
    far[9], clipped[9] = 10**9, 60
    first, second = (PoissonRegressor(**SEEDED).fit(X, counts) for counts in (far, clipped))
    assert first.coef_.tobytes() == second.coef_.tobytes()


def test_t36_public_facts_are_never_read_off_the_data() -> None:
    X, y, time = exposed(200)
    with pytest.raises(BoundsError, match=r"y_max=.*schema"):
        PoissonRegressor(epsilon=1.0, bounds=(0, 10)).fit(X, y)
    with pytest.raises(BoundsError, match="exposure_bounds="):
        PoissonRegressor(epsilon=1.0, **FACTS).fit(X, y, exposure=time)


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"y_max": 0}, SettingError),
        ({"y_max": np.inf}, BoundsError),
        ({"y_max": "9"}, BoundsError),
        ({"exposure_bounds": (0, 1)}, BoundsError),
        ({"exposure_bounds": (2, 1)}, BoundsError),
        ({"exposure_bounds": 2}, BoundsError),
    ],
    ids=str,
)
def test_public_facts_are_checked(settings: dict[str, Any], kind: type[Exception]) -> None:
    X, y, time = exposed(200)
    model = PoissonRegressor(epsilon=1.0, **{**FACTS, "exposure_bounds": (0.1, 9), **settings})
    with pytest.raises(kind):
        model.fit(X, y, exposure=time)


@pytest.mark.parametrize("value", [-1, np.nan])
def test_t41_what_is_no_count_is_refused_without_its_value(value: float) -> None:
    X, y = table(200)
    counts = y.astype(float)
    counts[17] = value
    with pytest.raises(DataError, match="Counts must be numbers >= 0") as caught:
        PoissonRegressor(epsilon=1.0, **FACTS).fit(X, counts)
    assert "17" not in str(caught.value)


def test_rates_with_weights_are_counts_with_exposures() -> None:
    """Counts over exposures, weighted by them, have the same minimiser, and it is scikit-learn's."""
    X, y = table(400)
    time = np.random.default_rng(5).uniform(0.5, 2.0, 400)
    facts = {"epsilon": np.inf, "bounds": FACTS["bounds"], "y_max": 1000}
    rates = PoissonRegressor(max_weight=2.0, **facts)
    with pytest.warns(UserWarning, match="capped"):
        rates.fit(X, y / time, sample_weight=time)
    counts = PoissonRegressor(exposure_bounds=(0.5, 2.0), **facts).fit(X, y, exposure=time)
    np.testing.assert_allclose(rates.coef_, counts.coef_, atol=1e-6)
    with pytest.warns(UserWarning, match="capped"):
        rates.set_params(l2=0.1).fit(X, y / time, sample_weight=time)
    twin = Reference(alpha=0.1, tol=1e-12, solver="newton-cholesky").fit(X, y / time, sample_weight=time)
    np.testing.assert_allclose(rates.coef_, twin.coef_, atol=1e-5)


def test_rates_stay_finite_and_below_the_cap() -> None:
    X, y = table(800)
    model = PoissonRegressor(**SEEDED).fit(X, y)
    far = model.predict([[1e9, -1e9, 1e9], [-1e9, 1e9, -1e9]])
    assert far.max() == pytest.approx(60)
    assert far.min() >= 0


def test_a_private_fit_is_near_the_truth() -> None:
    """One fit with the system's noise on n = 40,000 records, ε = 2.

    A slope has an error with a standard deviation of 0.0005 around 0.0005, measured over 20 fits;
    the bound is more than twenty of them away. False-alarm rate below 1e-6.
    """
    X, y = table(40_000)
    model = PoissonRegressor(epsilon=2.0, bounds=(0, 10), y_max=30).fit(X, y)
    np.testing.assert_allclose(model.coef_, SLOPES, atol=0.02)
    assert model.certificate_.private
