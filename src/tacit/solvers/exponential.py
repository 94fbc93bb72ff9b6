"""The exponential mechanism over losses: a candidate, or a draw from a posterior, and no noise on anything.

Up to three coefficients, the constant included: candidates on a public grid, of which one is selected with probability
∝ exp(-rate·Σ loss), each loss clipped. The grid costs utility alone: the selection is exact.

Up to ten, for losses that bend slowly (logistic, and smooth Huber in the place of least squares and Huber's): a draw
with density ∝ exp(-k Σ loss - (λ/2)‖θ‖²). The gradients of neighbours' sums differ by at most Δ = 2 C L (C L if a
record is blanked), so the draw is μ-GDP with μ = k Δ / √λ. λ is the least for which rejection from a public envelope is
certain to be fast on every table; k follows from μ.

References
----------
McSherry and Talwar (2007), "Mechanism design via differential privacy". Gopi, Lee and Liu (2022), "Private convex
optimization via exponential mechanism", Theorem 4.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.selection_price import selection_price
from tacit.contract.selection_query import BENT, VALUED, CandidateChoice, PosteriorDraw
from tacit.contract.sensitivity import price_for
from tacit.design.response import Continuous
from tacit.losses import regression
from tacit.losses.constants import largest_at_zero
from tacit.losses.loss import Code, Loss
from tacit.losses.posterior_envelope import bending, smallest_ridge
from tacit.solvers import requirements as needs
from tacit.solvers.interval_rules import EXPONENTIAL
from tacit.solvers.output_perturbation import RESPONSE_WIDTH
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.rules import between
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled

NAME = "exponential"
_OTHERS = 'solver="objective-perturbation" or "output-perturbation", which have no such limit'
REQUIRES = (
    needs.NO_INTERVALS,
    Requirement(
        lambda facts, _: facts.design.outputs == 1 and facts.loss.code is not Code.SOFTMAX,
        f'solver="{NAME}" is for one linear predictor: two classes or a number.',
    ),
    Requirement(
        lambda facts, _: not facts.loss.relative,
        f'solver="{NAME}" needs a public scale of the loss: declare scale=… or smoothing=….',
    ),
    Requirement(
        lambda facts, _: facts.loss.code in VALUED,
        f'solver="{NAME}" is not for the {{loss}} loss: its values have no certified bounds. Use solver="auto".',
    ),
    Requirement(
        lambda facts, _: facts.design.attached.offset is None and facts.design.attached.unit is None,
        f'solver="{NAME}" is for plain records, without offset or units.',
    ),
    Requirement(
        needs.no_penalty, f'solver="{NAME}" takes no l2, prior_mean, radius and constraint: its prior is its own.'
    ),
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    Requirement(
        lambda facts, _: facts.design.width <= EXPONENTIAL.coefficients,
        f'solver="{NAME}" has a certified sampler for up to {EXPONENTIAL.coefficients} coefficients, the intercept '
        f"counted. Use fewer columns, or {_OTHERS}.",
    ),
    *needs.takes_no(NAME, "iterations", "step_size", "output", "max_passes"),
)
BENDS = Requirement(
    lambda facts, _: smooth(facts.loss).code in BENT,
    f'solver="{NAME}" is for up to {EXPONENTIAL.grid} coefficients of the {{loss}} loss, the intercept counted: its '
    f"curvature jumps, so that no sampler is certified beyond the grid. Use fewer columns, or {_OTHERS}.",
)


@dataclass(frozen=True)
class Grid(CoefficientSolver):
    """Candidates on a grid of `points` values a coefficient within ±`reach`; losses are clipped to `cap`."""

    points: int
    reach: float
    cap: float
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for a candidate."""
        candidates = self.candidates(plan.design.width)
        index = gate.ask(CandidateChoice(candidates, self.cap, plan.loss)).value[0]
        return Solution(np.array(candidates[int(index)]))

    def candidates(self, width: int) -> NDArray[np.float64]:
        """All points of the grid, (point, coefficient)."""
        axis = np.linspace(-self.reach, self.reach, self.points)
        return np.stack(np.meshgrid(*[axis] * width, indexing="ij"), axis=-1).reshape(-1, width)


