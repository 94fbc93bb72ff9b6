"""Frank and Wolfe's method over an l1 ball: every step goes towards one vertex, which is selected privately.

    v = argmin over vertices of <Σ loss'(z·θ, y) z, v>,     θ ← (1 - γ)θ + γ v,     γ = 2 / (t + 2 + s)

A vertex has one slope, so a score's sensitivity is that of one entry of a gradient, and the noise grows with the
logarithm of the number of columns: for tables with far more columns than records. A step is an exponential mechanism of
bounded range η. T of them cost about T η²/8 in concentrated privacy, and η is the largest that is within ε at δ. The
constant is no part of the ball; it stays within a public bound. It is sought with the slopes held, by halving: before
the first step, halfway and after the last one. That is a choice of two, which stands out at a smaller range than one of
2d. A joint choice would share its sensitivity between both.

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
    halvings: int = 0
    """Of the constant, each time that it is sought."""
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the vertices, and for the constant between them."""
        radii, constant = radii_of(plan, self.level), plan.design.intercept
        slopes, alone = radii.copy(), np.zeros(len(radii))
        if constant:
            slopes[-1], alone[-1] = 0.0, radii[-1]

        def ask(theta: Vector, reach: Vector, clip: float) -> tuple[int, float, float]:
            place, side, level = gate.ask(VertexChoice(theta, reach, clip, plan.loss, constant)).value
            return int(place), float(side), float(level)

        def centred(theta: Vector) -> Vector:
            theta[-1] = 0.0
            for halving in range(self.halvings):
                theta[-1] += ask(theta, alone, plan.loss.lipschitz)[2] * radii[-1] / 2.0 ** (halving + 1)
            return theta

        def step(number: int, theta: Vector) -> Vector:
            place, side, _ = ask(theta, slopes, self.clip)
            share = 2.0 / (number + 2.0 + FRANK_WOLFE.first)
            level = theta[-1]
            theta = (1.0 - share) * theta
            theta[place] += share * side * radii[place]
            if constant:
                theta[-1] = level
                if number + 1 in _sought_after(self.iterations):
                    theta = centred(theta)
            return theta

        start = np.zeros(plan.design.width)
        start = centred(start) if constant else start
        return Solution(take_steps(start, self.iterations, step, first=self.iterations - 1))


def _sought_after(steps: int) -> tuple[int, int]:
    """The numbers of steps after which the constant is sought again."""
    return (steps + 1) // 2, steps


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
    walk = _walk(facts, options, 8 * (float(allowed) / 2) / _clear_range(facts) ** 2)
    epsilon, delta = facts.budget.epsilon or 0.0, facts.budget.delta or 0.0
    return _planned(facts, walk, largest_range(walk, facts.relation, epsilon, delta))


def pure_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps where delta is 0: their ranges add up to `allowed`, an ε.

    Guarantee
    ---------
    - The events cost at most `allowed`, in exact rationals.
    """
    require((*BUDGETS, *REQUIRES), facts, options)
    walk = _walk(facts, options, float(allowed) / _clear_range(facts))
    return _planned(facts, walk, allowed / (walk.steps + walk.searches * walk.halvings * walk.part))


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan without noise (ε = ∞)."""
    require(REQUIRES, facts, options)
    return assembled(facts, ExactFrankWolfe(_level(facts)), ())


@dataclass(frozen=True)
class Walk:
    """How many steps there are, and how often the constant is halved at each of three searches."""

    steps: int
    halvings: int
    searches: ClassVar[int] = 3

    @property
    def part(self) -> Fraction:
        """√(share·T / halvings), rounded: the halvings have `share` of what the steps cost in concentrated privacy."""
        if self.halvings == 0:
            return Fraction(0)
        part = math.sqrt(FRANK_WOLFE.constant * self.steps / (self.searches * self.halvings))
        return Fraction(round(min(part, 1.0) * 2**10), 2**10)

    def events(self, each: Fraction) -> list[Repeated]:
        """What the steps cost, and the halvings."""
        found = [Repeated(BoundedRange(each), self.steps)]
        if self.halvings:
            found.append(Repeated(BoundedRange(each * self.part), self.searches * self.halvings))
        return found


def _walk(facts: PublicFacts, options: SolverOptions, paid: float) -> Walk:
    """As many steps as are paid for, if each has a range at which scores stand out, and halvings of the constant."""
    least, most = FRANK_WOLFE.steps
    halvings = FRANK_WOLFE.halvings if facts.design.intercept else 0
    passes = facts.passes_allowed(options) + facts.counts
    if options.max_passes is not None:
        # Half of the passes are for the constant, where they are few.
        halvings = min(halvings, max(1, passes // (2 * Walk.searches)))
        most = max(1, min(most, passes - Walk.searches * halvings))
    elif not facts.budget.is_pure:
        most = min(most, passes)
    return Walk(options.iterations or int(between(paid, min(least, most), most)), halvings)


def _clear_range(facts: PublicFacts) -> float:
    """The range at which a score of `seen`·n clips is as likely as all others together."""
    share = FRANK_WOLFE.seen * facts.records / (2 * facts.sensitivity)
    return math.log(2 * len(facts.design.columns)) / share


def _level(facts: PublicFacts) -> float:
    numeric = isinstance(facts.design.response, Continuous)
    return FRANK_WOLFE.response_level if numeric else FRANK_WOLFE.level


def _planned(facts: PublicFacts, walk: Walk, each: Fraction) -> Plan:
    clip = FRANK_WOLFE.slope * facts.loss.lipschitz
    if isinstance(facts.design.response, Continuous):
        clip = min(clip, FRANK_WOLFE.response_slope)
    solver = FrankWolfe(walk.steps, clip, _level(facts), walk.halvings)

    def priced(purpose: Purpose, eta: Fraction, times: int) -> list[Step]:
        kind = QueryKind.SIGNED_SELECTION
        return [Step(kind, selection_price(kind, eta, facts.relation), times, purpose)] if times else []

    half = _sought_after(walk.steps)[0]
    search = priced(Purpose.CONSTANT, each * walk.part, walk.halvings)
    first, last = (priced(Purpose.VERTEX, each, times) for times in (half, walk.steps - half))
    if not search:
        return assembled(facts, solver, tuple(priced(Purpose.VERTEX, each, walk.steps)))
    # One step alone is both halfway and the last.
    return assembled(facts, solver, (*search, *first, *search, *last, *(search if last else ())))


@functools.lru_cache(maxsize=64)
def largest_range(walk: Walk, relation: Relation, epsilon: float, delta: float) -> Fraction:
    """The largest range of a step, to a part in 10^6, with which all selections are within ε at δ together.

    Guarantee
    ---------
    - The price, by the accountant that will price them, is at most ε.
    """

    def cost(each: float) -> float:
        return compose(walk.events(Fraction(each)), relation).epsilon(delta)

    # The sum of pure prices is within ε, rounded down.
    whole = float(walk.steps + walk.searches * walk.halvings * walk.part)
    low, high = epsilon / whole * (1 - 2.0**-50), epsilon
    if cost(high) <= epsilon:
        return Fraction(high)
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cost(middle) <= epsilon else (low, middle)
        if high <= low * (1 + 1e-6):
            break
    return Fraction(low)
