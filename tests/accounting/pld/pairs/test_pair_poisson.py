import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from tacit.accounting import pld
from tacit.accounting.pld.pairs.bounded_loss import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian
from tacit.accounting.pld.pairs.pair import Direction, Pair, PoissonPair
from tacit.errors import SettingError


def _laplace_delta(epsilon: float, rate: float, direction: str) -> float:
    """Hockey-stick divergence of mixed Laplace densities by quadrature."""

    def difference(x: float) -> float:
        plain, moved = 0.5 * math.exp(-abs(x)), 0.5 * math.exp(-abs(x - 1.0))
        mixed = (1.0 - rate) * plain + rate * moved
        pair = (mixed, plain) if direction == "remove" else (plain, mixed)
        return max(pair[0] - math.exp(epsilon) * pair[1], 0.0)

    knots = np.linspace(-1.0, 2.0, 31)
    inner = sum(integrate.quad(difference, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(knots))
    tails = integrate.quad(difference, -40.0, -1.0)[0] + integrate.quad(difference, 2.0, 40.0)[0]
    return float(inner + tails)


@pytest.mark.parametrize("rate", [0.01, 0.3, 0.99])
@pytest.mark.parametrize("epsilon", [0.0, 0.002, 0.1])
def test_one_sampled_laplace_release_has_the_profile_of_its_densities(rate: float, epsilon: float) -> None:
    exact = max(_laplace_delta(epsilon, rate, "remove"), _laplace_delta(epsilon, rate, "add"))
    lower, upper = pld.compose([(PoissonPair(LaplacePair(1.0), rate), 1)]).delta(epsilon)
    assert lower - 1e-9 <= exact <= upper + 1e-9
    assert upper <= exact * 1.01 + 1e-6


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_over_a_gaussian_base_it_is_the_sampled_gaussian(direction: Direction) -> None:
    points = np.linspace(-0.5, 2.0, 41)
    found = PoissonPair(GaussianPair(1.5), 0.2).smooth(direction, points)
    known = PoissonGaussian(1.5, 0.2).smooth(direction, points)
    for mine, theirs in zip(found, known, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("base", [LaplacePair(1.0), RandomisedResponse(0.7), ExponentialPair(1.2)])
def test_masses_of_both_distributions_are_one(base: Pair, direction: Direction) -> None:
    pair = PoissonPair(base, 0.3)
    losses, masses = pair.atoms(direction)
    first, second = pair.smooth(direction, np.array([-np.inf]))
    assert float(first[0] + masses.sum()) == pytest.approx(1.0, abs=1e-12)
    assert float(second[0] + (masses * np.exp(-losses)).sum()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, math.nan])
def test_rates_without_a_sample_are_refused(rate: float) -> None:
    with pytest.raises(SettingError):
        PoissonPair(LaplacePair(1.0), rate)


def test_bases_that_are_not_symmetric_or_leak_are_refused() -> None:
    with pytest.raises(SettingError):
        PoissonPair(PoissonGaussian(1.0, 0.1), 0.5)
    with pytest.raises(SettingError):
        PoissonPair(RandomisedResponse(1.0, 0.1), 0.5)
