"""The weighted score for counts: its formula, its mean, its bounds."""

import math

import numpy as np
import pytest
from scipy import stats

from tacit.losses import poisson
from tests.losses.loss_identities import compiled

MEAN, TOP, LARGEST = 2.0, 3.0, 40.0
LOSS = poisson.weighted(MEAN, TOP, LARGEST)
Z = np.linspace(math.log(MEAN) - 7.9, math.log(MEAN) + 3.9, 237)


@pytest.mark.parametrize("count", [0.0, 1.0, 7.0, LARGEST])
def test_slope_and_curvature_are_those_of_the_weighted_rate(count: float) -> None:
    rate = np.exp(Z)
    slope, curvature = compiled(LOSS, Z, count)
    np.testing.assert_allclose(slope, np.minimum(1, TOP / rate) * (rate - count), rtol=1e-12)
    np.testing.assert_allclose(curvature, np.minimum(rate, TOP), rtol=1e-12)


def test_below_the_top_it_is_the_poisson_score() -> None:
    z = Z[np.exp(Z) < TOP]
    np.testing.assert_allclose(compiled(LOSS, z, 3.0), compiled(poisson.loss(9.0, LARGEST), z, 3.0), rtol=1e-12)


@pytest.mark.parametrize("rate", [0.1, 2.0, 3.0, 8.0, 60.0])
def test_its_mean_is_zero_at_the_right_rate_whatever_the_law(rate: float) -> None:
    """Poisson and overdispersed counts: weights depend on the rate alone."""
    counts = np.arange(2000)
    for law in (stats.poisson(rate), stats.nbinom(1.5, 1.5 / (1.5 + rate))):
        mean = sum(law.pmf(k) * compiled(LOSS, np.array([math.log(rate)]), float(k))[0][0] for k in counts)
        assert abs(mean) < 1e-9


def test_bounds_are_attained_and_not_exceeded_at_any_margin() -> None:
    z = np.concatenate([Z, [-1e300, -800.0, 800.0, 1e300]])
    pairs = [compiled(LOSS, z, count) for count in (0.0, 1.0, LARGEST)]
    slopes = np.abs(np.concatenate([pair[0] for pair in pairs]))
    curvatures = np.concatenate([pair[1] for pair in pairs])
    assert slopes.max() == pytest.approx(LOSS.lipschitz, rel=1e-3)
    assert slopes.max() <= LOSS.lipschitz
    assert curvatures.max() == LOSS.smoothness == TOP
    assert curvatures.min() >= 0.0
