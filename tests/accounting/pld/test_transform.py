import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from tacit.accounting.pld import GridTooLong
from tacit.accounting.pld.distribution import Bound, LossDistribution, dyadic, from_pair
from tacit.accounting.pld.pairs.bounded_loss import RandomisedResponse
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian
from tacit.accounting.pld.transform import Transform, Window, transform

BOUNDS: tuple[Bound, Bound] = ("upper", "lower")


def law_of(masses: list[float], first: int, infinite: float = 0.0) -> LossDistribution:
    indices = np.arange(first, first + len(masses))
    return LossDistribution(0.25, indices, np.array(masses), infinite, 0.0, 2.0**-49)


def exact_delta(laws: list[tuple[LossDistribution, int]], epsilon: float) -> float:
    """Convolve with rational numbers; only the exponentials are floats."""
    composed = {0: Fraction(1)}
    finite = Fraction(1)
    for law, times in laws:
        for _ in range(times):
            finite *= 1 - Fraction(law.infinite)
            following: dict[int, Fraction] = {}
            for total, mass in composed.items():
                for index, part in zip(law.indices, law.masses, strict=True):
                    key = total + int(index)
                    following[key] = following.get(key, Fraction(0)) + mass * Fraction(float(part))
            composed = following
    step = laws[0][0].step
    value = math.fsum(
        float(mass) * -math.expm1(epsilon - key * step) for key, mass in composed.items() if key * step > epsilon
    )
    return float(1 - finite) + value


LAWS = [
    (law_of([0.1, 0.2, 0.4, 0.29], -2, infinite=0.01), 3),
    (law_of([0.5, 0.0, 0.5], -1), 2),
    (law_of([0.9, 0.1 - 1e-9, 1e-9], 0), 4),
]
WINDOWS = [
    Window(0.0, 3.0, 3.0, 30.0),
    Window(2.0, 3.0, 3.0, 30.0),
    Window(6.0, 9.0, 5.0, 40.0),
    # Far too short: most of the mass wraps around or is outside.
    Window(0.0, 3.0, 3.0, 0.1),
    Window(3.0, 1.0, 40.0, 1.0),
]


@pytest.mark.parametrize("window", WINDOWS, ids=repr)
def test_bounds_hold_for_every_window_and_tilt(window: Window) -> None:
    upper, lower = (transform(LAWS, window, bound) for bound in BOUNDS)
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 2.6, 4.0, 4.9, 7.0):
        exact = exact_delta(LAWS, epsilon)
        assert lower.delta(epsilon) <= exact * (1 + 1e-13)
        assert upper.delta(epsilon) >= min(exact * (1 - 1e-13), 1.0)


def test_good_windows_are_tight_even_for_tiny_deltas() -> None:
    laws = [(law_of([1 - 2e-4, 1e-4, 1e-4], 0), 9)]
    window = Window(14.0, 5.0, 5.0, 40.0)
    for epsilon in (2.6, 3.1):
        exact = exact_delta(laws, epsilon)
        assert exact < 1e-20
        for bound in BOUNDS:
            assert transform(laws, window, bound).delta(epsilon) == pytest.approx(exact, rel=1e-9)


def test_round_off_bound_covers_the_actual_error() -> None:
    generator = np.random.default_rng(9)
    masses = generator.uniform(0, 1, 40)
    law = law_of(list(masses / masses.sum()), -20)
    composed = transform([(law, 64)], Window(0.0, 0.6, 0.6, 35.0), "upper")
    direct = law.masses
    for _ in range(6):
        direct = np.convolve(direct, direct)
    full = np.zeros(composed.masses.size)
    shift = -20 * 64 - composed.first
    positions = np.arange(direct.size) + shift
    kept = (positions >= 0) & (positions < full.size)
    full[positions[kept]] = direct[kept]
    error = math.sqrt(float(((composed.masses - full) ** 2).sum()))
    assert error <= composed.round_off + composed.outside


def test_forgetting_the_alias_would_be_caught() -> None:
    laws = [(law_of([0.3, 0.2, 0.5], -60), 1), (law_of([0.6, 0.4], 0), 3)]
    # So short that the low losses come out again at the top.
    composed = transform(laws, Window(0.0, 1.0, 9.0, -60.0), "lower")
    bare = replace(composed, outside=0.0, round_off=0.0)
    assert composed.masses.size < 60
    assert composed.delta(-14.0) <= exact_delta(laws, -14.0)
    assert bare.delta(-14.0) > exact_delta(laws, -14.0) * (1 + 1e-9)


def test_the_scale_of_the_tilt_is_undone() -> None:
    grid = dyadic(2.0**-5, center=0, low=-7.0, high=8.0, per_octave=200)
    law = from_pair(GaussianPair(0.7), "remove", grid, "upper")
    values = [transform([(law, 5)], Window(tilt, 2.0, 2.0, 40.0), "upper").delta(3.0) for tilt in (0.0, 0.5, 1.0)]
    assert max(values) == pytest.approx(min(values), rel=1e-9)


def test_above_the_largest_loss_only_infinite_ones_count() -> None:
    composed = transform(LAWS, Window(0.0, 3.0, 3.0, 30.0), "upper")
    assert composed.ceiling == pytest.approx(0.25 * (3 * 1 + 2 * 1 + 4 * 2), rel=1e-15)
    assert composed.delta(composed.ceiling) == pytest.approx(1 - 0.99**3, rel=1e-12)


def test_a_law_without_finite_mass_leaves_the_infinite_part() -> None:
    law = law_of([0.0, 0.0], 0, infinite=1.0)
    assert transform([(law, 2)], Window(0.0, 1.0, 1.0, 9.0), "upper").delta(3.0) == 1.0


def test_too_long_a_window_is_refused() -> None:
    with pytest.raises(GridTooLong, match="window"):
        transform(LAWS, Window(0.0, 1e-6, 1e-6, 30.0), "upper")


def test_delta_falls() -> None:
    grid = dyadic(2.0**-8, center=0, low=-1.0, high=6.0, per_octave=64)
    laws = [
        (from_pair(PoissonGaussian(1.0, 0.05), "remove", grid, "upper"), 50),
        (from_pair(RandomisedResponse(0.5), "remove", grid, "upper"), 2),
    ]
    composed: Transform = transform(laws, Window(1.0, 2.0, 2.0, 30.0), "upper")
    values = [composed.delta(e) for e in np.linspace(0.0, 5.0, 300)]
    assert all(a >= b * (1 - 1e-9) for a, b in itertools.pairwise(values))
