import itertools
import math

import numpy as np
import pytest
from scipy import integrate

from tacit.accounting.pld.pairs.bounded_loss import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.pair import Pair
from tacit.errors import SettingError

EPSILONS = (-1.2, -0.4, 0.0, 0.3, 0.69, 1.1)


def profile(pair: Pair, epsilon: float) -> float:
    tail_p, tail_q = pair.smooth("remove", np.array([epsilon]))
    losses, masses = pair.atoms("remove")
    atoms = float(np.sum(masses * np.maximum(-np.expm1(epsilon - losses), 0.0)))
    finite = float(tail_p[0] - math.exp(epsilon) * tail_q[0]) + atoms
    return finite + pair.infinite("remove")


@pytest.mark.parametrize("scale", [0.3, 1.0, 4.0])
def test_laplace_profile_is_the_integral_of_the_densities(scale: float) -> None:
    for epsilon in EPSILONS:

        def excess(x: float, epsilon: float = epsilon) -> float:
            p = 0.5 * scale * math.exp(-scale * abs(x))
            q = 0.5 * scale * math.exp(-scale * abs(x - 1.0))
            return max(p - math.exp(epsilon) * q, 0.0)

        kink = 0.5 * (1 - epsilon / scale)
        points = sorted({0.0, 1.0, min(max(kink, 0.0), 1.0)})
        ends = [-60.0 / scale, *points, 1.0 + 60.0 / scale]
        exact = sum(integrate.quad(excess, a, b, epsabs=1e-12)[0] for a, b in itertools.pairwise(ends))
        assert profile(LaplacePair(scale), epsilon) == pytest.approx(exact, abs=1e-10)


@pytest.mark.parametrize("delta", [0.0, 1e-3, 1.0])
def test_randomised_response_is_the_worst_mechanism(delta: float) -> None:
    pair = RandomisedResponse(0.7, delta)
    truth = (1 - delta) / (1 + math.exp(-0.7))
    assert profile(pair, 0.7) == pytest.approx(delta, abs=1e-15)
    assert profile(pair, 0.0) == pytest.approx(delta + truth * (1 - math.exp(-0.7)), rel=1e-12)
    losses, masses = pair.atoms("add")
    assert masses.sum() == pytest.approx(1 - delta, abs=1e-15)
    # Both distributions have total mass 1, of which Q keeps delta where P has none.
    assert np.sum(masses * np.exp(-losses)) == pytest.approx(1 - delta, abs=1e-15)


def two_point(eta: float, top: float, epsilon: float) -> float:
    """The profile of a pair with losses top and top - eta."""
    high = (1 - math.exp(top - eta)) / (1 - math.exp(-eta))
    value = high * max(0.0, 1 - math.exp(epsilon - top))
    return value + (1 - high) * max(0.0, 1 - math.exp(epsilon - top + eta))


@pytest.mark.parametrize("eta", [0.1, 1.0, 5.0])
def test_exponential_profile_is_the_supremum_over_two_point_pairs(eta: float) -> None:
    pair = ExponentialPair(eta)
    for epsilon in np.linspace(-eta, eta, 23)[1:-1]:
        bound = profile(pair, float(epsilon))
        values = [two_point(eta, top, float(epsilon)) for top in np.linspace(0, eta, 301)[1:-1]]
        assert max(values) <= bound * (1 + 1e-12)
        best = two_point(eta, 0.5 * (float(epsilon) + eta), float(epsilon))
        assert best == pytest.approx(bound, rel=1e-9)


def test_exponential_pair_is_dominated_by_randomised_response() -> None:
    for epsilon in EPSILONS:
        assert profile(ExponentialPair(1.0), epsilon) <= profile(RandomisedResponse(1.0), epsilon)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(SettingError, match="epsilon"):
        LaplacePair(-1.0)
    with pytest.raises(SettingError, match="delta"):
        RandomisedResponse(1.0, 1.5)
    with pytest.raises(SettingError, match="eta"):
        ExponentialPair(math.inf)
