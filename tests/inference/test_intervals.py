"""Intervals: equal to the known sandwich without noise, and covering with it."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.typing import NDArray

from tacit import Budget, LogisticRegression
from tacit.errors import SettingError
from tacit.inference.intervals import intervals, relative_noise
from tacit.problem.release import Release, Sandwich

TRUTH = np.array([0.3, 0.8, -0.6])
Sample = tuple[NDArray[np.float64], NDArray[np.int64]]


def sample(rng: np.random.Generator, count: int) -> Sample:
    X = rng.normal(size=(count, 2))
    margin = TRUTH[0] + X @ TRUTH[1:]
    return X, (rng.random(count) < 1 / (1 + np.exp(-margin))).astype(np.int64)


def test_without_noise_they_are_the_hc0_sandwich() -> None:
    X, y = sample(np.random.default_rng(1), 3000)
    model = LogisticRegression(epsilon=np.inf, bounds=(-6, 6), inference=True).fit(X, y)
    known = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit(cov_type="HC0")
    found = intervals(model.release_)
    np.testing.assert_allclose(found.std_errors, known.bse, rtol=1e-4)
    np.testing.assert_allclose(model.conf_int(), known.conf_int(), rtol=1e-3, atol=1e-4)


def test_t39_pooled_coverage_is_nominal() -> None:
    """120 samples of 1500 at μ = 1, bounds ±8: 360 intervals at 95%.

    If they cover with probability 0.95, fewer than 315 or more than 358 hits have a probability
    below 1e-6 even if the three intervals of a sample always hit or miss together in threes.
    """
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(120):
        X, y = sample(rng, 1500)
        model = LogisticRegression(budget=Budget(mu=1.0), bounds=(-8, 8), inference=True)
        ends = model.fit(X, y).conf_int()
        hits += int(((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)).sum())
    assert 315 <= hits <= 358


def fitted(level_of_noise: float = 1.0) -> Release:
    X, y = sample(np.random.default_rng(3), 2000)
    budget = Budget(mu=level_of_noise)
    model = LogisticRegression(budget=budget, bounds=(-8, 8), inference=True).fit(X, y)
    release: Release = model.release_
    return release


def test_levels_nest_and_bad_levels_are_refused() -> None:
    release = fitted()
    narrow, wide = intervals(release, 0.5), intervals(release, 0.99)
    assert (narrow.lower > wide.lower).all()
    assert (narrow.upper < wide.upper).all()
    for level in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(SettingError):
            intervals(release, level)


def test_statement_is_nominal_only_where_it_was_measured() -> None:
    assert intervals(fitted(1.0)).statement == "nominal"
    with pytest.warns(UserWarning, match="small"):
        weak = fitted(0.005)
    assert intervals(weak).statement == "approximate"
    assert np.isfinite(intervals(weak).std_errors).all()


def test_a_fit_that_did_not_pay_has_no_intervals() -> None:
    X, y = sample(np.random.default_rng(4), 2000)
    model = LogisticRegression(epsilon=1.0, bounds=(-8, 8)).fit(X, y)
    with pytest.raises(SettingError, match="inference=True"):
        model.conf_int()
    assert "std err" not in str(model.summary())


def test_summary_shows_what_was_paid_for() -> None:
    X, y = sample(np.random.default_rng(5), 2000)
    model = LogisticRegression(epsilon=1.0, bounds=(-8, 8), inference=True).fit(X, y)
    text = str(model.summary())
    assert "std err" in text
    assert "replace-one" in text
    assert "Intercept" in text


def test_relative_noise() -> None:
    matrix = np.diag([0.2, 0.1])
    kept = Sandwich(matrix, matrix, np.eye(2), False, False, 0.0, 0.05, 0.0)
    assert relative_noise(kept) == pytest.approx(1.0)
    assert relative_noise(Sandwich(matrix, matrix, np.eye(2), False, False, 0.0, 0.0, 0.0)) == 0.0


def test_intervals_are_refused_with_a_penalty() -> None:
    model = LogisticRegression(epsilon=1.0, bounds=(0, 1), inference=True, l2=0.1)
    with pytest.raises(SettingError, match="l2"):
        model.plan(1000, 3)
