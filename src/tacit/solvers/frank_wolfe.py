"""Frank and Wolfe's method over an l1 ball: every step goes towards one vertex, which is selected privately.

    v = argmin over vertices of <Σ loss'(z·θ, y) z, v>,     θ ← (1 - γ)θ + γ v,     γ = 2 / (t + 2 + s)

A vertex has one slope, so a score's sensitivity is that of one entry of a gradient, and the noise grows with the
logarithm of the number of columns: for tables with far more columns than records. A step is an exponential mechanism of
bounded range η. T of them cost about T η²/8 in concentrated privacy, and η is the largest that is within ε at δ. The
constant is no part of the ball; it stays within a public bound.

References
----------
Talwar, Thakurta and Zhang (2015), "Nearly optimal private LASSO".
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.accounting.composition import compose
from tacit.constraints.region import L1Ball
from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, GradientSum, QueryKind
from tacit.contract.selection_price import selection_price
from tacit.contract.selection_query import VertexChoice
from tacit.design.response import Continuous
from tacit.errors import BudgetError
from tacit.losses.loss import Code
from tacit.privacy.event import BoundedRange, Repeated
from tacit.privacy.relation import Relation
from tacit.solvers import requirements as needs
from tacit.solvers.coordinates import Vector, gradient_bound
from tacit.solvers.interval_rules import FRANK_WOLFE
from tacit.solvers.noisy_steps import take_steps
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.rules import between
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled

NAME = "frank-wolfe"
UNBOUNDED = frozenset({Code.POISSON, Code.DISTANCE})
"""Losses whose slopes have no scale of their own."""
HALVINGS = 40
"""Of the interval in which the range of a step is sought."""
EXACT_STEPS, LINE_STEPS, GAP = 2000, 12, 1e-7
"""Without noise: steps at most, bisections along a step, and the gap at which they end."""
REQUIRES = (
    needs.NO_INTERVALS,
    Requirement(
        lambda facts, _: isinstance(facts.penalty.constraint, L1Ball),
        f'solver="{NAME}" walks between the vertices of an l1 ball: give constraint=tacit.constraints.L1Ball(radius).',
    ),
    Requirement(
        lambda facts, _: facts.penalty.l2 == 0.0 and facts.penalty.prior_mean is None,
        f'solver="{NAME}" takes no l2 and no prior_mean: the ball is the penalty. Leave them out.',
    ),
    Requirement(
        lambda facts, _: facts.design.outputs == 1 and facts.loss.code is not Code.SOFTMAX,
        f'solver="{NAME}" is for one linear predictor: two classes or a number.',
    ),
    Requirement(
        lambda facts, _: not facts.loss.relative and facts.loss.code not in UNBOUNDED,
        f'solver="{NAME}" needs a loss with bounded slopes and a public scale: declare scale=… or smoothing=….',
    ),
    Requirement(
        lambda facts, _: facts.design.attached.unit is None, f'solver="{NAME}" is for plain records, without units.'
    ),
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    *needs.takes_no(NAME, "step_size", "output"),
)
BUDGETS = (
    Requirement(
        lambda facts, _: facts.budget.epsilon is not None,
        "A selection has no mu and no rho of its own: give a budget of epsilon, with or without delta.",
        BudgetError,
    ),
)


@dataclass(frozen=True)
class FrankWolfe(CoefficientSolver):
    """Steps to vertices, from 0; slopes are clipped to ±`clip`, and the constant lies within ±`level`."""

    iterations: int
    clip: float
    level: float
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the vertices."""
        radii, constant = radii_of(plan, self.level), plan.design.intercept

        def step(number: int, theta: Vector) -> Vector:
            place, side, level = gate.ask(VertexChoice(theta, radii, self.clip, plan.loss, constant)).value
            share = 2.0 / (number + 2.0 + FRANK_WOLFE.first)
            theta = (1.0 - share) * theta
            theta[int(place)] += share * side * radii[int(place)]
            if constant:
                theta[-1] += share * level * radii[-1]
            return theta

        return Solution(take_steps(np.zeros(plan.design.width), self.iterations, step, first=self.iterations - 1))


