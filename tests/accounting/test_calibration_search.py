from functools import partial

import pytest

from tacit.accounting import gaussian
from tacit.accounting.calibration import best_within, largest_count
from tacit.accounting.pld import compose
from tacit.accounting.pld.pairs.bounded_loss import LaplacePair
from tacit.accounting.pld.pairs.gaussian import GaussianPair, PoissonGaussian
from tacit.accounting.pld.pairs.pair import Pair
from tacit.errors import BudgetError, SettingError

Items = list[tuple[Pair, int]]
smallest_noise = partial(best_within, rising=False)
largest_rate = partial(best_within, low=1e-9, high=1.0, rising=True)


@pytest.mark.parametrize(
    ("rate", "times", "expected"), [(0.01, 1000, 1.41463), (0.001, 10_000, 0.74068), (0.05, 400, 3.8746)]
)
def test_t25_noise_meets_the_budget_and_wastes_nothing(rate: float, times: int, expected: float) -> None:
    # The expected values are those of dp-accounting.
    def make(noise: float) -> Items:
        return [(PoissonGaussian(1 / noise, rate), times)]

    noise = smallest_noise(make, 1.0, 1e-5, 0.01, 1e6)
    assert compose(make(noise)).epsilon(1e-5)[1] <= 1.0
    assert noise == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (8.0, 1e-6)])
def test_noise_of_a_mix(epsilon: float, delta: float) -> None:
    def make(noise: float) -> Items:
        return [(LaplacePair(1 / noise), 3), (PoissonGaussian(1 / noise, 0.1), 20)]

    noise = smallest_noise(make, epsilon, delta, 0.1, 1e4)
    found = compose(make(noise)).epsilon(delta)[1]
    assert epsilon * (1 - 1e-3) <= found <= epsilon


def test_noise_of_a_gaussian_is_the_exact_one() -> None:
    noise = smallest_noise(lambda noise: [(GaussianPair(1 / noise), 1)], 1.0, 1e-5, 1e-2, 1e3)
    assert 1 / noise == pytest.approx(gaussian.mu(1.0, 1e-5), rel=1e-3)
    assert gaussian.epsilon(1 / noise, 1e-5) <= 1.0


def test_the_end_of_the_range_is_returned_where_it_is_good_enough() -> None:
    assert smallest_noise(lambda noise: [(GaussianPair(1 / noise), 1)], 1.0, 1e-5, 50.0, 60.0) == 50
    rate = largest_rate(lambda rate: [(PoissonGaussian(0.01, rate), 3)], 1.0, 1e-5)
    assert rate == 1.0


def test_rate_meets_the_budget_and_wastes_nothing() -> None:
    def make(rate: float) -> Items:
        return [(PoissonGaussian(1 / 1.41463, rate), 1000)]

    rate = largest_rate(make, 1.0, 1e-5)
    assert rate == pytest.approx(0.01, rel=1e-3)
    assert compose(make(rate)).epsilon(1e-5)[1] <= 1.0


def test_count_is_the_largest() -> None:
    def make(count: int) -> Items:
        return [(PoissonGaussian(0.7, 0.01), count)]

    count = largest_count(make, 0.5, 1e-5)
    assert compose(make(count)).safe_epsilon(1e-5) <= 0.5
    assert compose(make(count + 1)).safe_epsilon(1e-5) > 0.5


def test_count_of_gaussians_is_the_exact_one() -> None:
    mu = gaussian.mu(1.0, 1e-5)
    count = largest_count(lambda count: [(GaussianPair(0.01), count)], 1.0, 1e-5)
    assert count == int((mu / 0.01) ** 2)
    assert largest_count(lambda count: [(GaussianPair(5.0), count)], 1.0, 1e-5) == 0
    assert largest_count(lambda count: [(GaussianPair(1e-6), count)], 1.0, 1e-5, most=40) == 40


def test_what_is_out_of_reach_is_said() -> None:
    with pytest.raises(BudgetError, match="out of reach"):
        smallest_noise(lambda noise: [(GaussianPair(1 / noise), 1)], 0.1, 1e-9, 0.1, 1.0)
    with pytest.raises(BudgetError, match="out of reach"):
        largest_rate(lambda rate: [(PoissonGaussian(50.0, rate), 10**4)], 0.1, 1e-9, low=0.1)


@pytest.mark.parametrize(
    ("epsilon", "delta", "low", "high"),
    [(0.0, 1e-5, 1.0, 2.0), (1.0, 0.0, 1.0, 2.0), (1.0, 1e-5, 2.0, 1.0), (1.0, 1e-5, 0.0, 1.0)],
)
def test_bad_settings_are_refused(epsilon: float, delta: float, low: float, high: float) -> None:
    with pytest.raises((BudgetError, SettingError)):
        smallest_noise(lambda noise: [(GaussianPair(1 / noise), 1)], epsilon, delta, low, high)
