"""Probit and complementary log-log losses: derivatives, constants, weights, and their levels."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.losses import links
from tacit.losses.dispatch import larger_slopes, shape_of
from tacit.losses.loss import Code, Loss
from tests.losses.loss_identities import Case, check_derivatives, check_signs, compiled

CASES = {
    "probit": Case(links.PROBIT, lambda z, y: -mpmath.log(mpmath.ncdf(z if y else -z)), (0.0, 1.0), ends=(-7.9, 7.9)),
    "cloglog": Case(
        links.CLOGLOG,
        lambda z, y: -mpmath.log(1 - mpmath.exp(-mpmath.exp(z))) if y else mpmath.exp(z),
        (0.0, 1.0),
        ends=(-20.0, 3.4),
    ),
}
FAR = np.array([-1e300, -800.0, -30.0, 30.0, 800.0, 1e300])
LAWS = {Code.PROBIT: stats.norm.cdf, Code.CLOGLOG: lambda z: -np.expm1(-np.exp(z))}


@pytest.mark.parametrize("name", CASES)
def test_slope_and_curvature_are_derivatives_of_the_log_likelihood(name: str) -> None:
    case = CASES[name]
    with mpmath.workdps(40):
        for y in case.labels:
            z = case.smooth_margins(y)
            slope, curvature = compiled(case.loss, z, y)
            expected = [
                [float(mpmath.diff(lambda t: case.formula(t, y), mpmath.mpf(float(at)), order)) for at in z]  # noqa: B023
                for order in (1, 2)
            ]
            np.testing.assert_allclose(slope, expected[0], rtol=1e-13)
            np.testing.assert_allclose(curvature, expected[1], rtol=1e-11)
    check_signs(case)


def test_the_probit_value_has_these_derivatives() -> None:
    check_derivatives(Case(links.PROBIT, CASES["probit"].formula, (0.0, 1.0), ends=(-4.0, 4.0)))


@pytest.mark.parametrize("loss", [links.PROBIT, links.CLOGLOG, links.weighted(links.PROBIT, 1.7, 0.4)])
def test_bounds_hold_at_any_margin(loss: Loss) -> None:
    z = np.concatenate([np.linspace(-40, 40, 4001), FAR])
    for y in (0.0, 1.0):
        slope, curvature = compiled(loss, z, y)
        assert np.abs(slope).max() <= loss.lipschitz
        assert 0.0 <= curvature.min() <= curvature.max() <= loss.smoothness
    steepest = max(np.abs(compiled(loss, z, y)[0]).max() for y in (0.0, 1.0))
    assert steepest >= loss.lipschitz * (1 - 1e-4)


@pytest.mark.parametrize("plain", [links.PROBIT, links.CLOGLOG])
def test_a_weighted_slope_has_mean_zero_wherever_the_model_is_right(plain: Loss) -> None:
    loss = links.weighted(plain, 3.0, 0.5)
    z = np.linspace(-5, 2, 141)
    chance = LAWS[plain.code](z)
    zero, one = (compiled(loss, z, y)[0] for y in (0.0, 1.0))
    np.testing.assert_allclose((1 - chance) * zero + chance * one, 0.0, atol=1e-14)
    # The weight is one number for both labels, and 1 where nothing is large.
    ratios = [compiled(loss, z, y)[0] / compiled(plain, z, y)[0] for y in (0.0, 1.0)]
    np.testing.assert_allclose(ratios[0], ratios[1], rtol=1e-12)
    assert ratios[0].max() == 1.0 > ratios[0].min()


@pytest.mark.parametrize("plain", [links.PROBIT, links.CLOGLOG])
def test_expected_parts_are_means_over_the_labels(plain: Loss) -> None:
    loss = links.weighted(plain, 1.3, 0.35)
    z = np.linspace(-4, 1.5, 56)
    chance = LAWS[plain.code](z)
    slopes = [compiled(loss, z, y)[0] for y in (0.0, 1.0)]
    curvature, variance = links.expected_parts(loss, z)
    np.testing.assert_allclose(variance, (1 - chance) * slopes[0] ** 2 + chance * slopes[1] ** 2, rtol=1e-10)
    np.testing.assert_allclose(
        curvature, variance / (compiled(loss, z, 0.0)[0] / compiled(plain, z, 0.0)[0]), rtol=1e-10
    )


@pytest.mark.parametrize("code", [Code.LOGISTIC, Code.PROBIT, Code.CLOGLOG])
def test_levels_and_units(code: Code) -> None:
    for share in (0.01, 0.5, 0.97):
        z = links.margin_of(code, share)
        law = LAWS.get(code, lambda at: 1 / (1 + np.exp(-at)))
        assert law(z) == pytest.approx(share, rel=1e-12)
        steepest, expected = links.level_parts(code, share)
        slope = (law(z + 1e-6) - law(z - 1e-6)) / 2e-6
        assert expected == pytest.approx(slope**2 / (share * (1 - share)), rel=1e-6)
        assert steepest == pytest.approx(slope / min(share, 1 - share), rel=1e-6)
    # In logits even labels have the slope 1/2 of the logistic loss.
    assert links.level_parts(code, 0.5)[0] / links.unit(code) == pytest.approx(0.5)


@pytest.mark.parametrize("code", [Code.PROBIT, Code.CLOGLOG])
def test_chances_stay_within_0_and_1(code: Code) -> None:
    chance = links.probability(code, np.concatenate([np.linspace(-9, 4, 27), FAR]))
    assert 0.0 <= chance.min() <= chance.max() <= 1.0
    assert not np.isnan(chance).any()


@pytest.mark.parametrize("loss", [links.PROBIT, links.weighted(links.CLOGLOG, 2.0, 0.5)])
def test_the_larger_slope_is_that_of_either_label(loss: Loss) -> None:
    z = np.linspace(-5, 3, 64)
    both = [np.abs(compiled(loss, z, y)[0]) for y in (0.0, 1.0)]
    out = np.empty(64)
    larger_slopes(int(loss.code), shape_of(loss), z, np.ones(64), np.zeros(64), out)
    np.testing.assert_allclose(out, np.maximum(*both), rtol=1e-12)
