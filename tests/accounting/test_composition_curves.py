"""A composition as arrays: bounds on the right side, and near each other."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import special

from tacit.accounting import gaussian
from tacit.accounting.composition import Composition, compose
from tacit.accounting.pld.pairs.pair import DIRECTIONS
from tacit.errors import AccountingError, SettingError
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Event,
    Gaussian,
    Laplace,
    ObjectivePerturbation,
    PoissonSampled,
    Pure,
    Repeated,
)

EPSILONS = np.array([0.0, 0.1, 0.5, 1.0, 1.7, 3.0])
TENTH = Fraction(1, 10)
SGD = Repeated(PoissonSampled(Gaussian(1, Fraction(16, 25)), Fraction(1, 100)), 1000)
MIXED: list[list[Event]] = [
    [Gaussian(1, 4)],
    [Laplace(1, 2), Gaussian(1, 4)],
    [SGD],
    [Repeated(Pure(TENTH), 100)],
    [Repeated(Laplace(1, 10), 7), Pure(TENTH)],
    [Approximate(1, Fraction(1, 100)), Gaussian(1, 4)],
]


def randomised_response(epsilon: float, times: int, at: float) -> float:
    """The exact profile of binary randomised response, a sum over the binomial distribution."""
    truths = np.arange(times + 1)
    losses = (2 * truths - times) * epsilon
    masses = special.comb(times, truths) * np.exp(truths * epsilon) / (1 + math.exp(epsilon)) ** times
    return float((masses * np.maximum(-np.expm1(at - losses), 0.0)).sum())


@pytest.mark.parametrize("events", MIXED)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_upper_and_lower_distributions_enclose_the_profile(events: list[Event], direction: str) -> None:
    total = compose(events, "add-remove")
    upper = total.loss_distribution(direction)
    lower = total.loss_distribution(direction, bound="lower")
    for law in (upper, lower):
        assert np.all(np.diff(law.losses) > 0.0)
        assert law.masses.min() > 0.0
        assert law.masses.sum() + law.infinite == pytest.approx(1.0, abs=1e-7)
    assert upper.slack == 0.0
    high, low = upper.delta(EPSILONS), lower.delta(EPSILONS)
    assert np.all(low <= high)
    assert np.all(high - low <= 5e-3 * high + 1e-9)
    # The guarantee is for both directions, so one of them is never above it by more than the bracket.
    best = total.delta_curve(EPSILONS)
    assert np.all(low <= best * (1 + 1e-12))


def test_the_arrays_of_randomised_response_are_its_two_atoms() -> None:
    exact = [randomised_response(1.0, 1, float(at)) for at in EPSILONS]
    total = compose([Pure(1)])
    upper, lower = total.loss_distribution(), total.loss_distribution(bound="lower")
    assert np.all(upper.delta(EPSILONS) >= exact)
    assert np.all(lower.delta(EPSILONS) <= exact)
    heavy = upper.masses > 1e-3
    np.testing.assert_allclose(upper.losses[heavy], [-1.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(upper.masses[heavy], np.exp([0.0, 1.0]) / (1 + math.e), rtol=1e-4)


@pytest.mark.parametrize("times", [3, 40])
def test_the_profile_of_many_responses_against_binomial_sums(times: int) -> None:
    exact = np.array([randomised_response(0.1, times, float(at)) for at in EPSILONS])
    total = compose([Repeated(Pure(TENTH), times)])
    slack = 1e-12 * exact
    for direction in DIRECTIONS:
        assert np.all(total.loss_distribution(direction).delta(EPSILONS) >= exact - slack)
        assert np.all(total.loss_distribution(direction, bound="lower").delta(EPSILONS) <= exact + slack)
    many = np.linspace(0.0, 3.0, 40)
    exact = np.array([randomised_response(0.1, times, float(at)) for at in many])
    found = total.delta_curve(many)
    assert np.all(found >= exact * (1 - 1e-12))
    np.testing.assert_allclose(found, exact, rtol=2e-3, atol=1e-9)


def test_the_plain_sum_over_the_arrays_is_the_bound() -> None:
    law = compose([SGD], "add-remove").loss_distribution()
    for epsilon in EPSILONS:
        above = law.losses > epsilon
        plain = law.infinite + np.sum(law.masses[above] * (1 - np.exp(epsilon - law.losses[above])))
        assert law.delta([epsilon])[0] == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("events", [*MIXED, [BoundedRange(1)], [ObjectivePerturbation(1, 400, Fraction(1, 100), 1)]])
def test_many_points_agree_with_one_by_one(events: list[Event]) -> None:
    total, many = compose(events, "add-remove"), np.linspace(0.0, 3.0, 25)
    single = np.array([total.delta(float(epsilon)) for epsilon in many])
    found = total.delta_curve(many)
    np.testing.assert_allclose(found, single, rtol=2e-2, atol=1e-12)
    assert np.all(np.diff(found) <= 1e-12)


def test_gaussian_curves_are_exact() -> None:
    total = compose([Gaussian(1, 4)])
    np.testing.assert_array_equal(total.delta_curve(EPSILONS), [gaussian.delta(float(e), 0.5) for e in EPSILONS])
    alarms = np.array([0.0, 0.01, 0.3, 1.0])
    exact = special.ndtr(-special.ndtri(alarms) - 0.5)
    np.testing.assert_allclose(total.trade_off_curve(alarms), exact, atol=1e-9)
    np.testing.assert_allclose(total.renyi_curve([1.5, 2, 30]), np.array([1.5, 2, 30]) / 8, rtol=1e-9)
    assert total.epsilon_curve([0.0, 1e-6])[0] == math.inf
    assert total.epsilon_curve([1e-6])[0] == total.epsilon(1e-6)


def test_the_trade_off_of_randomised_response_is_its_broken_line() -> None:
    alarms = np.linspace(0.0, 1.0, 41)
    exact = np.maximum(1 - math.e * alarms, np.maximum((1 - alarms) / math.e, 0.0))
    found = compose([Pure(1)]).trade_off_curve(alarms)
    assert np.all(found <= exact + 1e-15)
    np.testing.assert_allclose(found, exact, atol=1e-4)


@pytest.mark.parametrize("events", MIXED[:5])
def test_t22_the_trade_off_agrees_with_the_profile(events: list[Event]) -> None:
    """Duality: 1 - δ(ε) is the least of misses + e^ε false alarms, at most by the points that were left out."""
    total, alarms = compose(events, "add-remove"), np.linspace(0.0, 1.0, 400)
    misses = total.trade_off_curve(alarms)
    for epsilon in EPSILONS:
        least = float((misses + math.exp(epsilon) * alarms).min())
        assert least == pytest.approx(1 - total.delta(float(epsilon)), abs=1e-2)


def test_an_empty_composition_tells_nothing() -> None:
    total = compose([])
    assert total.releases == ()
    law = total.loss_distribution()
    assert (law.losses.tolist(), law.masses.tolist(), law.infinite) == ([0.0], [1.0], 0.0)
    assert total.delta_curve([0.0]).tolist() == total.renyi_curve([2.0]).tolist() == [0.0]
    assert total.trade_off_curve([0.25])[0] == pytest.approx(0.75, abs=1e-12)


def test_bad_input_is_refused() -> None:
    total = compose([Laplace(1, 2)])
    for wrong in ({"direction": "both"}, {"bound": "middle"}, {"smallest_delta": 1e-15}, {"smallest_delta": 1.0}):
        with pytest.raises(SettingError):
            total.loss_distribution(**wrong)
    for curve, points in (("delta", [-1.0]), ("delta", [math.nan]), ("renyi", [1.0]), ("trade_off", [[0.1]])):
        with pytest.raises(SettingError):
            getattr(total, f"{curve}_curve")(points)
    with pytest.raises(AccountingError, match="leaks"):
        compose([Approximate(1, TENTH)]).renyi_curve([2.0])
    with pytest.raises(AccountingError, match="no lower privacy-loss"):
        compose([BoundedRange(1)]).loss_distribution(bound="lower")
    with pytest.raises(AccountingError, match="out of its numerical range"):
        compose([Laplace(2000, 1)]).loss_distribution()
    assert isinstance(total, Composition)
