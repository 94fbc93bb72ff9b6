"""Finding bounds first: what counts of J columns cost, and how much of the budget they get.

A count of the last rounds, as a share of n records, has noise σ = √(2 R J / a) / (n μ), where a is
the share of μ² and R the number of rounds for scales. Half of a goes to the location, which has
four times as many rounds and twice the noise: a median that is a few percentiles off is good
enough, a radius is not. The share is

- no more than makes σ = .004, where the solver asks for its largest part of the records, .98;
- else a tenth, which costs the fit 5% more noise;
- more, up to a quarter, only where σ would exceed 1/16 (and that of the location 1/8): beyond, a
  decision between nothing and half of the records is wrong more often than once in 30 000, and the
  columns lost that way cost more than the budget does. Beyond even that a plan warns.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from tacit.contract.plan import LARGEST_COUNT_NOISE, Locating, Plan
from tacit.contract.query import Kind
from tacit.planning.pricing import between, priced
from tacit.planning.wishes import Facts
from tacit.solvers.locate import LOCATION_ROUNDS, SCALE_ROUNDS

SHARE = 0.1
LARGEST_SHARE = 0.25
SMALLEST_NOISE = 0.004
"""Noise on a share of the records below which the solver asks for nothing finer."""


def locating_share(records: int, columns: int, mu: float) -> float:
    """Share of μ² that finding the bounds of so many columns gets.

    Examples
    --------
    >>> [round(locating_share(n, 10, 1.0), 4) for n in (100_000, 10_000, 5_000, 500)]
    [0.0014, 0.1, 0.1, 0.2299]
    """

    def needed(noise: float) -> float:
        return 2 * SCALE_ROUNDS * columns / (records * mu * noise) ** 2

    return min(
        needed(SMALLEST_NOISE), between(needed(0.99 * LARGEST_COUNT_NOISE), SHARE, LARGEST_SHARE)
    )


def with_locating(facts: Facts, allowed: Fraction, route: Callable[[Fraction], Plan]) -> Plan:
    """Put the counts before what a route plans with the rest; the route alone if none are open.

    Guarantee
    ---------
    - The counts cost at most their share of `allowed`, and the route is given the rest.
    """
    places = facts.design.open_places
    if not places:
        return route(allowed)
    share = Fraction(locating_share(facts.records, len(places), math.sqrt(allowed)))
    half = allowed * share / 2
    steps = tuple(
        priced(facts, Kind.COUNTS, half, rounds, label, len(places))
        for rounds, label in ((LOCATION_ROUNDS, "location"), (SCALE_ROUNDS, "scale"))
    )
    price = steps[-1].price
    noise = 0.0 if price is None else 2.0**price.bits / (price.bound * facts.records)
    plan = route(allowed * (1 - share))
    return replace(
        plan,
        steps=(*steps, *plan.steps),
        locating=Locating(places, LOCATION_ROUNDS, SCALE_ROUNDS, noise),
    )


def with_exact_locating(plan: Plan) -> Plan:
    """Let a plan without noise (ε = ∞) find bounds that hold every record."""
    places = plan.design.open_places
    if not places:
        return plan
    return replace(plan, locating=Locating(places, LOCATION_ROUNDS, SCALE_ROUNDS))