@dataclass(frozen=True)
class ExactFrankWolfe(CoefficientSolver):
    """The method without noise (ε = ∞), with pairwise steps: weight moves from the worst vertex to the best."""

    level: float
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Take steps until no vertex promises more than the gap."""
        radii, constant = radii_of(plan, self.level), plan.design.intercept
        count, bound = len(plan.design.columns), gradient_bound(plan)

        def slope(at: Vector) -> Vector:
            return np.asarray(gate.ask(GradientSum(at, bound, loss=plan.loss)).value / plan.count)

        theta, weights = np.zeros(plan.design.width), {(0, 1.0): 0.5, (0, -1.0): 0.5}
        for _ in range(EXACT_STEPS):
            gradient = slope(theta)
            if constant:
                theta[-1] = _along_constant(slope, theta, radii[-1])
                gradient = slope(theta)
            forms = gradient[:count] * radii[:count]
            place = int(np.argmax(np.abs(forms)))
            best = place, -math.copysign(1.0, forms[place])
            worst = max(weights, key=lambda vertex: vertex[1] * forms[vertex[0]])
            if float(gradient[:count] @ theta[:count]) + abs(forms[place]) <= GAP or best == worst:
                break
            move = np.zeros(len(theta))
            move[best[0]] += best[1] * radii[best[0]]
            move[worst[0]] -= worst[1] * radii[worst[0]]
            length = _line_search(slope, theta, move, weights[worst])
            theta = theta + length * move
            weights[best] = weights.get(best, 0.0) + length
            weights[worst] -= length
            if weights[worst] <= 0.0:
                del weights[worst]
        return Solution(theta)


def _line_search(slope: Any, theta: Vector, move: Vector, most: float) -> float:
    """The length in [0, most] at which the slope along a move turns, by bisection."""
    if float(slope(theta + most * move) @ move) <= 0.0:
        return most
    low, high = 0.0, most
    for _ in range(LINE_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(slope(theta + middle * move) @ move) <= 0.0 else (low, middle)
    return low if low > 0.0 else high / 2


def _along_constant(slope: Any, theta: Vector, radius: float) -> float:
    """The constant within ±radius at which its slope turns."""
    move = np.zeros(len(theta))
    move[-1] = 1.0
    start = theta * (1.0 - move) - radius * move
    return float(_line_search(slope, start, move, 2 * radius) - radius)


def radii_of(plan: Plan, level: float) -> Vector:
    """Radii of the ball in prepared coordinates, and the bound on the constant, which is last."""
    design = plan.design
    scale = design.response.scale if isinstance(design.response, Continuous) else 1.0
    assert isinstance(plan.penalty.constraint, L1Ball)  # noqa: S101 - for the type checker
    slopes = plan.penalty.constraint.radius / scale * np.array([column.scale for column in design.columns])
    return np.append(slopes, level) if design.intercept else slopes


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps.

    Guarantee
    ---------
    - The events cost at most ε at δ, by the accountant that will price them.
    """
    require((*BUDGETS, *REQUIRES), facts, options)
    steps = steps_of(facts, options, float(allowed) / 2)
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    return _planned(facts, steps, largest_range(steps, facts.relation, epsilon, delta))


def pure_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps where delta is 0: their ranges add up to `allowed`, an ε.

    Guarantee
    ---------
    - The events cost at most `allowed`, in exact rationals.
    """
    require((*BUDGETS, *REQUIRES), facts, options)
    most, least = FRANK_WOLFE.steps[1], FRANK_WOLFE.steps[0]
    steps = options.iterations or int(between(float(allowed) / _clear_range(facts), least, most))
    return _planned(facts, steps, allowed / steps)


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan without noise (ε = ∞)."""
    require(REQUIRES, facts, options)
    return assembled(facts, ExactFrankWolfe(_level(facts)), ())


def steps_of(facts: PublicFacts, options: SolverOptions, rho: float) -> int:
    """How many steps a concentrated budget pays for, if each has a range at which scores stand out."""
    least, most = FRANK_WOLFE.steps
    most = min(most, facts.passes_allowed(options) + facts.counts)
    return options.iterations or int(between(8 * rho / _clear_range(facts) ** 2, min(least, most), most))


def _clear_range(facts: PublicFacts) -> float:
    """The range at which a score of `seen`·n clips is as likely as all others together."""
    candidates = 2 * len(facts.design.columns) * (2 if facts.design.intercept else 1)
    share = FRANK_WOLFE.seen * facts.records / (2 * facts.sensitivity)
    return math.log(candidates) / share


def _level(facts: PublicFacts) -> float:
    numeric = isinstance(facts.design.response, Continuous)
    return FRANK_WOLFE.response_level if numeric else FRANK_WOLFE.level


def _planned(facts: PublicFacts, steps: int, each: Fraction) -> Plan:
    price = selection_price(QueryKind.SIGNED_SELECTION, each, facts.relation)
    clip = FRANK_WOLFE.slope * facts.loss.lipschitz
    if isinstance(facts.design.response, Continuous):
        clip = min(clip, FRANK_WOLFE.response_slope)
    solver = FrankWolfe(steps, clip, _level(facts))
    return assembled(facts, solver, (Step(QueryKind.SIGNED_SELECTION, price, steps, Purpose.VERTEX),))


@functools.lru_cache(maxsize=64)
def largest_range(times: int, relation: Relation, epsilon: float, delta: float) -> Fraction:
    """The largest range, to a part in 10^6, of so many selections that are within ε at δ together.

    Guarantee
    ---------
    - The price, by the accountant that will price them, is at most ε.
    """

    def cost(each: float) -> float:
        return compose([Repeated(BoundedRange(Fraction(each)), times)], relation).epsilon(delta)

    # The sum of pure prices is within ε, rounded down.
    low, high = epsilon / times * (1 - 2.0**-50), epsilon
    if times == 1 or cost(high) <= epsilon:
        return Fraction(high)
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cost(middle) <= epsilon else (low, middle)
        if high <= low * (1 + 1e-6):
            break
    return Fraction(low)
