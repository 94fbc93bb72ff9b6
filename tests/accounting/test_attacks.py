"""Regressions of the third attack on the accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tacit.accounting import Filter, Odometer, best, calibrate, compare, compose, guarantee_of, price, reading
from tacit.accounting.with_replacement import with_replacement_profile
from tacit.errors import InputError
from tacit.privacy.budget import Budget
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    PoissonRuns,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

REPLACE = Relation.REPLACE_ONE
BEYOND = 10**400


# 1. A guarantee that promises nothing must not be read as a promise.


@pytest.mark.parametrize("leak", [Fraction(1, 2), Fraction(1, 100)])
def test_a_guarantee_of_nothing_detects_at_least_the_leak(leak: Fraction) -> None:
    event = Approximate(1, leak)
    empty = guarantee_of([event], delta=1e-6, relation=REPLACE, unit="row")
    assert empty.infinite
    assert reading(empty, false_alarm=0.0).detection >= leak
    assert reading(compose([event]), false_alarm=0.0).detection >= leak


# 2. One draw with replacement: never below Theorem 10, which is then exact, whatever the rate.


def _theorem_10(epsilon: float, mu: int, draws: int, population: int) -> mpmath.mpf:
    with mpmath.workdps(60):
        miss = 1 - mpmath.mpf(1) / population
        base = mpmath.log1p(mpmath.expm1(mpmath.mpf(epsilon)) / (1 - miss**draws))
        total = mpmath.mpf(0)
        for copies in range(1, draws + 1):
            shift = mpmath.mpf(copies * mu)
            weight = mpmath.binomial(draws, copies) * miss ** (draws - copies)
            weight /= mpmath.mpf(population) ** copies
            above = mpmath.ncdf(shift / 2 - base / shift)
            total += weight * (above - mpmath.exp(base) * mpmath.ncdf(-shift / 2 - base / shift))
        return total


@pytest.mark.parametrize("population", [10**9, 10**12, 10**14, 3 * 10**16])
def test_rare_draws_are_not_below_theorem_10(population: int) -> None:
    profile = with_replacement_profile(SampledWithReplacement(Gaussian(4, 1), 1, population))
    assert profile is not None
    point = math.log1p(math.expm1(2.0) / population)
    stated = float(profile.delta_of_epsilon(np.array([point]))[0])
    assert stated >= _theorem_10(point, 2, 1, population)


@pytest.mark.parametrize("population", [10**9, 10**12, 3 * 10**16])
@pytest.mark.parametrize("delta", [1e-20, 1e-12, 1e-6])
def test_rare_draws_have_a_price(population: int, delta: float) -> None:
    event = SampledWithReplacement(Gaussian(4, 1), 1, population)
    assert 0.0 <= best([event], delta=delta, relation=REPLACE).epsilon < math.inf


@pytest.mark.parametrize(("epsilon", "draws"), [(1, 64), (5, 10), (Fraction(1, 2), 200)])
def test_pure_releases_of_many_draws_have_a_price(epsilon: Fraction | int, draws: int) -> None:
    event = SampledWithReplacement(Pure(epsilon), draws, 10**6)
    assert best([event], delta=1e-3, relation=REPLACE).epsilon < math.inf


# 3. Nothing crashes: what floats cannot hold costs infinity.


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (Repeated(Pure(1000), 2), None),
        (Repeated(Laplace(1000, 1), 3), None),
        (Repeated(BoundedRange(1000), 2), None),
        (Repeated(Approximate(1, 1), 2), None),
        (Repeated(PoissonSampled(Pure(1000), Fraction(1, 2)), 3), "add-remove"),
        (Repeated(PoissonSampled(Pure(1000), Fraction(1, 2)), 3), "replace-one"),
        (Repeated(SampledWithoutReplacement(Pure(1000), 1, 2), 3), "replace-one"),
        (DiscreteGaussian(1, 10**10), None),
        (DiscreteGaussian(1, 10**12), None),
        (Pure(BEYOND), None),
        (Laplace(BEYOND, 1), None),
        (BoundedRange(BEYOND), None),
        (RandomStopping(Pure(BEYOND), NegativeBinomial(1, Fraction(1, 2))), None),
        (RandomStopping(Gaussian(1, 9), PoissonRuns(BEYOND)), None),
        (Composed((Gaussian(BEYOND, 1), Gaussian(BEYOND, 1), Pure(1))), None),
    ],
)
@pytest.mark.parametrize("delta", [1e-20, 1e-6, 0.1])
def test_every_event_has_a_price(event: Event, relation: str | None, delta: float) -> None:
    assert best([event], delta=delta, relation=relation).epsilon >= 0.0
    assert 0.0 <= compose([event], relation).delta(1.0) <= 1.0
    assert "pld" in compare([event], delta=delta, relation=relation)


def test_large_discrete_noise_is_priced_by_rho() -> None:
    found = best([DiscreteGaussian(1, 10**10)], delta=1e-6).epsilon
    normal = price("gdp", [Gaussian(1, 10**10)], delta=1e-6).epsilon
    assert 0.99 * normal <= found <= 2.0 * normal


def test_a_sure_leak_has_delta_one() -> None:
    assert compose([Approximate(1, 1), Pure(1)]).delta(1.0) == 1.0


def test_small_noise_on_a_poisson_sample_does_not_overflow() -> None:
    # Warnings are errors here.
    step = PoissonSampled(Gaussian(1, Fraction(13, 100) ** 2), Fraction(1, 1000))
    assert price("rdp", [Repeated(step, 1000)], delta=1e-6, relation=REPLACE).epsilon > 0.0


# 4. Exact numbers of any length.


def test_many_different_scales_have_one_price() -> None:
    events = [Gaussian(1, Fraction(5.0 + 0.1234567891234 * k) ** 2) for k in range(40)]
    whole = compose(events)
    assert whole.price(1e-6).epsilon == whole.epsilon(1e-6)
    sample = PoissonSampled(Composed(tuple(events)), Fraction(1, 10))
    sampled = best([sample], delta=1e-6, relation="add-remove").epsilon
    assert 0.0 < sampled < whole.epsilon(1e-6)


def test_a_valid_event_with_long_numbers_has_a_price() -> None:
    long = Gaussian(Fraction(3**900, 2**1400 + 1), Fraction(5**600, 7**500))
    assert best([long], delta=1e-6).epsilon >= 0.0


def test_stopping_inside_stopping_is_as_deep_as_events_may_be() -> None:
    event: Event = Pure(Fraction(1, 10**6))
    for _ in range(12):
        event = RandomStopping(event, NegativeBinomial(1, Fraction(1, 2)))
    assert best([event], delta=1e-6).epsilon < math.inf


# 5. Laws of runs at the ends of their range.


def test_more_runs_never_cost_less_beyond_floats() -> None:
    def cost(digits: int) -> float:
        law = NegativeBinomial(1, Fraction(1, 10**digits))
        return best([RandomStopping(Gaussian(1, 100), law)], delta=1e-6).epsilon

    # By the theorem 11.17, above 11.18 and above 12.8.
    assert cost(299) < cost(320) <= cost(400)
    assert cost(400) > 12.8


@pytest.mark.parametrize("gamma", [Fraction(1, 5), Fraction(21, 100)])
def test_a_vanishing_shape_costs_the_logarithmic_law(gamma: Fraction) -> None:
    def cost(shape: Fraction | int) -> float:
        event = RandomStopping(Gaussian(1, 100), NegativeBinomial(shape, gamma))
        return best([event], delta=1e-6).epsilon

    assert cost(Fraction(1, 10**400)) >= cost(0)


# 6. Odometers and filters.


@pytest.mark.parametrize("digits", [305, 308, 400])
def test_an_odometer_reads_infinity_and_does_not_fail(digits: int) -> None:
    assert Odometer(REPLACE).after([Gaussian(10**digits, 1)]).reading(1e-6) > 1e300


def test_a_filter_starts_with_what_was_spent_and_no_less() -> None:
    with pytest.raises(InputError):
        Filter(Budget(mu=0.5), REPLACE, spent=Fraction(-1))


# 7. Calibration reaches every noise there is.


def test_noise_for_draws_with_replacement_may_exceed_that_of_the_table() -> None:
    budget = Budget(epsilon=1.0, delta=1e-6)
    run = calibrate(budget, relation=REPLACE, steps=10, sample_rate=1.0, sampling="with-replacement", population=1000)
    assert best([run.event], delta=1e-6, relation=REPLACE).epsilon <= 1.0


def test_the_smallest_noise_is_sought_where_loss_distributions_do_not_reach() -> None:
    budget = Budget(epsilon=38.85632385861219, delta=1.1037779314869882e-18)
    run = calibrate(budget, relation="add-remove", steps=1000, sample_rate=0.0015758027786495386)
    spent = best([run.event], delta=1.1037779314869882e-18, relation="add-remove").epsilon
    assert 38.85632385861219 * (1 - 2e-3) <= spent <= 38.85632385861219
