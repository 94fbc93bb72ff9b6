import itertools
import math
import warnings

import mpmath
import pytest

from tacit.accounting import gaussian
from tacit.accounting.classical import optimal_delta, optimal_epsilon
from tacit.errors import SettingError


def exact_delta(epsilon: float, delta: float, times: int, target: float) -> mpmath.mpf:
    """The sum of the theorem at any target, with 60 digits."""
    with mpmath.workdps(60):
        e, t = mpmath.mpf(epsilon), mpmath.mpf(target)
        response = (
            mpmath.fsum(
                mpmath.binomial(times, l) * (mpmath.exp((times - l) * e) - mpmath.exp(t + l * e))
                for l in range(times + 1)
                if (times - 2 * l) * e > t
            )
            / (1 + mpmath.exp(e)) ** times
        )
        return 1 - (1 - mpmath.mpf(delta)) ** times * (1 - response)


@pytest.mark.parametrize("times", [1, 2, 7, 100])
def test_delta_is_above_the_oracle_and_tight(times: int) -> None:
    for epsilon, delta, share in itertools.product([1e-3, 0.1, 1.0], [0.0, 1e-9], [0.0, 0.33, 0.9]):
        target = share * times * epsilon
        found, truth = (optimal_delta(epsilon, delta, times, target), exact_delta(epsilon, delta, times, target))
        assert truth <= found <= truth * (1 + 1e-9) + 1e-300


def test_the_points_of_the_theorem() -> None:
    # delta_i at (k - 2i) eps, as Kairouz, Oh and Viswanath state it, in exact arithmetic.
    epsilon, times = 0.2, 12
    for i in range(times // 2 + 1):
        with mpmath.workdps(40):
            e = mpmath.mpf(epsilon)
            truth = (
                mpmath.fsum(
                    mpmath.binomial(times, l) * (mpmath.exp((times - l) * e) - mpmath.exp((times - 2 * i + l) * e))
                    for l in range(i)
                )
                / (1 + mpmath.exp(e)) ** times
            )
        found = optimal_delta(epsilon, 0.0, times, (times - 2 * i) * epsilon)
        assert truth <= found <= truth * (1 + 1e-9) + 1e-14


def test_t21_one_mechanism_is_itself() -> None:
    for epsilon, delta in itertools.product([0.01, 1.0, 20.0], [1e-9, 1e-3]):
        assert optimal_delta(epsilon, delta, 1, epsilon) == pytest.approx(delta, rel=1e-6)
        assert optimal_epsilon(epsilon, delta, 1, delta * 1.001) <= epsilon * (1 + 1e-9)


def test_epsilon_inverts_delta() -> None:
    for epsilon, times, target in itertools.product([0.01, 0.1, 2.0], [3, 500], [1e-12, 1e-5]):
        found = optimal_epsilon(epsilon, 0.0, times, target)
        assert optimal_delta(epsilon, 0.0, times, found) <= target
        assert optimal_delta(epsilon, 0.0, times, found * (1 - 1e-6)) > target
        assert found <= times * epsilon * (1 + 1e-9)


def test_a_million_mechanisms_are_nearly_gaussian() -> None:
    # Losses are k Bernoulli steps: mean k eps tanh(eps/2), so mu is about eps sqrt(k).
    found = optimal_epsilon(1e-3, 0.0, 10**6, 1e-6)
    assert found == pytest.approx(gaussian.epsilon(1.0, 1e-6), rel=1e-2)


def test_delta_is_monotone() -> None:
    targets = [optimal_delta(0.1, 1e-9, 50, 0.1 * i) for i in range(50)]
    assert all(later <= earlier for earlier, later in itertools.pairwise(targets))
    counts = [optimal_delta(0.1, 1e-9, k, 1.0) for k in (11, 12, 20, 100, 1000)]
    assert all(later >= earlier for earlier, later in itertools.pairwise(counts))


def test_t26_nothing_overflows_or_is_nan() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epsilon, times in itertools.product([0.0, 1e-9, 1.0, 1e3, 1e300], [1, 10**6]):
            for target in (0.0, 1.0, 1e5, math.inf):
                assert 0.0 <= optimal_delta(epsilon, 1e-20, times, target) <= 1.0
        assert optimal_epsilon(math.inf, 0.0, 3, 1e-6) == math.inf
        assert optimal_epsilon(1.0, 1e-3, 100, 1e-6) == math.inf
        assert optimal_epsilon(0.0, 0.0, 100, 0.0) == 0.0
        assert optimal_epsilon(1.0, 0.0, 10, 1.0) == 0.0


def test_a_count_beyond_the_range_is_refused() -> None:
    for wrong in (0, 10**7 + 1, 2.5):
        with pytest.raises(SettingError, match=r"expected|must"):
            optimal_delta(0.1, 0.0, wrong, 1.0)  # type: ignore[arg-type]
