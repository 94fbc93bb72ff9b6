"""Statistical queries that a program asks one after the other: their number, sizes and prices are planned.

What is asked for is up to the program, and may depend on earlier answers. How much each answer costs may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import ClassVar

from tacit.accounting.composition import mu_squared_of
from tacit.contract.plan import Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.sensitivity import squared_sensitivity
from tacit.errors import PlanViolation
from tacit.solvers.counting import with_counting
from tacit.solvers.solver import PublicFacts, assembled, priced


@dataclass(frozen=True)
class QueryShape:
    """How many means one query asks for, and whether group by group."""

    means: int
    grouped: bool = False

    @property
    def kind(self) -> QueryKind:
        """Kind of the query."""
        return QueryKind.GROUP_MEANS if self.grouped else QueryKind.MEANS

    @property
    def size(self) -> int:
        """Number of sums that a record enters."""
        return self.means + self.grouped

    def __str__(self) -> str:
        return f"{self.means} mean{'s' * (self.means != 1)}{' by group' * self.grouped}"


@dataclass(frozen=True)
class StatisticalQueries:
    """Shapes of the queries, in their order."""

    shapes: tuple[QueryShape, ...]
    name: str = "statistical-queries"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Refuse: which means are asked for is decided outside, in a session."""
        del gate, plan
        raise PlanViolation("Statistical queries are asked one by one, in a session.")


def plan(facts: PublicFacts, shapes: Sequence[QueryShape], shares: Sequence[Fraction] | None = None) -> Plan:
    """Price the queries, after a count of the records where their number is private.

    `shares` are the queries' parts of μ². By default they are in proportion to the squared sensitivities, so that every
    mean has the same noise in half widths of its interval.

    Guarantee: the plan's events cost at most the budget, in exact rationals.
    """
    solver = StatisticalQueries(tuple(shapes))
    if facts.budget.is_infinite:
        return replace(assembled(facts, solver, ()), counting=bool(facts.counts))
    weights = shares
    if weights is None:
        weights = [Fraction(squared_sensitivity(it.kind, 1, facts.relation, it.size)) for it in shapes]
    total = sum(weights)
    # Equal queries in a row are one step of the plan, and one entry of its certificate.
    runs = [(key, len([*run])) for key, run in groupby(zip(shapes, weights, strict=True))]

    def priced_queries(allowed: Fraction) -> Plan:
        steps = [
            priced(facts, shape.kind, allowed * weight * times / total, times, Purpose.STATISTIC, shape.size)
            for (shape, weight), times in runs
        ]
        return assembled(facts, solver, steps)

    return with_counting(facts, mu_squared_of(facts.budget), priced_queries)
