"""Variances and degrees of freedom: the formulas, entry by entry, and what they do at the edges."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import Budget, LogisticRegression
from tacit.contract.release import Release, Sandwich
from tacit.errors import SettingError
from tacit.inference.covariance import Covariance, Scatter, relative_noise
from tacit.inference.results import Results

TRUTH = np.array([0.3, 0.8, -0.6])


def spread_of(release: Release, *, safe: bool) -> Covariance:
    assert release.sandwich is not None
    return Covariance.of(release.sandwich, release, safe=safe)


def by_hand(release: Release, c: NDArray[np.float64], *, safe: bool) -> tuple[float, float, float]:
    """The formulas of the module's first lines, one combination at a time."""
    s = release.sandwich
    assert s is not None
    spare = release.plan.records - release.plan.design.width
    M = np.linalg.inv(s.curvature)
    u = M @ s.to_user.T @ c
    length = float(u @ u)
    sampling = max(float(u @ s.score @ u), 0.5 * s.score_noise * length) / spare
    privacy = s.step_noise**2 * length + float(np.sum(c * s.nuisance_error)) ** 2
    total = sampling + privacy
    inverse = s.score_noise**2 * length**2 / (2 * total**2 * spare**2) + 1 / spare
    if safe:
        b = M @ (s.score / spare + s.step_noise**2 * np.eye(len(u))) @ u
        inverse += s.curvature_noise**2 * (length * float(b @ b) + float(u @ b) ** 2) / total**2
    return sampling, privacy, 1 / inverse


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("numbers", [{}, {"score_noise": 5.0}, {"nuisance_error": np.full(4, 0.1)}])
def test_scatter_is_the_formula(numbers: dict[str, Any], safe: bool, make_release: Any, altered: Any) -> None:
    release = altered(make_release(), **numbers)
    combinations = np.vstack([np.eye(4), [[1.0, -1.0, 0.0, 2.0]]])
    found = spread_of(release, safe=safe).scatter(combinations)
    for place, row in enumerate(combinations):
        expected = by_hand(release, row, safe=safe)
        seen = (found.sampling[place], found.privacy[place], found.degrees[place])
        assert seen == pytest.approx(expected, rel=1e-9)


def test_covariance_has_the_variances_and_the_formula_beside_them(make_release: Any, altered: Any) -> None:
    release = altered(make_release(), nuisance_error=np.array([0.1, 0.0, 0.05, 0.0]))
    s = release.sandwich
    assert s is not None
    spread = spread_of(release, safe=False)
    U = np.linalg.inv(s.curvature) @ s.to_user.T
    spare = release.plan.records - 4
    full = U.T @ (s.step_noise**2 * np.eye(4) + s.score / spare) @ U + np.outer(s.nuisance_error, s.nuisance_error)
    np.testing.assert_allclose(spread.covariance(), full, rtol=1e-9, atol=1e-15)
    assert spread.covariance() == pytest.approx(spread.joint(np.eye(4)), rel=1e-9)
    found: Scatter = spread.scatter(np.eye(4))
    np.testing.assert_allclose(np.diag(spread.covariance(sampling_only=True)), found.sampling)


def test_the_floor_holds_in_every_direction_and_the_diagonal_stays_that_of_the_intervals(
    make_release: Any, altered: Any
) -> None:
    release = altered(make_release(), score=np.diag([0.2, -0.1, 0.2, 0.1]), score_noise=0.5)
    spread = spread_of(release, safe=True)
    found = spread.scatter(np.eye(4))
    np.testing.assert_allclose(np.diag(spread.covariance()), found.sampling + found.privacy)
    joint = spread.joint(np.eye(4))
    assert np.linalg.eigvalsh(joint).min() > 0
    rng = np.random.default_rng(0)
    for _ in range(50):
        row = rng.normal(size=(1, 4))
        alone = spread.scatter(row)
        assert (row @ joint @ row.T).item() >= (alone.sampling + alone.privacy)[0] * (1 - 1e-9)
        np.testing.assert_allclose(spread.joint(row), [alone.sampling + alone.privacy], rtol=1e-9)


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
        ends = model.fit(X, y.astype(int)).conf_int()
        hits += int(((ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)).sum())
    assert 315 <= hits <= 358


def test_relative_noise() -> None:
    matrix = np.diag([0.2, 0.1])
    kept = Sandwich(matrix, matrix, np.eye(2), False, False, 0.0, 0.05, 0.0)
    assert relative_noise(kept) == pytest.approx(1.0)
    assert relative_noise(Sandwich(matrix, matrix, np.eye(2), False, False, 0.0, 0.0, 0.0)) == 0.0
    flat = Sandwich(0 * matrix, matrix, np.eye(2), False, False, 0.0, 0.1, 0.0)
    assert relative_noise(flat) == math.inf


@pytest.mark.parametrize("epsilon", [2.0, np.inf])
def test_a_singular_design_has_an_answer_of_the_same_shape(epsilon: float) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4000, 1))
    X = np.hstack([x, -x, np.zeros_like(x)])
    y = (rng.random(4000) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    model = LogisticRegression(epsilon=epsilon, bounds=(-6, 6), inference=True).fit(X, y)
    assert model.conf_int().shape == (4, 2)
    assert not np.isnan(model.conf_int()).any()
    assert np.isfinite(list(model.params.values())).all()
    assert not np.isnan(list(model.bse.values())).any()
    assert model.summary().notes
    if np.isinf(epsilon):
        assert np.isfinite(list(model.bse.values())).all()
        assert model.summary().statement == "approximate"
        assert 0.0 <= model.wald_test(["x0", "x1"]).pvalue <= 1.0
        return
    # Noise hides how x0 and x1 differ, and the column of zeros.
    words = dict(zip(model.params, Results(model.release_).coefficients.statements, strict=True))
    assert words["x0"] == words["x1"] == words["x2"] == "withheld"
    assert np.isinf(model.conf_int()[1:]).all()
    with pytest.raises(SettingError, match="withheld"):
        model.wald_test(["x0", "x1"])


@pytest.mark.parametrize("safe", [False, True])
def test_a_covariance_of_the_steps_stands_in_for_one_step(safe: bool, make_release: Any, altered: Any) -> None:
    """σ² M⁻² given as a matrix is the one-step route; twice the matrix is twice the variance."""
    release = make_release()
    s = release.sandwich
    inverse = np.linalg.inv(s.curvature)
    privacy = s.step_noise**2 * inverse @ inverse
    same = spread_of(altered(release, privacy=privacy, step_noise=99.0), safe=safe)
    plain = spread_of(release, safe=safe)
    combinations = np.random.default_rng(1).normal(size=(3, 4))
    for ours, theirs in zip(
        vars(same.scatter(combinations)).values(), vars(plain.scatter(combinations)).values(), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(same.covariance(), plain.covariance(), rtol=1e-9)
    np.testing.assert_allclose(same.joint(combinations), plain.joint(combinations), rtol=1e-9)
    twice = spread_of(altered(release, privacy=2 * privacy), safe=safe)
    np.testing.assert_allclose(twice.scatter(combinations).privacy, 2 * plain.scatter(combinations).privacy)
