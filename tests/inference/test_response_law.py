"""New responses: variances as least squares knows them, and the quantiles of scipy's laws."""

import math
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

import tacit
from tacit.design.response import Binary, Continuous, Count
from tacit.errors import SettingError
from tacit.inference.estimates import Estimated
from tacit.inference.response_law import NODES, ResponseLaw, nodes

EXACT: dict[str, Any] = {"epsilon": math.inf, "bounds": (-6, 6), "inference": True}


def estimated(values: Any, errors: Any, degrees: float = math.inf) -> Estimated:
    count = len(values)
    return Estimated(
        names=tuple(map(str, range(count))),
        values=np.asarray(values, float),
        sampling=np.square(np.asarray(errors, float)),
        privacy=np.zeros(count),
        degrees=np.full(count, degrees),
        null=np.zeros(count),
        statements=("nominal",) * count,
        dimension=2,
    )


def sample(n: int = 3000) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 2))
    return X, 1.0 + X @ [0.5, -0.5] + 2.0 * rng.normal(size=n)


def test_without_noise_they_are_those_of_statsmodels() -> None:
    X, y = sample()
    ours = tacit.LinearRegression(**EXACT, y_bounds=(-20, 20)).fit(X, y)
    theirs = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC0")
    found = ours.get_prediction(X[:5])
    assert found.law.variance == pytest.approx(theirs.mse_resid, rel=1e-6)
    known = theirs.get_prediction(sm.add_constant(X)[:5]).summary_frame(alpha=0.1)
    frame = found.summary_frame(0.9)
    # Ours have t quantiles of n - d degrees, theirs normal ones.
    for name in ("obs_ci_lower", "obs_ci_upper"):
        np.testing.assert_allclose(frame[name], known[name], rtol=2e-3)
    assert found.response_statements == ("nominal",) * 5
    assert found.response_assumption == "if errors are normal and have one variance"


def test_a_model_without_intercept_has_a_variance_too() -> None:
    X, y = sample()
    ours = tacit.LinearRegression(**EXACT, y_bounds=(-20, 20), fit_intercept=False).fit(X, y - 1)
    theirs = sm.OLS(y - 1, X).fit()
    assert ours.get_prediction(X[:1]).law.variance == pytest.approx(theirs.mse_resid, rel=0.05)


