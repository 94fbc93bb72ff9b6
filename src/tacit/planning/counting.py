"""Counting the records first, where their number or their weights are private.

A count has noise of 1 / √(a μ²) records at a share a of μ². The share makes that three hundredths
of the declared records, within a hundredth and a quarter of the budget: what depends on the total
(the level of a share, the length of a step) moves with it by a part, and needs no more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from tacit.contract.plan import Counting, Plan
from tacit.contract.query import Kind
from tacit.planning.pricing import between, priced
from tacit.planning.wishes import Facts

NOISE = 0.03
SMALLEST_SHARE, LARGEST_SHARE = 0.01, 0.25


def with_counting(facts: Facts, allowed: Fraction, route: Callable[[Fraction], Plan]) -> Plan:
    """Put a count of the records before what a route plans with the rest, where one is needed.

    Guarantee
    ---------
    - The count costs at most its share of `allowed`, and the route is given the rest.
    - With a public number of records and no weights the plan is the route's alone.
    """
    if not facts.counts:
        return route(allowed)
    wanted = 1 / (NOISE * facts.records * math.sqrt(allowed)) ** 2
    share = Fraction(between(wanted, SMALLEST_SHARE, LARGEST_SHARE))
    weighted = facts.design.beside.weighting is not None
    label = "sum of the weights" if weighted else "number of records"
    step = priced(facts, Kind.COUNTS, allowed * share, facts.counts, label)
    plan = route(allowed * (1 - share))
    return replace(plan, steps=(step, *plan.steps), counting=Counting())


def with_exact_counting(facts: Facts, plan: Plan) -> Plan:
    """Let a plan without noise (ε = ∞) count the records where a private one would."""
    return replace(plan, counting=Counting()) if facts.counts else plan
