"""Variances without noise: the formulas, entry by entry, HC0, and what they do at the edges."""

from typing import Any

import numpy as np
import pytest

from tacit import Budget, LogisticRegression
from tacit.errors import SettingError
from tacit.inference.covariance import Covariance
from tacit.inference.results import Results

TRUTH = np.array([0.3, 0.8, -0.6])


def test_scatter_and_covariance_are_the_formula(make_release: Any) -> None:
    sandwich = make_release().sandwich
    spread = Covariance.of(sandwich, 500)
    combinations = np.vstack([np.eye(4), [[1.0, -1.0, 0.0, 2.0]]])
    U = np.linalg.inv(sandwich.curvature) @ sandwich.to_user.T
    full = U.T @ sandwich.score @ U / 500
    found = spread.scatter(combinations)
    np.testing.assert_allclose(found.sampling, np.diag(combinations @ full @ combinations.T), rtol=1e-9)
    assert found.privacy.tolist() == [0.0] * 5
    assert np.isinf(found.degrees).all()
    np.testing.assert_allclose(spread.covariance(), full, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(spread.covariance(sampling_only=True), spread.covariance())
    np.testing.assert_allclose(spread.joint(combinations), combinations @ full @ combinations.T, rtol=1e-9, atol=1e-15)


def test_without_noise_it_is_hc0_and_normal(twins: Any) -> None:
    found = Results(twins.ours.release_).coefficients
    np.testing.assert_allclose(found.std_errors, twins.theirs.bse, rtol=1e-6)
    assert np.isinf(found.degrees).all()
    theirs = twins.theirs.cov_params()
    scale = np.outer(twins.theirs.bse, twins.theirs.bse)
    np.testing.assert_allclose(twins.ours.cov_params() / scale, theirs / scale, atol=1e-6)


def test_t39_pooled_coverage_is_nominal() -> None:
    """120 samples of 1500 at μ = 1, bounds ±8: 360 intervals at 95%.

    If they cover with probability 0.95, fewer than 315 or more than 358 hits have a probability
    below 1e-6 even if the three intervals of a sample always hit or miss together in threes.
    """
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(120):
        X = rng.normal(size=(1500, 2))
        y = rng.random(1500) < 1 / (1 + np.exp(-(TRUTH[0] + X @ TRUTH[1:])))
        model = LogisticRegression(budget=Budget(mu=1.0), bounds=(-8, 8), inference=True)
        ends = model.fit(X, y.astype(int)).conf_int().to_numpy()
        hits += int(((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)).sum())
    assert 315 <= hits <= 358


@pytest.mark.parametrize("epsilon", [2.0, np.inf])
def test_a_singular_design_has_an_answer_of_the_same_shape(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 1))
    X = np.hstack([x, -x, np.zeros_like(x)])
    y = (rng.random(4000) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    model = LogisticRegression(epsilon=epsilon, bounds=(-6, 6), inference=True).fit(X, y)
    assert model.conf_int().shape == (4, 2)
    assert not np.isnan(model.conf_int().to_numpy()).any()
    assert np.isfinite(model.params.tolist()).all()
    assert not np.isnan(model.bse.tolist()).any()
    assert model.summary().notes
    if np.isinf(epsilon):
        assert np.isfinite(model.bse.tolist()).all()
        assert model.summary().statement == "approximate"
        assert 0.0 <= model.wald_test(["x0", "x1"]).pvalue <= 1.0
        return
    # Noise hides how x0 and x1 differ, and the column of zeros.
    words = dict(zip(model.params.index, Results(model.release_).coefficients.statements, strict=True))
    assert words["x0"] == words["x1"] == words["x2"] == "withheld"
    assert np.isinf(model.conf_int().to_numpy()[1:]).all()
    with pytest.raises(SettingError, match="withheld"):
        model.wald_test(["x0", "x1"])
