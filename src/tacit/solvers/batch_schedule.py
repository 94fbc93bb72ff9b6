"""How many steps a fit over batches takes, of which batches, and the noise that they need within ε and δ."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.accounting.calibration import calibrate
from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.batch_price import batch_price_for
from tacit.contract.batches import FINEST_RATE, Batches, BatchPrice, Sampling
from tacit.contract.plan import Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import events_of
from tacit.errors import PassesError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Gaussian, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers.rules import STOCHASTIC
from tacit.solvers.solver import PublicFacts, SolverOptions

SAFER = Fraction(1, 10**4)
"""Noise is raised by this share where a price on the lattice rounds above the budget."""


def asked_rate(facts: PublicFacts, options: SolverOptions) -> Fraction | None:
    """Return the rate of the batches that the user asked for, if any; refuse what has no price."""
    sampling = Sampling(options.sampling or Sampling.POISSON)
    # Which relations a way of sampling is proven for depends on no size.
    Batches(sampling, 1, 1).require(facts.relation)
    if options.batch_size is not None:
        if options.batch_size > facts.records:
            known = "n" if facts.relation.n_is_public else "n_at_least"
            what = f"batch_size={options.batch_size} is more than the table is known to hold ({known}={facts.records})"
            raise SettingError(f"{what}. Choose a smaller one.")
        return Fraction(options.batch_size, facts.records)
    return None if options.sample_rate is None else Fraction(options.sample_rate)


def batches_of(facts: PublicFacts, options: SolverOptions, rate: Fraction) -> Batches:
    """Return the nearest batches of a rate: for Poisson a whole number of 2^-32, for the others of records."""
    sampling = Sampling(options.sampling or Sampling.POISSON)
    if sampling is not Sampling.POISSON:
        return Batches(sampling, max(1, round(rate * facts.records)), facts.records)
    dyadic = Fraction(max(1, round(rate * FINEST_RATE)), FINEST_RATE)
    return Batches(sampling, dyadic.numerator, dyadic.denominator)


def schedule(facts: PublicFacts, options: SolverOptions, passes: int, usual: int) -> tuple[int, Batches]:
    """Return steps and batches that read the table `passes` times: at the rate or steps asked for, or as usual."""
    asked = asked_rate(facts, options)
    if asked is not None:
        most = max(1, math.floor(passes / asked))
        steps = options.iterations or min(most, STOCHASTIC.most_steps)
        if options.max_passes is not None and steps > most:
            raise PassesError(f"max_passes allows {most} steps over batches of this size; ask for fewer iterations.")
        return steps, batches_of(facts, options, asked)
    steps = options.iterations or usual
    rate = min(Fraction(1), Fraction(passes, steps))
    # So many digits after the first: rates stay readable, and passes within their cap.
    unit = Fraction(1, 2 ** min(32, STOCHASTIC.rate_bits + math.ceil(math.log2(1 / rate))))
    return steps, batches_of(facts, options, max(unit, rate // unit * unit))


def with_cap(options: SolverOptions, passes: int) -> SolverOptions:
    """Return the options with their cap on passes, or with this one."""
    return options if options.max_passes is not None else replace(options, max_passes=passes)


def moments_within(options: SolverOptions, queries: int, part: int, others: int = 0) -> int:
    """Return the number of second-moment queries: at most one in `part` of the passes that the others leave."""
    return max(1, min(queries, ((options.max_passes or 0) - others) // part))


def passes_left(options: SolverOptions, others: int) -> int:
    """Return the passes that the others leave for batches."""
    total = options.max_passes or max(STOCHASTIC.passes, others + 1)
    if total <= others:
        raise PassesError(f"max_passes must be at least {others + 1} for this plan.")
    return total - others


@dataclass(frozen=True)
class PricedBatch:
    """The price of one step over a batch; any number of the steps that it was found for may be taken."""

    price: BatchPrice

    @property
    def noise(self) -> float:
        """Standard deviation of the noise of a sum over a batch, in bounds on a record."""
        return float(2.0**self.price.bits / self.price.bound)

    def steps(self, times: int) -> Step:
        """Return so many steps."""
        return Step(QueryKind.BATCH_GRADIENT, self.price, times, Purpose.DESCENT)


def price_steps(
    facts: PublicFacts, batches: Batches, times: int, others: tuple[Step, ...], allowed: Fraction
) -> PricedBatch:
    """Price steps over batches with all that the other steps leave of ε and δ.

    Guarantee: all together are within the budget, by the accountant that states the guarantee.
    """
    composed: list[Event] = [
        Repeated(event, step.times)
        for step in others
        if step.price is not None
        for event in events_of(step.kind, step.price, facts.relation, step.size)
    ]
    spent = mu_squared_of(facts.budget) - allowed
    if spent > 0:
        # What other parts of the fit cost, as bounds that are looked for first.
        composed.append(Gaussian(spent, 1))
    return PricedBatch(
        _least_price(facts.budget, facts.relation, batches, times, tuple(composed), facts.records, facts.coordinates)
    )


@functools.lru_cache(maxsize=64)
def _least_price(
    budget: Budget,
    relation: Relation,
    batches: Batches,
    times: int,
    others: tuple[Event, ...],
    records: int,
    width: int,
) -> BatchPrice:
    # Cached, because a plan is made several times before it is run, and tiny rates take seconds to price.
    poisson = batches.sampling is Sampling.POISSON
    run = calibrate(
        budget,
        relation=relation,
        steps=times,
        sample_rate=batches.rate,
        sampling=str(batches.sampling),
        population=None if poisson else batches.population,
        composed_with=others,
    )
    noise, epsilon, delta = Fraction(run.noise), budget.epsilon or 0.0, budget.delta or 0.0
    while True:
        price = batch_price_for(noise, batches, records=records, width=width)
        event = price.batches.event(price.bound, price.bits, "")
        if compose([Repeated(event, times), *others], relation).epsilon(delta) <= epsilon:
            return price
        noise *= 1 + SAFER
