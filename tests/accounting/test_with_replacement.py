import math

import numpy as np
import pytest

from tacit.accounting import gaussian
from tacit.accounting.classical import amplified_with_replacement
from tacit.accounting.with_replacement import with_replacement_profile
from tacit.privacy.event import DiscreteGaussian, Gaussian, Pure, SampledWithReplacement


@pytest.mark.parametrize(("draws", "population"), [(1, 1), (1, 100), (10, 100), (300, 1000)])
def test_the_profile_is_the_theorem_at_every_epsilon(draws: int, population: int) -> None:
    profile = with_replacement_profile(SampledWithReplacement(Gaussian(1, 4), draws, population))
    assert profile is not None
    for base in (0.0, 0.3, 2.0):
        known = amplified_with_replacement(
            base, lambda copies, epsilon: gaussian.delta(epsilon, 0.5 * copies), population, draws
        )
        found = float(profile.delta_of_epsilon(np.array([known.epsilon]))[0])
        assert known.delta * (1 - 1e-9) <= found <= known.delta * (1 + 1e-5) + 1e-12


def test_below_zero_the_neighbours_are_exchanged() -> None:
    profile = with_replacement_profile(SampledWithReplacement(Gaussian(1, 1), 5, 50))
    assert profile is not None
    points = np.array([0.05, 0.4])
    above, below = profile.delta_of_epsilon(points), profile.delta_of_epsilon(-points)
    np.testing.assert_allclose(below, -np.expm1(-points) + np.exp(-points) * above, rtol=1e-9)


def test_the_profile_is_convex_and_never_below_nothing() -> None:
    profile = with_replacement_profile(SampledWithReplacement(Pure(1), 5, 20))
    assert profile is not None
    x = np.linspace(0.2, 4.0, 400)
    values = profile.delta_of_epsilon(np.log(x))
    assert np.all(values >= np.maximum(1.0 - x, 0.0) - 1e-12)
    assert np.all(np.diff(values, 2) >= -1e-12)


def test_one_certain_draw_is_no_amplification() -> None:
    profile = with_replacement_profile(SampledWithReplacement(Pure(1), 1, 1))
    assert profile is not None
    exact = (math.e - math.exp(0.5)) / (1.0 + math.e)
    assert float(profile.delta_of_epsilon(np.array([0.5]))[0]) == pytest.approx(exact, rel=1e-9)


def test_equal_events_share_a_profile_and_others_have_none() -> None:
    first = with_replacement_profile(SampledWithReplacement(Gaussian(1, 4), 5, 50))
    assert first == with_replacement_profile(SampledWithReplacement(Gaussian(1, 4), 5, 50))
    assert with_replacement_profile(SampledWithReplacement(DiscreteGaussian(1, 4), 5, 50)) is None