@dataclass(frozen=True)
class Posterior(CoefficientSolver):
    """One draw from a posterior with ridge λ on every coefficient."""

    ridge: float
    radius: float
    proposals: int
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the draw."""
        query = PosteriorDraw(plan.design.row_norm, self.ridge, self.radius, self.proposals, smooth(plan.loss))
        return Solution(gate.ask(query).value)


def smooth(loss: Loss) -> Loss:
    """The loss whose posterior is drawn from: least squares and Huber's have a smooth relative."""
    if loss.code is Code.SQUARED:
        return regression.smooth_huber(RESPONSE_WIDTH)
    return regression.smooth_huber(loss.shape[0]) if loss.code is Code.HUBER else loss


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a candidate where there are few coefficients, else a draw from a posterior.

    A budget of μ or ρ has no ε for a candidate, so that it is spent on a draw.

    Guarantee
    ---------
    - A candidate costs at most ε, a draw at most `allowed`, a μ², in exact rationals.
    """
    require(REQUIRES, facts, options)
    if facts.design.width <= EXPONENTIAL.grid and facts.budget.epsilon is not None:
        return grid_plan(facts, Fraction(facts.budget.epsilon))
    require((BENDS,), facts, options)
    return _posterior(facts, allowed)


def pure_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a candidate where delta is 0.

    Guarantee
    ---------
    - The event costs at most `allowed`, an ε, in exact rationals.
    """
    require(REQUIRES, facts, options)
    require((PURE,), facts, options)
    return grid_plan(facts, allowed)


PURE = Requirement(
    lambda facts, _: facts.design.width <= EXPONENTIAL.grid,
    f'solver="{NAME}" is pure for up to {EXPONENTIAL.grid} coefficients, the intercept counted: beyond the grid a draw '
    "has a delta. Use fewer columns, or a delta above 0, for example delta=1e-6.",
)


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan | None:
    """Plan without noise (ε = ∞): the best candidate of the grid; None where there is no grid."""
    require(REQUIRES, facts, options)
    return assembled(facts, grid_of(facts), ()) if facts.design.width <= EXPONENTIAL.grid else None


def grid_plan(facts: PublicFacts, epsilon: Fraction) -> Plan:
    """Price a candidate of the grid."""
    price = selection_price(QueryKind.SELECTION, epsilon, facts.relation)
    return assembled(facts, grid_of(facts), (Step(QueryKind.SELECTION, price, 1, Purpose.CANDIDATE),))


def grid_of(facts: PublicFacts) -> Grid:
    """The grid, from public numbers: as fine as its work allows."""
    numeric = isinstance(facts.design.response, Continuous)
    most = between(EXPONENTIAL.work / facts.records, EXPONENTIAL.fewest, EXPONENTIAL.points)
    points = int(min(most ** (1 / facts.design.width), EXPONENTIAL.fineness * math.sqrt(facts.records)) + 1e-9)
    # An odd number, so that 0 is a candidate.
    points -= 1 - points % 2
    reach = EXPONENTIAL.response_reach if numeric else EXPONENTIAL.reach
    cap = EXPONENTIAL.cap * (0.5 if facts.loss.code is Code.SQUARED else largest_at_zero(facts.loss))
    return Grid(points, reach, cap)


def _posterior(facts: PublicFacts, allowed: Fraction) -> Plan:
    price = price_for(QueryKind.POSTERIOR, allowed, facts.relation, records=1, width=facts.design.width)
    loss = smooth(facts.loss)
    root, radius = smallest_ridge(facts.design.width, EXPONENTIAL.proposals)
    ridge = (root * bending(loss) * facts.design.row_norm) ** 2 * (1 + 2.0**-30)
    step = Step(QueryKind.POSTERIOR, price, 1, Purpose.POSTERIOR)
    return assembled(facts, Posterior(ridge, radius, EXPONENTIAL.proposals), (step,))
