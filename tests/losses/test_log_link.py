"""Gamma and negative binomial losses: derivatives, constants, weights, and the mean that a cut takes off."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import integrate, stats

from tacit.losses import log_link, poisson
from tacit.losses.loss import Loss
from tests.losses.loss_identities import Case, check_derivatives, compiled

ALPHA, LARGEST = 0.5, 40.0
GAMMA = log_link.gamma(-3.0, 5.0, LARGEST)
COUNTS = log_link.negative_binomial(ALPHA, 5.0, LARGEST)


def negative_binomial(z: Any, y: float) -> Any:
    a = mpmath.mpf(ALPHA)
    return (y + 1 / a) * mpmath.log(1 + a * mpmath.exp(z)) - y * z


def test_slope_and_curvature_are_derivatives_of_the_quasi_likelihood() -> None:
    ends = (-2.9, 4.9)
    check_derivatives(Case(GAMMA, lambda z, y: z + y * mpmath.exp(-z), (0.01, 1.0, LARGEST), ends=ends))
    check_derivatives(Case(COUNTS, negative_binomial, (0.0, 3.0, LARGEST), ends=ends))


def test_without_dispersion_it_is_poissons() -> None:
    z = np.linspace(-4, 3, 57)
    nearly = log_link.negative_binomial(1e-14, 5.0, LARGEST)
    np.testing.assert_allclose(compiled(nearly, z, 3.0), compiled(poisson.loss(5.0, LARGEST), z, 3.0), rtol=1e-10)


@pytest.mark.parametrize(
    "loss",
    [
        GAMMA,
        COUNTS,
        log_link.weighted(GAMMA, 2.0, 1.1, LARGEST, top=1.3, ratio=4.0),
        log_link.weighted(COUNTS, 2.0, 2.0, LARGEST, top=0.8, ratio=2.0),
        log_link.narrowed(GAMMA, -1.0, 2.0, LARGEST),
    ],
    ids=lambda loss: loss.name,
)
def test_bounds_hold_at_any_margin_and_are_near(loss: Loss) -> None:
    z = np.concatenate([np.linspace(-12, 8, 4001), [-1e300, -800.0, 800.0, 1e300]])
    pairs = [compiled(loss, z, y) for y in (0.0, 1e-9, 1.0, 7.0, LARGEST)]
    slope = np.abs(np.concatenate([pair[0] for pair in pairs]))
    curvature = np.concatenate([pair[1] for pair in pairs])
    assert loss.lipschitz * (1 - 1e-2) <= slope.max() <= loss.lipschitz
    assert curvature.min() >= 0.0
    assert loss.smoothness / 2 <= curvature.max() <= loss.smoothness


@pytest.mark.parametrize("rate", [0.2, 2.0, 9.0])
def test_a_weighted_slope_has_mean_zero_at_the_right_mean(rate: float) -> None:
    loss = log_link.weighted(COUNTS, 2.0, 2.0, LARGEST, top=0.8, ratio=2.0)
    counts = np.arange(3000)
    for law in (stats.poisson(rate), stats.nbinom(1.5, 1.5 / (1.5 + rate))):
        mean = sum(law.pmf(k) * compiled(loss, np.array([math.log(rate)]), float(k))[0][0] for k in counts)
        assert abs(mean) < 1e-8
    curvature, variance = log_link.expected_parts(loss, np.array([math.log(rate)]))
    own = rate / (1 + ALPHA * rate)
    assert curvature[0] == pytest.approx(min(own, 0.8))
    assert variance[0] == pytest.approx(min(1, 0.8 / own) ** 2 * own)


@pytest.mark.parametrize("shape", [0.4, 1.0, 2.0, 30.0])
def test_the_mean_curvature_of_a_gamma_law_is_that_without_a_cut(shape: float) -> None:
    law = stats.gamma(shape, scale=1 / shape)
    spread = integrate.quad(lambda g: abs(g - 1) * law.pdf(g), 0, 1)[0] * 2
    for ratio in (1.75, 4.0):
        kept = integrate.quad(lambda g: g * law.pdf(g), 0, ratio)[0] + ratio * law.sf(ratio)
        assert log_link.kept_mean(spread, ratio) == pytest.approx(kept, rel=1e-3)


def test_deviations_that_no_gamma_law_has_are_cut() -> None:
    assert log_link.kept_mean(0.0, 2.0) == pytest.approx(1.0)
    assert 0.0 < log_link.kept_mean(50.0, 2.0) < log_link.kept_mean(1.0, 2.0) < 1.0


def test_units_of_slopes_and_curvatures() -> None:
    assert log_link.expected_curvature(GAMMA, 7.0) == 1.0
    assert log_link.slope_unit(GAMMA, 7.0) == 7.0
    assert log_link.expected_curvature(COUNTS, 2.0) == pytest.approx(1.0)
    assert log_link.curvature_bound(GAMMA, 3.0) == 4.0
