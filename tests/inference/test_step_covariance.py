"""Variances after one step with hidden directions: the formulas, their limits, the joint law."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit
from tacit.contract.plan import Plan
from tacit.contract.release import Sandwich
from tacit.inference.step_covariance import StepCovariance
from tacit.solvers.interval_rules import RELIABILITY

WIDTH = 4
STEP = np.array([0.05, -0.02, 0.01, 0.0])


@cache
def planned() -> Plan:
    model = tacit.LogisticRegression(epsilon=3.0, bounds=(-1, 1), inference=True)
    plan: Plan = model.plan(2000, WIDTH - 1)
    return plan


def sandwich(**numbers: Any) -> Sandwich:
    """Eigenvalues of 0.1 to 0.25 in turned axes, a little noise, nothing hidden."""
    rng = np.random.default_rng(3)
    axes = np.linalg.qr(rng.normal(size=(WIDTH, WIDTH)))[0]
    half = rng.normal(size=(WIDTH, WIDTH)) / 8
    plain = Sandwich(
        curvature=(axes * [0.02, 0.1, 0.18, 0.25]) @ axes.T,
        score=0.15 * np.eye(WIDTH) + half @ half.T,
        to_user=np.eye(WIDTH) + rng.normal(size=(WIDTH, WIDTH)) / 5,
        lifted=False,
        capped=False,
        step_noise=0.004,
        curvature_noise=0.003,
        score_noise=0.02,
        level=0.5,
        step=STEP,
        visible=0.01,
        bias=0.001,
        pilot_error=0.002,
        hidden_size=0.7,
        asymmetry=0.0,
    )
    return replace(plain, **numbers)


def of(**numbers: Any) -> StepCovariance:
    return StepCovariance(sandwich(**numbers), planned())


HIDING = {"visible": 0.05}
"""The smallest of the eigenvalues, 0.02, is below it."""
WAYS = np.array([[1.0, 0, 0, 0], [0, 1, -1, 0], [0.3, 0.2, 0.1, 2.0]])


@pytest.mark.parametrize("hiding", [False, True])
def test_variances_are_those_of_the_formula(hiding: bool) -> None:
    """V₀ and V written out, one combination at a time."""
    kept = sandwich(**(HIDING if hiding else {}))
    found = StepCovariance(kept, planned()).scatter(WAYS)
    values, vectors = np.linalg.eigh(kept.curvature)
    seen, hidden = vectors[:, int(hiding) :], vectors[:, : int(hiding)]
    spare = 2000 - WIDTH
    for way, sampling, privacy, degrees in zip(WAYS, found.sampling, found.privacy, found.degrees, strict=True):
        a = kept.to_user.T @ way
        u = seen @ ((seen.T @ a) / values[int(hiding) :]) + hidden @ (hidden.T @ a) / kept.visible
        size = float(u @ u)
        own = max(u @ kept.score @ u, kept.score_noise * size / 2) / spare
        error = 0.002 + hidden.shape[1] * 0.7**2
        curved = 0.003**2 / 2 * (size * error + float(u @ STEP) ** 2)
        noise = 0.004**2 * size
        assert sampling == pytest.approx(own, rel=1e-9)
        extra = 0.001**2 * size + float(np.sum((hidden.T @ a) ** 2)) * 0.7**2
        doubled = 2 * curved if curved > RELIABILITY.curvature**2 * (own + noise) else 0.0
        assert privacy == pytest.approx(noise + curved + extra + doubled, rel=1e-9)
        variance = sampling + privacy
        relative = kept.score_noise * size / (variance * spare)
        assert degrees == pytest.approx(1 / (relative**2 / 2 + 1 / spare), rel=1e-9)


@pytest.mark.parametrize("hiding", [False, True])
def test_errors_are_parts_over_standard_errors(hiding: bool) -> None:
    covariance = of(**(HIDING if hiding else {}))
    found, scatter = covariance.errors(WAYS), covariance.scatter(WAYS)
    kept = covariance.sandwich
    values, vectors = np.linalg.eigh(kept.curvature)
    divided = np.where(values >= kept.visible, values, kept.visible)
    for k, way in enumerate(WAYS):
        a = kept.to_user.T @ way
        u = vectors @ ((vectors.T @ a) / divided)
        size, own = float(u @ u), scatter.sampling[k] + 0.004**2 * float(u @ u)
        error = 0.002 + int(hiding) * 0.7**2
        curved = 0.003**2 / 2 * (size * error + float(u @ STEP) ** 2)
        along = float(vectors[:, 0] @ a) ** 2 * 0.7**2 if hiding else 0.0
        assert found.hidden[k] == pytest.approx(np.sqrt(along / (own + curved)), rel=1e-9)
        assert found.bias[k] == pytest.approx(0.001 * np.sqrt(size / (own + curved)), rel=1e-9)
        assert found.curvature[k] == pytest.approx(np.sqrt(curved / own), rel=1e-9)
    assert (found.second_order, found.far) == (0.0, 0.0)


def test_without_noise_it_is_the_plain_sandwich() -> None:
    quiet = of(step_noise=0.0, curvature_noise=0.0, score_noise=0.0, bias=0.0, pilot_error=0.0)
    kept = quiet.sandwich
    inverse = np.linalg.inv(kept.curvature)
    plain = kept.to_user @ inverse @ kept.score @ inverse @ kept.to_user.T / (2000 - WIDTH)
    np.testing.assert_allclose(quiet.covariance(), plain, rtol=1e-9)
    np.testing.assert_allclose(quiet.covariance(sampling_only=True), plain, rtol=1e-9)
    np.testing.assert_allclose(quiet.joint(np.eye(WIDTH)), plain, rtol=1e-9)
    np.testing.assert_allclose(quiet.scatter(np.eye(WIDTH)).degrees, 2000 - WIDTH)


def test_the_diagonal_of_the_covariance_holds_the_variances() -> None:
    for numbers in ({}, HIDING, {"bias": 0.02}, {"asymmetry": 1.0, "pilot_error": 0.9}):
        covariance = of(**numbers)
        found = covariance.scatter(np.eye(WIDTH))
        np.testing.assert_allclose(np.diagonal(covariance.covariance()), found.sampling + found.privacy)
        np.testing.assert_allclose(np.diagonal(covariance.covariance(sampling_only=True)), found.sampling)


def test_each_source_of_error_makes_intervals_wider() -> None:
    plain = of().scatter(WAYS)
    for numbers in (
        {"step_noise": 0.01},
        {"curvature_noise": 0.02},
        {"bias": 0.01},
        {"pilot_error": 1.0, "curvature_noise": 0.02},
        {"step": 10 * STEP},
        HIDING,
    ):
        assert (of(**numbers).scatter(WAYS).privacy > plain.privacy).all(), numbers
    assert (of(score_noise=1.0).scatter(WAYS).degrees < plain.degrees).all()
    # A score below its noise is not believed.
    assert (of(score=0 * np.eye(WIDTH)).scatter(WAYS).sampling > 0).all()


def test_a_long_step_of_a_skewed_score_widens_and_of_least_squares_does_not() -> None:
    far = {"pilot_error": (1.05 * RELIABILITY.far) ** 2}
    straight, skewed = of(**far), of(**far, asymmetry=1.0)
    assert straight.errors(WAYS).far == 0.0
    assert skewed.errors(WAYS).far == pytest.approx(1.05 * RELIABILITY.far)
    assert (skewed.scatter(WAYS).privacy > straight.scatter(WAYS).privacy).all()
    near = of(pilot_error=1e-9, asymmetry=1.0)
    assert near.errors(WAYS).second_order < RELIABILITY.second_order
    np.testing.assert_allclose(near.scatter(WAYS).privacy, of(pilot_error=1e-9).scatter(WAYS).privacy)


def test_the_second_order_bias_grows_with_the_error_of_the_pilot_and_the_skewness() -> None:
    def bias(**numbers: Any) -> float:
        return of(**numbers).errors(WAYS).second_order

    assert bias(asymmetry=1.0) == pytest.approx(2 * bias(asymmetry=0.5))
    assert bias(asymmetry=1.0, pilot_error=0.004) == pytest.approx(2 * bias(asymmetry=1.0))


def test_nothing_visible_has_numbers_all_the_same() -> None:
    nothing = of(visible=10.0, asymmetry=1.0)
    assert not nothing.any_visible
    assert of().any_visible
    found = nothing.errors(WAYS)
    assert np.isinf(found.second_order)
    assert (found.hidden > 1).all()
    assert np.isfinite(nothing.joint(np.eye(WIDTH))).all()


def test_a_zero_combination_and_zero_matrices_are_no_crash() -> None:
    zeros = np.zeros((1, WIDTH))
    assert np.isfinite(of().scatter(zeros).privacy).all()
    flat = of(curvature=np.zeros((WIDTH, WIDTH)), score=np.zeros((WIDTH, WIDTH)))
    assert (flat.scatter(WAYS).sampling > 0).all()
    assert np.isfinite(flat.covariance()).all()


@pytest.mark.parametrize("numbers", [{}, HIDING, {"score_noise": 3.0}, {"score": -np.eye(WIDTH)}])
def test_joint_covariances_are_positive_whatever_the_noise_of_the_score(numbers: dict[str, Any]) -> None:
    covariance = of(**numbers)
    for ways in (np.eye(WIDTH), WAYS, WAYS[:1]):
        values = np.linalg.eigvalsh(covariance.joint(ways))
        assert values.min() > 0


def test_the_score_is_shrunk_to_the_curvature_by_what_noise_explains() -> None:
    quiet, noisy = of(score_noise=0.0), of(score_noise=1e6)
    np.testing.assert_allclose(quiet._shrunk(quiet.sandwich.score), quiet.sandwich.score)
    shrunk = noisy._shrunk(noisy.sandwich.score)
    curvature = noisy.sandwich.curvature
    ratio = float(np.sum(shrunk * curvature) / np.sum(curvature**2))
    np.testing.assert_allclose(shrunk, ratio * curvature, rtol=1e-9)


def test_without_noise_of_the_score_the_simulated_tail_is_that_of_chi_square() -> None:
    """400 public draws: a share of 0.05 has a deviation of 0.011, and 5 deviations are 0.055."""
    quiet = of(score_noise=0.0)
    for count in (2, 4):
        ways = np.eye(WIDTH)[:count]
        for statistic in (0.5, 2.0, 6.0):
            expected = float(stats.chi2(count).sf(statistic))
            deviation = np.sqrt(expected * (1 - expected) / RELIABILITY.draws)
            found = quiet.simulated_tail(ways, statistic)
            assert abs(found - expected) < 5 * deviation + 0.003
    assert quiet.simulated_tail(np.eye(WIDTH), 1e9) == 1 / (RELIABILITY.draws + 1)
    assert quiet.simulated_tail(np.eye(WIDTH), 0.0) == 1.0


def test_noise_of_the_score_makes_the_tail_heavier() -> None:
    statistic = float(stats.chi2(WIDTH).isf(0.02))
    quiet = of(score_noise=0.0, step_noise=0.0).simulated_tail(np.eye(WIDTH), statistic)
    noisy = of(score_noise=0.2, step_noise=0.0).simulated_tail(np.eye(WIDTH), statistic)
    assert noisy > quiet + 0.01


def test_simulated_tails_are_the_same_whenever_they_are_asked_for() -> None:
    ways = np.eye(WIDTH)
    assert of().simulated_tail(ways, 5.0) == of().simulated_tail(ways, 5.0)


def test_a_curvature_near_its_noise_beside_clear_ones_is_faint() -> None:
    """The noise norm is 0.003·√8 = 0.0085, three of them 0.025: an eigenvalue of 0.02 is below, and 0.25 / 3 above."""
    axes, plain = np.eye(WIDTH), np.diag([0.02, 0.1, 0.18, 0.25])
    found = of(curvature=plain, to_user=axes, asymmetry=1.0).errors(axes).faint
    assert found.tolist() == [True, False, False, False]
    assert not of(curvature=plain, to_user=axes, asymmetry=0.0).errors(axes).faint.any()
    # Where all are as small, none is: noise then says nothing against one of them.
    assert not of(curvature=0.02 * axes, to_user=axes, asymmetry=1.0).errors(axes).faint.any()
    assert not of(curvature=plain, to_user=axes, asymmetry=1.0, curvature_noise=0.002).errors(axes).faint.any()
