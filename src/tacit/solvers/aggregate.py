"""Subsample and aggregate: a minimiser on each of k disjoint blocks, and the noised mean of them all.

    θ = (1/k) Σ over blocks of clip(θ̂ of the block) + noise,     clip to norm R

One unit is in one block, so it moves the mean by at most 2R/k, whatever the loss is. With n/k rows a block, a block's
estimate has a bias of order k/n, jackknifed of order (k/n)². The noise has standard deviation 2R/(kμ). It is below the
sampling error of order 1/√n where k grows faster than √n, and so is the jackknifed bias where k grows slower than
n^(3/4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.block_query import BlockMean, BlockMinimum
from tacit.contract.plan import Plan, PublicFact, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.sensitivity import price_for
from tacit.design.response import Continuous
from tacit.errors import SettingError
from tacit.losses.loss import Code
from tacit.solvers import requirements as needs
from tacit.solvers.block_rules import BLOCKS
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled

NAME = "aggregate"
REQUIRES = (
    needs.NO_INTERVALS,
    Requirement(
        needs.loss_is(Code.LOGISTIC, Code.SQUARED, Code.HUBER, Code.SMOOTH_HUBER, Code.HINGE),
        f'solver="{NAME}" is not for the {{loss}} loss. Use tacit.SubsampleAggregate, or another solver.',
    ),
    Requirement(
        lambda facts, _: not facts.loss.relative,
        f'solver="{NAME}" needs a declared scale: that of the residuals would have to be found first.',
    ),
    Requirement(
        lambda facts, _: facts.design.attached.offset is None and facts.design.attached.weighting is None,
        f'solver="{NAME}" is for plain records, without offset or weights.',
    ),
    Requirement(needs.no_penalty, f'solver="{NAME}" takes no l2, prior_mean, radius and constraint: leave them out.'),
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    *needs.takes_no(NAME, "iterations", "step_size", "output"),
)


@dataclass(frozen=True)
class Aggregate:
    """One noised mean over blocks, of coefficients within a ball."""

    blocks: int
    radius: float
    ridge: float
    rows_needed: int
    groups: int
    name: str = NAME
    intervals: ClassVar[bool] = False
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the mean."""
        width = plan.design.width
        function = BlockMinimum(plan.loss, width, self.ridge, self.groups, self.rows_needed)
        query = BlockMean(function, self.blocks, np.zeros(width), np.full(width, self.radius), 1.0)
        return Solution(gate.ask(query).value * self.radius)


def block_count(records: int, size: int, noise: float, *, jackknife: bool) -> int:
    """How many blocks: k minimises (noise / k)² + bias², the bias that of blocks of n / k rows.

    `noise` is k times the standard deviation of the released vector's length, in units of the bounds. With the
    jackknife k grows like n^(2/3), without like √n. No more than leave `rows_a_number` rows for each number.
    """
    most = records / (BLOCKS.rows_a_number * size)
    if jackknife:
        best = (noise / (math.sqrt(2) * BLOCKS.bias)) ** (1 / 3) * (records / size) ** (2 / 3)
    else:
        best = math.sqrt(noise / BLOCKS.plain_bias * records / size)
    return max(2, math.floor(min(float(best), most)))


def require_rows(records: int, blocks: int, size: int) -> None:
    """Refuse blocks that are expected to have fewer rows than numbers to find, by public facts alone."""
    if records < blocks * size:
        raise SettingError(
            f"{blocks} blocks of {records} records have {records / blocks:.3g} each, fewer than the {size} numbers "
            f"that a block returns. Use blocks={records // size} or fewer, more records or fewer columns."
        )


def rows_needed(records: int, blocks: int, size: int) -> int:
    """Rows below which a block gives the default answer."""
    return max(size, math.floor(BLOCKS.default_share * records / blocks))


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the mean over the blocks.

    Guarantee
    ---------
    - The event of the plan costs at most `allowed`, a μ², in exact rationals.
    """
    require(REQUIRES, facts, options)
    solver = _settings(facts, math.sqrt(allowed))
    # What is summed are blocks, not records.
    price = price_for(QueryKind.BLOCK_MEAN, allowed, facts.relation, records=solver.blocks, width=facts.coordinates)
    steps = (Step(QueryKind.BLOCK_MEAN, price, 1, Purpose.AGGREGATE),)
    return assembled(facts, solver, steps).with_facts(PublicFact("blocks", solver.blocks, "declared"))


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan | None:
    """Plan without noise (ε = ∞): the mean over the blocks alone; None where intervals are asked for."""
    if options.inference:
        return None
    require(REQUIRES, facts, options)
    return assembled(facts, _settings(facts, BLOCKS.unnoised), ())


def _settings(facts: PublicFacts, mu: float) -> Aggregate:
    numbers = isinstance(facts.design.response, Continuous)
    radius, ridge = (BLOCKS.numbers, BLOCKS.flat) if numbers else (BLOCKS.labels, BLOCKS.ridge)
    records, size = facts.records, facts.coordinates
    blocks = block_count(records, size, 2 * math.sqrt(size) / mu, jackknife=True)
    require_rows(records, blocks, size)
    return Aggregate(blocks, radius, ridge, rows_needed(records, blocks, size), BLOCKS.groups)
