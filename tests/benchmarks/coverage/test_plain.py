"""Estimators without noise, against statsmodels and plain numpy."""

import math

import numpy as np
import pytest
import statsmodels.api as sm

from benchmarks.coverage.cells import Cell, plan_of
from benchmarks.coverage.designs import Design
from benchmarks.coverage.plain import Sample, fit, loss_of, root, sums_of
from tacit.losses import classification, regression


def test_logistic_errors_are_the_sandwich_of_statsmodels() -> None:
    design = Design("logistic", "link", 4)
    X, y = design.draw(3000, np.random.default_rng(2))
    plan = plan_of(Cell("logistic", "link", 3000, 4, 1.0))
    near = np.array([0.55, 1.23, -0.92, 0.77])
    found = fit("logistic", plan, Sample.of(X, y, math.inf), near)
    model = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial())
    expected = model.fit(cov_type="HC0")
    assert found.values == pytest.approx(expected.params, abs=1e-4)
    scale = math.sqrt(3000 / 2996)
    assert found.errors == pytest.approx(expected.bse * scale, rel=1e-3)
    assert found.errors == pytest.approx(found.unweighted)


def test_rows_beyond_the_bound_weigh_less() -> None:
    X, y = Design("linear", "clean", 4).draw(500, np.random.default_rng(3))
    sample, loss = Sample.of(X, y, 2.0), regression.smooth_huber(1.3)
    theta = np.array([0.1, 0.2, 0.3, 0.4])
    found = sums_of(loss, sample, theta)
    weights = np.minimum(1, 4 / np.square(sample.Z).sum(axis=1))
    v = (sample.Z @ theta - y) / 1.3
    slope = weights * 1.3 * 2 * v / (1 + np.sqrt(1 + 4 * v * v))
    q = np.sqrt(1 + 4 * v * v)
    assert found.gradient == pytest.approx(sample.Z.T @ slope)
    assert found.curvature == pytest.approx((sample.Z * (weights * 2 / (q * (1 + q)))[:, None]).T @ sample.Z)
    assert found.score == pytest.approx((sample.Z * (slope**2)[:, None]).T @ sample.Z)


def test_root_is_where_the_score_vanishes() -> None:
    X, y = Design("logistic", "clean", 4).draw(2000, np.random.default_rng(4))
    sample = Sample.of(X, y, 3.0)
    theta = root(classification.LOGISTIC, sample, np.zeros(4))
    assert np.abs(sums_of(classification.LOGISTIC, sample, theta).gradient).max() < 1e-6


def test_overdispersed_counts_have_the_true_rates() -> None:
    """The weighted score has mean zero wherever the rate is right."""
    design = Design("poisson", "spread", 4)
    X, y = design.draw(200_000, np.random.default_rng(5))
    plan = plan_of(Cell("poisson", "spread", 16000, 4, 1.0))
    sample = Sample.of(X, y, 4.0)
    loss = loss_of("poisson", plan, sample)
    found = root(loss, sample, design.coefficients())
    assert np.abs(found - design.coefficients()).max() < 0.02


def test_numbers_have_the_errors_of_least_squares() -> None:
    X, y = Design("linear", "spread", 4).draw(3000, np.random.default_rng(6))
    plan = plan_of(Cell("linear", "spread", 3000, 4, 1.0))
    found = fit("linear", plan, Sample.of(X, y, math.inf), np.zeros(4))
    expected = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC0")
    assert found.values == pytest.approx(expected.params, abs=1e-9)
    assert found.errors == pytest.approx(expected.bse * math.sqrt(3000 / 2996), rel=1e-9)
