"""Newton's method with noise on the gradient, and again on the direction.

    g = Σ w loss'(z·θ, y) z + noise,    θ ← θ - ((Σ w h z z' + λ I)⁻¹ g + noise)

The second noise grows with ‖g‖ and so shrinks as the steps do. The damping λ balances it against
the steps that it shortens, by the trace of the curvature at 0, where it is largest.

References
----------
Ganesh, Haghifam, Steinke and Thakurta (2023), "Faster differentially private convex optimization
via second-order methods".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import CurvatureTrace, DampedDirection, GradientSum, Kind

FARTHEST = 100.0
"""Iterates are kept within this of 0, in units of 1 over the row norm: no margin means more."""

Vector = NDArray[np.float64]


def step_with_double_noise(gate: Gate, plan: Plan) -> Vector:
    """Run the plan's rounds from 0; return the last iterate, in prepared coordinates."""
    clip, loss = plan.design.row_norm, plan.loss
    theta = np.zeros(plan.design.width)
    damping = damping_of(gate, plan)
    for _ in range(_rounds(plan)):
        gradient = gate.ask(GradientSum(theta, clip, None, True, loss)).value
        step = gate.ask(DampedDirection(theta, gradient, damping, clip, None, loss)).value
        theta = theta - step
        norm = float(np.linalg.norm(theta)) * clip
        if norm > FARTHEST:
            theta = theta * (FARTHEST / norm)
    return theta


def damping_of(gate: Gate, plan: Plan) -> float:
    """Choose the damping: (tr / ρ)^⅓ for rows of norm 1, ρ = μ²/2 of one direction, 1 at least."""
    clip, width = plan.design.row_norm, plan.design.width
    answer = gate.ask(CurvatureTrace(np.zeros(width), clip, None, plan.loss))
    trace = max(float(answer.value[0]), answer.noise_scale) / clip**2
    price = next(step.price for step in plan.steps if step.kind is Kind.DIRECTION)
    # Without noise (ε = ∞) this route is not taken.
    rho = math.inf if price is None else 0.5 * (price.bound / 2.0**price.bits) ** 2
    return clip**2 * max(1.0, math.cbrt(trace / rho))


def _rounds(plan: Plan) -> int:
    return sum(step.times for step in plan.steps if step.kind is Kind.DIRECTION)
