import math

import mpmath
import pytest

from tacit.accounting import gaussian
from tacit.accounting.pld import GridTooLong
from tacit.accounting.pld.composition import epsilon_of, profile
from tacit.accounting.pld.pairs.bounded_loss import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian


def test_poisson_sample_agrees_with_fifty_digits() -> None:
    for mu, rate, epsilon in ((1.0, 0.01, 0.2), (2.0, 0.3, 3.0), (0.01, 1e-3, 1e-5)):
        lower, upper = profile(PoissonGaussian(mu, rate), "remove", epsilon)
        with mpmath.workdps(50):
            e, m, q = mpmath.mpf(epsilon), mpmath.mpf(mu), mpmath.mpf(rate)
            inner = mpmath.log((mpmath.exp(e) - 1 + q) / q)
            root = mpmath.sqrt(2)
            first = mpmath.erfc((inner / m - m / 2) / root) / 2
            exact = q * (first - mpmath.exp(inner) * mpmath.erfc((inner / m + m / 2) / root) / 2)
        assert lower <= exact <= upper
        assert upper - lower <= 1e-10 * upper + 1e-14


@pytest.mark.parametrize("delta", [0.1, 1e-5, 1e-12])
def test_epsilon_of_a_gaussian_is_the_exact_one(delta: float) -> None:
    lower, upper = epsilon_of(GaussianPair(1.0), "remove", delta)
    exact = gaussian.epsilon(1.0, delta)
    assert lower <= exact * (1 + 1e-10)
    assert upper >= exact * (1 - 1e-10)
    assert upper - lower <= 1e-3 * upper


def test_pure_pairs_end_at_their_largest_loss() -> None:
    for pair in (LaplacePair(0.7), RandomisedResponse(0.7), ExponentialPair(0.7)):
        lower, upper = epsilon_of(pair, "add", 1e-14)
        assert 0.69 < lower <= upper <= 0.7 + 1e-6


def test_leaks_above_delta_are_infinite() -> None:
    assert epsilon_of(RandomisedResponse(0.1, 1e-3), "add", 1e-4) == (math.inf, math.inf)


def test_a_large_delta_needs_no_epsilon() -> None:
    assert epsilon_of(GaussianPair(1.0), "remove", 0.5) == (0.0, 0.0)


def test_losses_beyond_floats_are_refused() -> None:
    with pytest.raises(GridTooLong, match="690"):
        epsilon_of(PoissonGaussian(100.0, 0.5), "remove", 1e-5)
    with pytest.raises(GridTooLong, match="690"):
        profile(GaussianPair(1.0), "remove", 1e3)
