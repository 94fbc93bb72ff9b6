"""Newton's method on exact answers: the fit at ε = ∞, which protects nobody."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.projection import Ball
from tacit.constraints.ridge import Ridge
from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import GradientSum, SecondMoments, Weights
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates, gradient_bound, penalty_in
from tacit.solvers.projected import project_and_descend
from tacit.solvers.quasi_newton import quasi_newton
from tacit.solvers.relative import minimise_in_turns

ITERATIONS = 100
TOLERANCE = 1e-11
HALVINGS = 30
CURVED = frozenset({Code.LOGISTIC, Code.SQUARED, Code.SMOOTH_HUBER, Code.POISSON})
"""Losses with a curvature that Newton's method can rely on; the others go by gradients alone."""


def minimise(gate: Gate, plan: Plan) -> NDArray[np.float64]:
    """Minimise mean loss + penalty in prepared coordinates, inside the declared region."""
    if plan.loss.relative:
        return minimise_in_turns(gate, plan, lambda turn: minimise(gate, turn))
    if plan.penalty.constraint is not None:
        return project_and_descend(gate, plan)
    ridge, ball, theta = penalty_in(plan, Coordinates(None, float(plan.design.width)))
    theta = _unconstrained(gate, plan, ridge, theta)
    if (
        not isinstance(ball, Ball)
        or ball.radius is None
        or np.linalg.norm(ball.matrix @ theta) <= ball.radius
    ):
        return theta
    return _on_the_sphere(gate, plan, ridge, ball.radius, theta)


def _unconstrained(
    gate: Gate, plan: Plan, ridge: Ridge, theta: NDArray[np.float64]
) -> NDArray[np.float64]:
    if plan.loss.code in CURVED:
        return _newton(gate, plan, ridge, theta)
    return quasi_newton(gate, plan, ridge, theta)


def _newton(
    gate: Gate, plan: Plan, ridge: Ridge, theta: NDArray[np.float64]
) -> NDArray[np.float64]:
    unit_norm, clip = plan.design.unit_norm, gradient_bound(plan)

    def slope(at: NDArray[np.float64]) -> NDArray[np.float64]:
        answer = gate.ask(GradientSum(at, clip, loss=plan.loss))
        return answer.value / plan.count + ridge.gradient(at)

    gradient = slope(theta)
    for _ in range(ITERATIONS):
        look = SecondMoments(unit_norm, None, theta, Weights.CURVATURE, plan.loss)
        curvature = gate.ask(look).value * plan.loss.smoothness / plan.count + ridge.curvature()
        step = -np.linalg.lstsq(curvature, gradient, rcond=1e-13)[0]
        descent = float(gradient @ step)
        if np.linalg.norm(step) <= TOLERANCE * (1 + np.linalg.norm(theta)):
            break
        length = 1.0
        for _ in range(HALVINGS):
            trial = slope(theta + length * step)
            # Along a convex function the slope rises; past the minimum by more than it fell short
            # before, the step was too long.
            if float(trial @ step) <= -0.9 * descent:
                break
            length /= 2
        theta, gradient = theta + length * step, trial
    return theta


def _on_the_sphere(
    gate: Gate, plan: Plan, ridge: Ridge, radius: float, theta: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Find the multiplier of ½‖B theta‖² that puts the minimiser on the sphere, by bisection."""

    def at(multiplier: float) -> NDArray[np.float64]:
        total = ridge.l2 + multiplier
        centre = ridge.prior * (ridge.l2 / total)
        return _unconstrained(gate, plan, replace(ridge, l2=total, prior=centre), theta)

    low, high = 1e-12, 1e-3
    while np.linalg.norm(ridge.matrix @ (theta := at(high))) > radius:
        low, high = high, high * 10
    while high / low > 1 + 1e-9:
        middle = np.sqrt(low * high)
        theta = at(middle)
        if np.linalg.norm(ridge.matrix @ theta) > radius:
            low = middle
        else:
            high = middle
    return at(high)
