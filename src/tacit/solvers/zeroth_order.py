"""Descent by differences of losses at two points: for losses of which only values are known.

    D = Σ clip((loss(θ + hu) - loss(θ - hu)) / 2h),     θ ← θ - η d (D + noise) u / n,     u a public unit vector

One number is released a step, so its noise does not grow with the number d of coefficients; but it takes d times as
many steps as a gradient does. With a clip of c L‖z‖/√d the expected error is bounded as that of `gradient` with c times
its noise. Directions are a public sequence: they hide nothing, and need not.

References
----------
Nesterov and Spokoiny (2017), "Random gradient-free minimization of convex functions".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Penalty, Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.contract.selection_query import VALUED, LossDifference
from tacit.losses.loss import Code
from tacit.solvers import requirements as needs
from tacit.solvers.coordinates import Coordinates, Vector, penalty_in, slope_bound
from tacit.solvers.exact import quasi_newton
from tacit.solvers.interval_rules import ZEROTH_ORDER
from tacit.solvers.noisy_steps import first_averaged, take_steps
from tacit.solvers.public_draws import PublicSequence
from tacit.solvers.requirements import Requirement, require
from tacit.solvers.rules import DESCENT
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, best_time, priced

NAME = "zeroth-order"
REQUIRES = (
    needs.NO_INTERVALS,
    Requirement(
        lambda facts, _: facts.loss.code in VALUED or facts.loss.code is Code.OWN,
        f'solver="{NAME}" is not for the {{loss}} loss: its values are not computed. Use solver="auto".',
    ),
    Requirement(
        lambda facts, _: facts.design.outputs == 1,
        f'solver="{NAME}" is for one linear predictor: two classes or a number.',
    ),
    Requirement(
        lambda facts, _: not facts.loss.relative,
        f'solver="{NAME}" needs a public scale of the loss: declare scale=… or smoothing=….',
    ),
    Requirement(
        lambda facts, _: facts.design.attached.unit is None, f'solver="{NAME}" is for plain records, without units.'
    ),
    Requirement(
        lambda facts, _: facts.penalty == Penalty(facts.penalty.l2, facts.penalty.prior_mean),
        f'solver="{NAME}" takes l2 and prior_mean, but no radius and constraint: leave them out.',
    ),
    Requirement(needs.declared_bounds, f'solver="{NAME}" needs declared bounds.'),
    # The steps would be too long by the unknown factor n / n_at_least.
    Requirement(needs.public_n, f'solver="{NAME}" needs a public n. Use relation="zero-out" or "replace-one".'),
    *needs.takes_no(NAME, "clip", "noise_multiplier", "start"),
)


@dataclass(frozen=True)
class ZerothOrder(CoefficientSolver):
    """Steps along public directions; `clip` bounds a record's difference over 2h, `distance` is h."""

    iterations: int
    step_size: float
    clip: float
    distance: float
    output: str
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the differences."""
        ridge, _, start = penalty_in(plan, Coordinates(None, float(plan.design.width)))
        draws, width = PublicSequence(ZEROTH_ORDER.seed), plan.design.width

        def step(_: int, theta: Vector) -> Vector:
            direction = draws.standard_normal(width)
            direction = direction / np.linalg.norm(direction)
            query = LossDifference(theta, direction, self.distance, self.clip, plan.loss)
            slope = width * float(gate.ask(query).value[0]) / plan.count
            return ridge.proximal(theta - self.step_size * slope * direction, self.step_size)

        return Solution(
            take_steps(start, self.iterations, step, first=first_averaged(self.iterations, self.output, 0.5))
        )


@dataclass(frozen=True)
class ExactZerothOrder(CoefficientSolver):
    """The minimiser without noise (ε = ∞), by differences along all axes."""

    clip: float
    distance: float
    name: str = NAME
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Minimise by quasi-Newton steps on gradients that are made of differences."""
        ridge, _, start = penalty_in(plan, Coordinates(None, float(plan.design.width)))

        def slope(at: Vector) -> Vector:
            axes = np.eye(len(at))
            asked = [LossDifference(at, axis, self.distance, self.clip, plan.loss) for axis in axes]
            found = np.array([float(gate.ask(query).value[0]) for query in asked])
            return np.asarray(found / plan.count + ridge.gradient(at))

        return Solution(quasi_newton(gate, plan, ridge, start, slope))


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the differences.

    Guarantee
    ---------
    - The events cost at most `allowed`, a μ², in exact rationals.
    """
    require(REQUIRES, facts, options)
    width, row_norm = facts.design.width, facts.design.row_norm
    steepest = slope_bound(facts.loss, 1.0) * row_norm
    clip = steepest * min(1.0, ZEROTH_ORDER.spread / math.sqrt(width))
    noise = facts.sensitivity * clip * math.sqrt(width) / (facts.records * math.sqrt(allowed))
    time = best_time(noise, width, DESCENT.radius / row_norm)
    bent = facts.loss.smoothness if math.isfinite(facts.loss.smoothness) else 1.0
    smoothness = row_norm**2 * bent
    passes = facts.passes_allowed(options) + facts.counts
    iterations = options.iterations or max(1, min(passes, math.ceil(width * smoothness * time)))
    step_size = options.step_size or min(time / iterations, 1 / (width * smoothness))
    solver = ZerothOrder(iterations, step_size, clip, ZEROTH_ORDER.step / row_norm, options.output or "average")
    return assembled(facts, solver, (priced(facts, QueryKind.MEANS, allowed, iterations, Purpose.DIFFERENCES),))


def exact_plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan without noise (ε = ∞)."""
    require(REQUIRES, facts, options)
    norm = facts.design.row_norm
    return assembled(
        facts, ExactZerothOrder(slope_bound(facts.loss, facts.records) * norm, ZEROTH_ORDER.step / norm), ()
    )