def test_a_private_fit_covers_new_responses() -> None:
    """Seeded: 20,000 new normal responses; a variance of twice or half as much would miss."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(24_000, 2))
    y = 1.0 + X @ [0.5, -0.5] + 2.0 * rng.normal(size=24_000)
    model = tacit.LinearRegression(
        epsilon=2.0, delta=1e-6, bounds=(-6, 6), y_bounds=(-20, 20), inference=True, random_state=1
    ).fit(X[:4000], y[:4000])
    found = model.get_prediction(X[4000:])
    low, high = found.response_int().T
    assert set(found.response_statements) == {"nominal"}
    assert 0.93 <= np.mean((low <= y[4000:]) & (y[4000:] <= high)) <= 0.97
    assert found.law.variance == pytest.approx(4.0, rel=0.25)


def test_overdispersed_counts_have_wider_intervals() -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(4000, 2))
    rate = np.exp(1.0 + X @ [0.2, -0.2])
    settings: dict[str, Any] = {"epsilon": 4.0, "delta": 1e-6, "bounds": (-6, 6), "y_max": 100}
    laws = []
    for y in (rng.poisson(rate), rng.negative_binomial(rate / 2, 1 / 3)):
        model = tacit.PoissonRegressor(**settings, inference=True, random_state=1).fit(X, y)
        found = model.get_prediction(X)
        low, high = found.response_int().T
        assert np.mean((low <= y) & (y <= high)) >= 0.94
        assert set(found.response_statements) == {"conservative"}
        laws.append(found.law.variance)
    assert 1.0 <= laws[0] < 1.6
    assert laws[1] == pytest.approx(3.0, rel=0.4)


def test_quantiles_of_counts_are_those_of_their_law() -> None:
    means = np.array([0.2, 3.0, 40.0])
    linear = estimated(np.log(means), np.zeros(3))
    response = Count("y", 1000)
    plain = ResponseLaw(response, 1.0, math.inf, "")
    found = plain.interval(linear, np.exp(nodes(linear)), 0.9)
    np.testing.assert_array_equal(found, np.column_stack(stats.poisson(means).interval(0.9)))
    wide = ResponseLaw(response, 4.0, math.inf, "")
    law = stats.nbinom(means / 3, 1 / 4)
    np.testing.assert_allclose(law.var(), 4 * means)
    found = wide.interval(linear, np.exp(nodes(linear)), 0.9)
    np.testing.assert_array_equal(found, np.column_stack([law.ppf(0.05), law.ppf(0.95)]))
    short = ResponseLaw(Count("y", 30), 1.0, math.inf, "")
    assert short.interval(linear, np.exp(nodes(linear)), 0.9)[2].tolist() == [30.0, 30.0]


def test_an_uncertain_mean_widens_the_law() -> None:
    response = Count("y", 10_000)
    law = ResponseLaw(response, 1.0, math.inf, "")
    sure, unsure = estimated([3.0], [0.0]), estimated([3.0], [0.5])
    narrow = law.interval(sure, np.exp(nodes(sure)), 0.95)[0]
    wide = law.interval(unsure, np.exp(nodes(unsure)), 0.95)[0]
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_labels_are_excluded_where_they_are_rare() -> None:
    response = Binary("y", (0, 1))
    law = ResponseLaw(response, 1.0, math.inf, "")
    chances = np.array([0.01, 0.5, 0.99])
    linear = estimated(np.zeros(3), np.zeros(3))
    found = law.interval(linear, np.tile(chances[:, None], NODES), 0.95)
    assert found.tolist() == [[0, 0], [0, 1], [1, 1]]


def test_an_interval_of_a_number_has_the_degrees_of_both_variances() -> None:
    law = ResponseLaw(Continuous.of("y", -50, 50), 4.0, 10.0, "")
    found = law.interval(estimated([1.0], [0.0], 5.0), np.ones((1, NODES)), 0.95)
    np.testing.assert_allclose(found[0], 1 + 2 * stats.t(10).ppf([0.025, 0.975]))
    found = law.interval(estimated([49.0], [1.0], 5.0), np.ones((1, NODES)), 0.95)
    assert found[0, 1] == 50.0


def test_visibly_different_variances_withhold_it() -> None:
    X, y = sample()
    rng = np.random.default_rng(6)
    y = X[:, 0] + rng.normal(size=3000) * np.abs(X[:, 0]) ** 2
    model = tacit.LinearRegression(**EXACT, y_bounds=(-40, 40)).fit(X, y)
    found = model.get_prediction(X[:2])
    assert found.response_statements == ("withheld",) * 2
    assert "differs between rows" in found.response_assumption
    assert found.response_int().tolist() == [[-40.0, 40.0]] * 2
    assert np.isnan(found.summary_frame()["obs_ci_lower"]).all()
    assert np.isfinite(found.summary_frame()["mean_ci_lower"]).all()


def test_weights_and_persons_withhold_it() -> None:
    X, y = sample(400)
    settings = {**EXACT, "y_bounds": (-20, 20)}
    weighted = tacit.LinearRegression(**settings, max_weight=2.0)
    with pytest.warns(UserWarning, match="capped"):
        weighted.fit(X, y, sample_weight=np.ones(400))
    assert "weighted" in weighted.get_prediction(X[:1]).response_assumption
    persons = tacit.LinearRegression(**settings, max_rows_per_unit=2)
    persons.fit(X, y, units=np.arange(400) // 2)
    assert "person" in persons.get_prediction(X[:1]).response_assumption


def test_other_families_are_refused() -> None:
    X, y = sample(400)
    model = tacit.HuberRegressor(**EXACT, y_bounds=(-20, 20)).fit(X, y)
    found = model.get_prediction(X[:2])
    with pytest.raises(SettingError, match="no law of responses"):
        found.response_int()
    assert "obs_ci_lower" not in found.summary_frame()


def test_a_missing_row_stays_missing() -> None:
    X, y = sample(400)
    model = tacit.LinearRegression(**EXACT, y_bounds=(-20, 20)).fit(X, y)
    rows = np.array([[1.0, np.nan, 0.0], [1.0, 0.0, 0.0]])
    found = model._results().get_prediction(rows, lambda margins: margins)
    ends = found.response_int()
    assert np.isnan(ends[0]).all()
    assert np.isfinite(ends[1]).all()
