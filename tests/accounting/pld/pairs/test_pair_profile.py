import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.accounting import gaussian
from tacit.accounting.pld import compose
from tacit.accounting.pld.distribution import dyadic, from_pair
from tacit.accounting.pld.pairs.pair import Profile
from tacit.errors import SettingError

MU = 0.6


def curve(epsilons: NDArray[np.float64]) -> NDArray[np.float64]:
    """The Gaussian profile for all real numbers."""
    values = [
        gaussian.delta(e, MU) if e >= 0 else -math.expm1(e) + math.exp(e) * gaussian.delta(-e, MU) for e in epsilons
    ]
    return np.array(values)


@pytest.mark.parametrize("step", [0.25, 2.0**-6])
def test_upper_is_above_and_lower_below_between_the_points(step: float) -> None:
    grid = dyadic(step, center=0, low=-5.0, high=5.0, per_octave=32)
    upper = from_pair(Profile(curve), "remove", grid, "upper")
    lower = from_pair(Profile(curve), "remove", grid, "lower")
    for epsilon in np.linspace(-1.0, 3.0, 97):
        exact = float(curve(np.array([epsilon]))[0])
        assert lower.delta(epsilon) <= exact * (1 + 1e-8)
        assert upper.delta(epsilon) >= exact * (1 - 1e-8)


def test_composition_of_a_profile_is_that_of_its_mechanism() -> None:
    lower, upper = compose([(Profile(curve), 4)]).epsilon(1e-5)
    exact = gaussian.epsilon(2 * MU, 1e-5)
    assert lower <= exact <= upper <= exact * 1.001


def test_the_limit_stays_at_infinity() -> None:
    pair = Profile(lambda e: np.maximum(0.01, 1.0 - np.exp(e)), limit=0.01)
    grid = dyadic(0.125, center=0, low=-4.0, high=4.0, per_octave=32)
    assert from_pair(pair, "add", grid, "upper").delta(3.0) == pytest.approx(0.01, abs=1e-12)
    with pytest.raises(SettingError, match="limit"):
        Profile(curve, limit=2.0)
