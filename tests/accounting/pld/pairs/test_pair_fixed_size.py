import math

import numpy as np
import pytest

from tacit.accounting import pld
from tacit.accounting.pld.pairs.bounded_loss import ExponentialPair, LaplacePair, RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian, WithoutReplacementGaussian
from tacit.accounting.pld.pairs.pair import FixedSizePair, Pair, PoissonPair
from tacit.errors import SettingError

BASES = [LaplacePair(1.0), RandomisedResponse(0.7), ExponentialPair(1.2), GaussianPair(1.5)]


@pytest.mark.parametrize("rate", [1e-3, 0.2, 0.9])
@pytest.mark.parametrize("base", BASES)
def test_one_release_has_the_amplified_profile(base: Pair, rate: float) -> None:
    pair = pld.compose([(FixedSizePair(base, rate), 1)])
    for epsilon in (0.0, 0.1, 0.5):
        amplified = math.log1p(rate * math.expm1(epsilon))
        exact = rate * pld.compose([(base, 1)]).delta(epsilon)[1]
        found = pair.delta(amplified)[1]
        assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("rate", [0.01, 0.4])
def test_over_a_gaussian_base_it_is_the_known_pair(rate: float) -> None:
    points = np.linspace(-0.5, 2.0, 41)
    found = FixedSizePair(GaussianPair(1.5), rate)
    known = WithoutReplacementGaussian(1.5, rate)
    for mine, theirs in zip(found.smooth("remove", points), known.smooth("remove", points), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-13)
    assert float(found.atoms("add")[1][0]) == pytest.approx(float(known.atoms("add")[1][0]))


@pytest.mark.parametrize("base", BASES)
def test_masses_of_both_distributions_are_one(base: Pair) -> None:
    pair = FixedSizePair(base, 0.3)
    losses, masses = pair.atoms("remove")
    first, second = pair.smooth("remove", np.array([-np.inf]))
    assert float(first[0] + masses.sum()) == pytest.approx(1.0, abs=1e-12)
    assert float(second[0] + (masses * np.exp(-losses)).sum()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("base", [LaplacePair(1.0), RandomisedResponse(1.0)])
def test_composition_is_between_what_is_attained_and_the_amplified_response(base: Pair) -> None:
    rate, times, delta = 0.01, 1000, 1e-6
    found = pld.compose([(FixedSizePair(base, rate), times)]).epsilon(delta)[1]
    attained = pld.compose([(PoissonPair(base, rate), times)]).epsilon(delta)[0]
    amplified = RandomisedResponse(math.log1p(rate * math.expm1(1.0)))
    loose = pld.compose([(amplified, times)]).epsilon(delta)[1]
    assert attained <= found <= 1.25 * attained < loose


def test_what_cannot_be_sampled_is_refused() -> None:
    for base, rate in ((PoissonGaussian(1.0, 0.1), 0.5), (LaplacePair(1.0), 1.0)):
        with pytest.raises(SettingError):
            FixedSizePair(base, rate)
