"""Schedules of batches: passes within their cap, rates that samplers can draw, prices within what is left."""

from fractions import Fraction

import pytest

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.batches import Sampling
from tacit.errors import PassesError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.batch_schedule import (
    asked_rate,
    batches_of,
    moments_within,
    passes_left,
    price_steps,
    schedule,
    with_cap,
)
from tacit.solvers.rules import STOCHASTIC
from tacit.solvers.solver import SolverOptions
from tests.solvers.batch_facts import facts


@pytest.mark.parametrize("usual", [1, 3, 7, 40, 1000, 30_000])
@pytest.mark.parametrize("passes", [1, 2, 5, 50])
def test_planned_batches_read_no_more_than_their_passes(usual: int, passes: int) -> None:
    steps, batches = schedule(facts(), SolverOptions("stochastic"), passes, usual)
    assert steps == usual
    assert batches.rate * steps <= passes
    # Rounding down loses less than one part in 2^6, and a rate is at most 1.
    assert batches.rate == 1 or batches.rate * steps >= passes * (1 - Fraction(1, 2**STOCHASTIC.rate_bits))


def test_a_rate_that_is_asked_for_decides_the_steps() -> None:
    asked = SolverOptions("stochastic", sample_rate=0.25)
    assert asked_rate(facts(), asked) == Fraction(1, 4)
    assert schedule(facts(), asked, 3, 99)[0] == 12
    tiny = SolverOptions("stochastic", batch_size=1)
    assert schedule(facts(), tiny, 3, 99)[0] == STOCHASTIC.most_steps
    fixed = SolverOptions("stochastic", batch_size=1, iterations=25_000, max_passes=1)
    with pytest.raises(PassesError, match="20000 steps"):
        schedule(facts(), fixed, 1, 99)


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(1), Fraction(1, 10**12), Fraction(7, 1000)])
def test_the_nearest_batches_of_a_rate(rate: Fraction) -> None:
    poisson = batches_of(facts(), SolverOptions("stochastic"), rate)
    assert abs(poisson.rate - rate) <= Fraction(1, 2**32)
    assert poisson.rate > 0
    fixed = batches_of(facts(), SolverOptions("stochastic", sampling="without-replacement"), rate)
    assert fixed.population == 20_000
    assert abs(fixed.sample - rate * 20_000) <= 1
    assert fixed.sample >= 1


def test_passes_are_shared_out() -> None:
    capped = with_cap(SolverOptions("stochastic"), 9)
    assert capped.max_passes == 9
    assert with_cap(SolverOptions("stochastic", max_passes=4), 9).max_passes == 4
    assert moments_within(capped, 5, 3) == 3
    assert moments_within(capped, 2, 3) == 2
    assert moments_within(capped, 5, 2, 7) == 1
    assert moments_within(capped, 5, 3, 8) == 1
    assert passes_left(capped, 3) == 6
    with pytest.raises(PassesError, match="at least 10"):
        passes_left(capped, 9)


@pytest.mark.parametrize("relation", list(Relation))
def test_a_price_leaves_what_is_spent_elsewhere(relation: Relation) -> None:
    """The third argument of a plan, a μ², may be less than the budget's: the rest was spent before."""
    known = facts(relation=relation)
    _, batches = schedule(known, SolverOptions("stochastic"), 4, 40)
    whole = price_steps(known, batches, 40, (), Fraction(0.2367) ** 2)
    spent = Fraction(1, 400)
    rest = price_steps(known, batches, 40, (), Fraction(0.2367) ** 2 - spent)
    assert rest.noise > whole.noise
    event = batches.event(rest.price.bound, rest.price.bits, "")
    assert compose([Repeated(event, 40), Gaussian(spent, 1)], relation).epsilon(1e-6) <= 1.0
    assert rest.steps(7).times == 7
    assert batches.sampling is Sampling.POISSON


def test_a_larger_budget_has_less_noise() -> None:
    noises = []
    for epsilon in (0.1, 1.0, 8.0):
        known = facts(budget=Budget(epsilon=epsilon, delta=1e-6))
        _, batches = schedule(known, SolverOptions("stochastic"), 4, 40)
        noises.append(price_steps(known, batches, 40, (), mu_squared_of(known.budget)).noise)
    assert noises == sorted(noises, reverse=True)
