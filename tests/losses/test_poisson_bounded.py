"""The bounded score for counts against sums over negative binomial counts in mpmath."""

import math

import mpmath
import numpy as np
import pytest

from tacit.losses import poisson
from tacit.losses.poisson import CLIP_DEVIATIONS, HEAD, POINTS, expected_clip
from tests.losses.loss_identities import compiled

MEAN, TOP = 2.5, 3.25


def exact_probabilities(rate: float, dispersion: float, last: int) -> list[mpmath.mpf]:
    """P(Y = 0..last) by the ratio of neighbouring terms."""
    m, alpha = mpmath.mpf(rate), mpmath.mpf(dispersion)
    first = mpmath.exp(-m) if dispersion == 0 else (1 + alpha * m) ** (-1 / alpha)
    terms = [first]
    for k in range(last):
        terms.append(terms[-1] * m * (1 + k * alpha) / (1 + alpha * m) / (k + 1))
    return terms


def clip_of(rate: float) -> float:
    return CLIP_DEVIATIONS * max(1.0, math.sqrt(rate))


@pytest.mark.parametrize("dispersion", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("rate", [0.01, 0.9, 2.5, 40.0])
def test_clipped_means_are_sums_over_all_counts(rate: float, dispersion: float) -> None:
    with mpmath.workdps(30):
        law = exact_probabilities(rate, dispersion, 3000)
        clip = clip_of(rate)
        shift = sum(p * min(max(k - rate, -clip), clip) for k, p in enumerate(law))
        inside = sum(p for k, p in enumerate(law) if abs(k - rate) < clip)
    found = expected_clip(np.array([rate]), dispersion)
    assert found[0][0] == pytest.approx(float(shift), rel=1e-9, abs=1e-12)
    assert found[1][0] == pytest.approx(float(inside), rel=1e-9)


@pytest.mark.parametrize("dispersion", [0.0, 0.5])
def test_the_score_is_unbiased_and_the_curvature_has_its_mean(dispersion: float) -> None:
    loss = poisson.bounded(MEAN, dispersion, TOP)
    points = np.linspace(math.log(MEAN) - 8, math.log(MEAN) + 4, POINTS)
    shifts = loss.shape[HEAD : HEAD + POINTS]
    for place in (60, 150, 175, 200):
        rate = math.exp(points[place])
        law = np.array([float(p) for p in exact_probabilities(rate, dispersion, 600)])
        pairs = [compiled(loss, points[place : place + 1], float(k)) for k in range(601)]
        slope, curvature = (np.array([pair[i][0] for pair in pairs]) for i in (0, 1))
        assert abs(law @ slope) < 1e-9
        inside = law[np.abs(np.arange(601) - rate) < clip_of(rate)].sum()
        change = (shifts[place + 1] - shifts[place - 1]) / (points[place + 1] - points[place - 1])
        expected = min(1.0, TOP / rate) * (rate * inside + change)
        assert law @ curvature == pytest.approx(expected, rel=1e-9)


def test_the_slope_has_the_derivative_of_its_formula_between_points() -> None:
    loss = poisson.bounded(MEAN, 0.5, TOP)
    shifts = np.array(loss.shape[HEAD : HEAD + POINTS])
    points = np.linspace(math.log(MEAN) - 8, math.log(MEAN) + 4, POINTS)
    spacing = points[1] - points[0]
    z = points[160:176] + 0.4 * spacing
    step = 1e-6
    rates = np.exp(z)
    assert (np.abs(rates - 2.0) < CLIP_DEVIATIONS).all()
    assert rates.max() < TOP
    ahead, behind = compiled(loss, z + step, 2.0)[0], compiled(loss, z - step, 2.0)[0]
    expected = rates + (shifts[161:177] - shifts[160:176]) / spacing
    np.testing.assert_allclose((ahead - behind) / (2 * step), expected, rtol=1e-6)


@pytest.mark.parametrize("dispersion", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("top", [0.4, 3.25, 30.0])
def test_constants_are_nearly_attained_and_never_exceeded(dispersion: float, top: float) -> None:
    loss = poisson.bounded(MEAN, dispersion, top)
    ends = math.log(MEAN) - 9, math.log(MEAN) + 5
    z = np.concatenate([np.linspace(*ends, 20001), [math.log(top), -1e300, 1e300]])
    labels = (0.0, 1.0, *np.rint(top + np.arange(-1.0, 2.0)), 40.0, 1e6)
    each = [compiled(loss, z, y) for y in labels]
    steepest = max(np.abs(pair[0]).max() for pair in each)
    largest = max(pair[1].max() for pair in each)
    assert loss.lipschitz / (1 + 2e-4) <= steepest <= loss.lipschitz
    assert loss.lipschitz <= poisson.slope_bound(dispersion, top) * (1 + 1e-4)
    assert min(pair[1].min() for pair in each) >= 0
    assert loss.smoothness * 0.98 <= largest <= loss.smoothness
