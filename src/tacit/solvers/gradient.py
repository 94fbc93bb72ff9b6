"""Noisy gradient descent in the coordinates of the public bounds, as in the lecture notes.

Unless a clip is set by hand, nothing is clipped: row norm and slope bound the gradients. The planner takes the time
s = ηT with the least bound on the excess loss (`solver.py`), and the fewest steps that allow it. For a loss of unknown
smoothness it takes T = C² / (κ d c²) steps of η = R / √(T (C² + d c² T)), for gradients of norm C at most and
c = sensitivity / (n μ): their average then has an excess loss of at most R √(C² / T + d c²) if the loss is convex.

A noise multiplier z set by hand is the noise of an answer over its sensitivity. T answers are then μ-GDP, μ = √T / z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.accounting import gaussian
from tacit.contract.plan import Forecast, Plan, Solution
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.errors import SettingError
from tacit.solvers.coordinates import Coordinates, Vector, gradient_bound, slope_bound
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
LARGEST_PATH = 2**22
"""Numbers of a path beyond which it is not kept, 32 MB."""


@dataclass(frozen=True)
class Gradient(CoefficientSolver):
    """Descent in prepared coordinates."""

    descent: Descent
    name: str = "gradient"
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the gradients."""
        return self._descend(gate, plan, None, gradient_bound(plan))

    def _descend(self, gate: Gate, plan: Plan, start: Vector | None, clip: float) -> Solution:
        coordinates, kept = Coordinates(None, float(plan.design.width)), list[Vector]()
        theta, _ = descend(gate, plan, self.descent, coordinates, start, clip, plan.loss, kept=kept)
        return Solution(theta, iterates=np.array(kept) if len(kept) * theta.size <= LARGEST_PATH else None)


@dataclass(frozen=True)
class HandSetGradient(Gradient):
    """Descent with a clip or a start that the user chose.

    `clip` bounds a unit's gradient in prepared coordinates, None: nothing is clipped. `start` are prepared
    coefficients, None: the prior mean, or 0.
    """

    clip: float | None = None
    start: tuple[float, ...] | None = None

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Ask for the gradients."""
        start = None
        if self.start is not None:
            outputs = () if plan.design.outputs == 1 else (plan.design.outputs,)
            start = np.array(self.start).reshape(plan.design.width, *outputs)
        return self._descend(gate, plan, start, self.clip or gradient_bound(plan))


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the steps that have the least bound on the excess loss, or those that were set by hand."""
    require(REQUIRES, facts, options)
    require_passes(options, 0)
    design, row_norm = facts.design, facts.design.row_norm
    if options.noise_multiplier is not None:
        allowed = hand_set_cost(facts, options, allowed)
    radius = DESCENT.radius / row_norm
    if facts.penalty.radius is not None:
        largest = max((column.scale for column in design.columns), default=1.0)
        radius = math.hypot(facts.penalty.radius * largest, radius)
    slope = slope_bound(facts.loss, facts.records)
    bound = row_norm * slope
    clip = bound if options.clip is None else options.clip
    noise, width = facts.sensitivity * clip / (facts.records * math.sqrt(allowed)), design.width
    smoothness = row_norm**2 * facts.loss.smoothness
    # Nothing is counted here.
    passes = facts.passes_allowed(options) + facts.counts
    if math.isfinite(smoothness):
        time = best_time(noise, width, radius)
        iterations = options.iterations or max(1, min(passes, math.ceil(smoothness * time)))
        step_size = options.step_size or min(time / iterations, 1 / smoothness)
    else:
        wanted = min(clip**2 / (DESCENT.noise_kept * width * noise**2), float(passes))
        iterations = options.iterations or max(1, math.ceil(wanted))
        length = math.sqrt(iterations * (clip**2 + width * noise**2 * iterations))
        step_size = options.step_size or radius / length
    output = options.output or "average"
    excess = None
    known = facts.loss.convex and clip >= bound and options.start is None
    if known and math.isinf(smoothness) and output == "average" and options.step_size is None:
        excess = radius * math.sqrt(clip**2 / iterations + width * noise**2)
    if known and step_size <= 1 / smoothness:
        excess = excess_bound(
            noise,
            width,
            radius=radius,
            time=step_size * iterations,
            step_size=step_size,
            smoothness=smoothness,
            output=output,
        )
    forecast = None
    if excess is not None:
        forecast = Forecast(excess, f"the best prepared coefficients have norm at most {radius:.3g} (expected value)")
    steps = (priced(facts, QueryKind.GRADIENT, allowed, iterations, Purpose.DESCENT),)
    descent = Descent(iterations, step_size, 0.0, None, output)
    by_hand = options.clip is not None or options.start is not None
    solver = HandSetGradient(descent, clip=options.clip, start=options.start) if by_hand else Gradient(descent)
    return assembled(facts, solver, steps, forecast)


def hand_set_cost(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Fraction:
    """Return the μ² of the noise set by hand; refused where a budget is stated with which it does not agree."""
    iterations, multiplier = options.iterations or 1, options.noise_multiplier or 1.0
    cost = iterations / Fraction(multiplier) ** 2
    least = (1 - Fraction(DESCENT.agreement)) ** 2 * allowed
    delta = facts.budget.delta
    if least <= cost <= allowed or delta is None:
        return min(cost, allowed)
    stated, spent = (math.sqrt(square) for square in (allowed, cost))
    raise SettingError(
        f"noise_multiplier={multiplier:g} over {iterations} iterations costs μ = {spent:.5g}, "
        f"ε = {gaussian.epsilon(spent, delta):.5g} at δ = {delta:.3g}, and the budget is μ = {stated:.5g}, "
        f"ε = {gaussian.epsilon(stated, delta):.5g}. Leave one of them out, or set "
        f"noise_multiplier={math.sqrt(iterations) / stated * (1 + 1e-6):.7g}."
    )
