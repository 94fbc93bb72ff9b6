"""Plans of black boxes on blocks: the aggregate of their results, by mean, median or depth.

The number of blocks is the user's, or by rule. Nothing is known of the black box but how many numbers it returns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.accounting.composition import compose, mu_squared_of
from tacit.contract.block_price import ChoicePrice, depth_price
from tacit.contract.block_query import BlackBox, BlockDepth, BlockMean, BlockMedian, LeastSquares
from tacit.contract.plan import Plan, PublicFact, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.sensitivity import AnyPrice, events_of, price_for
from tacit.errors import BudgetError, SettingError
from tacit.solvers.aggregate import block_count, require_rows, rows_needed
from tacit.solvers.block_rules import BLOCKS
from tacit.solvers.solver import PublicFacts, assembled

FINEST_RATE = 1 << 20
"""Rates of medians are multiples of its inverse."""
SLACK = Fraction(1, 10**8)
"""Share of ε that is left, as another machine may round a total otherwise."""


class Aggregator(StrEnum):
    """How the results of blocks become one."""

    MEAN = "mean"
    MEDIAN = "median"
    DEPTH = "depth"


KINDS = {
    Aggregator.MEAN: QueryKind.BLOCK_MEAN,
    Aggregator.MEDIAN: QueryKind.BLOCK_MEDIAN,
    Aggregator.DEPTH: QueryKind.BLOCK_DEPTH,
}


@dataclass(frozen=True, repr=False)
class BlockAggregate:
    """A function on blocks, and the aggregate of what it returns between `lower` and `upper`; a depth needs neither.

    Its coefficients are the places of the numbers between their bounds, from -1 to 1; of a depth the numbers.
    """

    function: BlackBox | LeastSquares
    blocks: int
    aggregator: Aggregator
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    name: str = "subsample-and-aggregate"
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def __repr__(self) -> str:
        return f"BlockAggregate(blocks={self.blocks}, aggregator={str(self.aggregator)!r})"

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the aggregate; where a stability test failed, all coefficients are exactly 0."""
        del plan
        lower, upper = np.array(self.lower), np.array(self.upper)
        if self.aggregator is Aggregator.DEPTH:
            return Solution(np.nan_to_num(gate.ask(BlockDepth(self.function, self.blocks)).value, nan=0.0))
        if self.aggregator is Aggregator.MEDIAN:
            return Solution(gate.ask(BlockMedian(self.function, self.blocks, lower, upper)).value)
        radius = math.nextafter(math.sqrt(self.function.size), math.inf)
        query = BlockMean(self.function, self.blocks, (lower + upper) / 2, (upper - lower) / 2, radius)
        return Solution(gate.ask(query).value)


def plan(facts: PublicFacts, solver: BlockAggregate, blocks: int | None) -> Plan:
    """Price the aggregate of a function, on so many blocks, or as many as the rules say.

    Guarantee
    ---------
    - The event of the plan costs at most the budget.
    - Refusals are by public numbers alone.
    """
    size = solver.function.size
    chosen = _blocks(facts, solver) if blocks is None else blocks
    require_rows(facts.records, chosen, size)
    function = replace(solver.function, rows_needed=rows_needed(facts.records, chosen, size))
    solver = replace(solver, blocks=chosen, function=function)
    source = "assumed" if blocks is None else "declared"
    public = PublicFact("blocks", chosen, source)
    if facts.budget.is_infinite:
        return assembled(facts, solver, ()).with_facts(public)
    kind = KINDS[solver.aggregator]
    sized = size if kind is QueryKind.BLOCK_MEDIAN else 1
    step = Step(kind, _price(facts, solver), 1, Purpose.AGGREGATE, sized)
    return assembled(facts, solver, (step,)).with_facts(public)


def _blocks(facts: PublicFacts, solver: BlockAggregate) -> int:
    size, budget = solver.function.size, facts.budget
    if solver.aggregator is Aggregator.DEPTH:
        most = math.floor(facts.records / (BLOCKS.rows_a_number * size))
        return max(2, min(BLOCKS.deep, most))
    simple = budget.is_infinite or budget.is_pure
    mu = BLOCKS.unnoised if simple else math.sqrt(mu_squared_of(budget))
    # Half the width of a box has a norm of √size, and so has the noise on its coordinates.
    return block_count(facts.records, size, 2 * size / mu, jackknife=solver.function.groups > 1)


def _price(facts: PublicFacts, solver: BlockAggregate) -> AnyPrice:
    budget, size = facts.budget, solver.function.size
    if solver.aggregator is Aggregator.MEAN:
        if budget.is_pure:
            raise SettingError('A mean over blocks needs Gaussian noise: give a delta above 0, or aggregator="median".')
        kind, allowed = QueryKind.BLOCK_MEAN, mu_squared_of(budget)
        return price_for(kind, allowed, facts.relation, records=solver.blocks, width=size)
    if budget.epsilon is None or budget.delta is None:
        raise BudgetError(f"The {solver.aggregator} of blocks has no μ: give a budget of epsilon and delta.")
    epsilon = Fraction(budget.epsilon) * (1 - SLACK)
    if solver.aggregator is Aggregator.DEPTH:
        if budget.is_pure:
            raise SettingError("A depth has a stability test, which may fail: give a delta above 0.")
        return depth_price(epsilon, Fraction(budget.delta))
    return median_price(epsilon, budget.delta, size, facts)


def median_price(epsilon: Fraction, delta: float, size: int, facts: PublicFacts) -> ChoicePrice:
    """The largest rate at which `size` medians together are (ε, δ)-private."""

    def costs(steps: int) -> float | Fraction:
        price = ChoicePrice(Fraction(steps, FINEST_RATE))
        total = compose(events_of(QueryKind.BLOCK_MEDIAN, price, facts.relation, size), facts.relation)
        pure = total.pure_epsilon
        return pure if delta == 0.0 and pure is not None else total.epsilon(delta)

    # Pure composition is always allowed; with δ a rate of many medians may be larger.
    low = max(1, math.floor(epsilon / (2 * size) * FINEST_RATE))
    high = max(2 * low, math.floor(epsilon * FINEST_RATE))
    if costs(low) > epsilon:
        raise BudgetError("The budget is too small for this plan: use a larger epsilon, or fewer numbers.")
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if costs(middle) <= epsilon else (low, middle)
    return ChoicePrice(Fraction(low, FINEST_RATE))
