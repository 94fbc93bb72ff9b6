"""Noisy gradient descent in the coordinates of the public bounds, as in the lecture notes.

Nothing is clipped: row norm and slope bound the gradients. The planner takes the time s = ηT with
the least bound on the excess loss (driver.py), and the fewest steps that allow it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.contract.plan import Forecast, Plan, Purpose, Solution
from tacit.contract.query import Gate, QueryKind
from tacit.solvers.coordinates import Coordinates, gradient_bound, slope_bound
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.requirements import NO_INTERVALS, Requirement, declared_bounds, public_n, require
from tacit.solvers.rules import DESCENT
from tacit.solvers.solver import (
    CoefficientSolver,
    PublicFacts,
    SolverOptions,
    assembled,
    best_time,
    excess_bound,
    priced,
    require_passes,
)

REQUIRES = (
    NO_INTERVALS,
    Requirement(declared_bounds, 'solver="gradient" needs declared bounds; use solver="auto".'),
    # The steps would be too long by the unknown factor n / n_at_least; whitening removes it.
    Requirement(public_n, 'solver="gradient" needs a public n; use solver="auto" with add-remove.'),
)


@dataclass(frozen=True)
class Gradient(CoefficientSolver):
    """Descent in prepared coordinates."""

    descent: Descent
    name: str = "gradient"
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the gradients."""
        coordinates = Coordinates(None, float(plan.design.width))
        clip = gradient_bound(plan)
        theta, _ = descend(gate, plan, self.descent, coordinates, None, clip, plan.loss)
        return Solution(theta)


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps that have the least bound on the excess loss."""
    require(REQUIRES, facts, options)
    require_passes(options, 0)
    design, row_norm = facts.design, facts.design.row_norm
    radius = DESCENT.radius / row_norm
    if facts.penalty.radius is not None:
        largest = max((column.scale for column in design.columns), default=1.0)
        radius = math.hypot(facts.penalty.radius * largest, radius)
    slope = slope_bound(facts.loss, facts.records * design.unit_rows)
    sensitivity = facts.sensitivity * design.unit_norm * slope
    noise, width = sensitivity / (facts.records * math.sqrt(allowed)), design.width
    smoothness = row_norm**2 * design.unit_rows * facts.loss.smoothness
    time = best_time(noise, width, radius)
    # Nothing is counted here.
    passes = facts.passes_allowed(options) + facts.counts
    iterations = options.iterations or max(1, min(passes, math.ceil(smoothness * time)))
    step_size = options.step_size or min(time / iterations, 1 / smoothness)
    output = options.output or "average"
    bound = excess_bound(
        noise,
        width,
        radius=radius,
        time=step_size * iterations,
        step_size=step_size,
        smoothness=smoothness,
        output=output,
    )
    forecast = None
    if bound is not None and step_size <= 1 / smoothness:
        forecast = Forecast(bound, f"the best prepared coefficients have norm at most {radius:.3g} (expected value)")
    steps = (priced(facts, QueryKind.GRADIENT, allowed, iterations, Purpose.DESCENT),)
    solver = Gradient(Descent(iterations, step_size, 0.0, None, output))
    return assembled(facts, solver, steps, forecast)
