import itertools
import math

import mpmath
import numpy as np
import pytest

from tacit.accounting import classical, gaussian
from tacit.errors import BudgetError

ALARMS = [0.0, 1e-12, 0.001, 0.05, 0.3, 0.5, 0.9, 1.0]


def test_approximate_misses_are_the_formula_rounded_down() -> None:
    for epsilon, delta, alarm in itertools.product([0.0, 0.1, 1.0, 30.0], [0.0, 1e-6, 0.2], ALARMS):
        with mpmath.workdps(40):
            e, d, a = mpmath.mpf(epsilon), mpmath.mpf(delta), mpmath.mpf(alarm)
            truth = max(0, 1 - d - mpmath.exp(e) * a, mpmath.exp(-e) * (1 - d - a))
        found = classical.Approximate(epsilon, delta).misses_at(alarm)
        assert truth - 1e-12 <= found <= truth


def test_gaussian_misses_are_the_formula_rounded_down() -> None:
    for mu, alarm in itertools.product([0.0, 0.1, 1.0, 6.0], ALARMS[1:-1]):
        with mpmath.workdps(40):
            quantile = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * mpmath.mpf(alarm))
            truth = mpmath.ncdf(quantile - mu)
        found = classical.Gaussian(mu).misses_at(alarm)
        assert truth - 1e-10 <= found <= truth


def test_a_whole_profile_approaches_the_gaussian() -> None:
    pairs = tuple((e, gaussian.delta(e, 1.0)) for e in np.linspace(0.0, 8.0, 400))
    profile = classical.Profile(pairs)
    for alarm in (0.01, 0.05, 0.3, 0.8):
        exact = classical.Gaussian(1.0).misses_at(alarm)
        assert exact - 1e-3 <= profile.misses_at(alarm) <= exact + 1e-12
        for pair in pairs[::50]:
            assert profile.misses_at(alarm) >= classical.Approximate(*pair).misses_at(alarm)


def test_power_is_the_reading_of_a_guarantee() -> None:
    assert classical.power_at(0.05, classical.Approximate(1.0, 0.0)) == pytest.approx(0.05 * math.e, rel=1e-9)
    assert classical.power_at(0.05, classical.Gaussian(1.0)) == pytest.approx(0.25951, abs=1e-5)
    for guarantee in (classical.Approximate(0.0, 0.0), classical.Gaussian(0.0)):
        for alarm in ALARMS:
            assert classical.power_at(alarm, guarantee) == pytest.approx(alarm, abs=1e-12)
            assert classical.power_at(alarm, guarantee) >= alarm


def test_power_is_monotone() -> None:
    alarms = np.linspace(0.0, 1.0, 101)
    for guarantee in (classical.Approximate(0.5, 1e-3), classical.Gaussian(0.7)):
        powers = [classical.power_at(float(alarm), guarantee) for alarm in alarms]
        assert all(later >= earlier for earlier, later in itertools.pairwise(powers))
        assert powers[-1] == 1.0
    powers = [classical.power_at(0.05, classical.Gaussian(mu)) for mu in np.linspace(0, 9, 40)]
    assert all(later >= earlier for earlier, later in itertools.pairwise(powers))


def test_the_tradeoffs_are_their_own_inverses() -> None:
    for guarantee in (
        classical.Approximate(1.0, 1e-3),
        classical.Gaussian(1.0),
        classical.Profile(((0.2, 0.1), (1.0, 1e-3))),
    ):
        for rate in (0.01, 0.2, 0.6):
            twice = guarantee.misses_at(guarantee.misses_at(rate))
            assert twice == pytest.approx(rate, abs=1e-9)


def test_exact_attacks_stay_within_the_power() -> None:
    # The likelihood-ratio test against randomised response attains the bound.
    for epsilon in (0.1, 1.0, 3.0):
        truth = math.exp(epsilon) / (1.0 + math.exp(epsilon))
        bound = classical.power_at(1.0 - truth, classical.Approximate(epsilon, 0.0))
        assert truth <= bound <= truth * (1 + 1e-9)


def test_ends_and_refusals() -> None:
    assert classical.Gaussian(math.inf).misses_at(0.0) == 0.0
    assert classical.Gaussian(1.0).misses_at(0.0) == 1.0
    assert classical.Approximate(math.inf, 0.0).misses_at(0.5) == 0.0
    assert classical.Approximate(math.inf, 0.0).misses_at(0.0) == pytest.approx(1.0)
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(BudgetError, match=r"expected|must"):
            classical.power_at(wrong, classical.Gaussian(1.0))
    for make in (
        lambda: classical.Approximate(-1.0, 0.0),
        lambda: classical.Gaussian(math.nan),
        lambda: classical.Profile(()),
        lambda: classical.Profile(((1.0, 2.0),)),
    ):
        with pytest.raises(BudgetError, match=r"expected|must"):
            make()
