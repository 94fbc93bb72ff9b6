"""Newton's method with noise on the gradient, and again on the direction.

    g = Σ w loss'(z·θ, y) z + noise,    θ ← θ - ((Σ w h z z' + λ I)⁻¹ g + noise)

The second noise grows with ‖g‖ and so shrinks as the steps do. The damping λ balances it against
the steps that it shortens, by the trace of the curvature at 0, where it is largest. Nothing is
divided by n, so n may be private.

References
----------
Ganesh, Haghifam, Steinke and Thakurta (2023), "Faster differentially private convex optimization
via second-order methods".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import CurvatureTrace, DampedDirection, Gate, GradientSum, QueryKind
from tacit.contract.sensitivity import price_for
from tacit.losses.loss import Code
from tacit.solvers import requirements as needs
from tacit.solvers.coordinates import Vector
from tacit.solvers.interval_rules import DOUBLE_NOISE
from tacit.solvers.noisy_steps import take_steps
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced

NAME = "double-noise-newton"
REQUIRES = (
    Requirement(needs.loss_is(Code.LOGISTIC), f'solver="{NAME}" is for the logistic regression of two classes.'),
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    Requirement(needs.no_intervals, f'There are no intervals for solver="{NAME}".'),
    Requirement(lambda facts, _: facts.design.attached.unit is None, f'solver="{NAME}" is for records without units.'),
    Requirement(needs.no_penalty, f'solver="{NAME}" takes no l2, prior_mean, radius and constraint.'),
    *needs.takes_no(NAME, "step_size", "output"),
)


@dataclass(frozen=True)
class DoubleNoise(CoefficientSolver):
    """Rounds of gradient and direction, from 0; the last iterate is the result."""

    rounds: int
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the trace of the curvature, then for gradients and directions in turn."""
        clip, loss = plan.design.row_norm, plan.loss
        damping = damping_of(gate, plan)

        def step(_: int, theta: Vector) -> Vector:
            gradient = gate.ask(GradientSum(theta, clip, None, True, loss)).value
            direction = DampedDirection(theta, gradient, damping, clip, None, loss)
            theta = theta - gate.ask(direction).value
            norm = float(np.linalg.norm(theta)) * clip
            return theta * (DOUBLE_NOISE.farthest / norm) if norm > DOUBLE_NOISE.farthest else theta

        start = np.zeros(plan.design.width)
        return Solution(take_steps(start, self.rounds, step, first=self.rounds - 1))


def damping_of(gate: Gate, plan: Plan) -> float:
    """Choose the damping: (tr / ρ)^⅓ for rows of norm 1, ρ = μ²/2 of one direction, 1 at least."""
    clip, width = plan.design.row_norm, plan.design.width
    answer = gate.ask(CurvatureTrace(np.zeros(width), clip, None, plan.loss))
    trace = max(float(answer.value[0]), answer.noise_scale) / clip**2
    price = plan.step(Purpose.DIRECTION).price
    rho = math.inf if price is None else 0.5 * (price.bound / 2.0**price.bits) ** 2
    return clip**2 * max(1.0, math.cbrt(trace / rho))


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the rounds.

    Guarantee
    ---------
    - The events cost at most `allowed`, in exact rationals.
    """
    require(REQUIRES, facts, options)
    rounds = options.iterations or DOUBLE_NOISE.rounds
    if options.iterations is None and options.max_passes is not None:
        rounds = max(1, min(rounds, (options.max_passes - 1) // 2))
    trace = priced(facts, QueryKind.COUNTS, allowed * DOUBLE_NOISE.trace, 1, Purpose.CURVATURE_TRACE)
    share = allowed * DOUBLE_NOISE.gradients / rounds
    gradient = priced(facts, QueryKind.GRADIENT, share, 1, Purpose.GRADIENT)
    share = allowed * DOUBLE_NOISE.directions / rounds
    price = price_for(QueryKind.DIRECTION, share, facts.relation, records=1, width=facts.design.width)
    direction = Step(QueryKind.DIRECTION, price, 1, Purpose.DIRECTION)
    return assembled(facts, DoubleNoise(rounds), (trace, *rounds * (gradient, direction)))
