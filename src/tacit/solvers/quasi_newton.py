"""Quasi-Newton on exact gradients: the fit at ε = ∞ of losses whose curvature is zero somewhere.

The metric starts as the majoriser smoothness·X'X / n + penalty, and L-BFGS refines it. Only
gradients are asked for. A step ends where the slope along it turns positive, found by bisection:
a convex function falls as long as that slope is negative, so every step goes down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.ridge import Ridge
from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import GradientSum, SecondMoments
from tacit.solvers.coordinates import gradient_bound

ITERATIONS = 1000
MEMORY = 30
TOLERANCE = 1e-11
DOUBLINGS = 12
BISECTIONS = 12

Vector = NDArray[np.float64]


def quasi_newton(gate: Gate, plan: Plan, ridge: Ridge, start: Vector) -> Vector:
    """Minimise mean loss + penalty; theta is (width,) or (width, class)."""
    shape = start.shape
    clip = gradient_bound(plan)

    def slope(flat: Vector) -> Vector:
        theta = flat.reshape(shape)
        answer = gate.ask(GradientSum(theta, clip, loss=plan.loss))
        return np.asarray(answer.value / plan.count + ridge.gradient(theta)).ravel()

    moments = gate.ask(SecondMoments(plan.design.unit_norm)).value / plan.count
    majoriser = plan.loss.smoothness * moments + ridge.curvature()
    inverse = np.linalg.pinv(majoriser, rcond=1e-13, hermitian=True)

    def metric(flat: Vector) -> Vector:
        return np.asarray(inverse @ flat.reshape(shape)).ravel()

    return _minimise(slope, metric, start.ravel()).reshape(shape)


def _minimise(
    slope: Callable[[Vector], Vector], metric: Callable[[Vector], Vector], theta: Vector
) -> Vector:
    pairs: list[tuple[Vector, Vector]] = []
    gradient = slope(theta)
    for _ in range(ITERATIONS):
        step = -_two_loops(gradient, pairs, metric)
        if np.linalg.norm(step) <= TOLERANCE * (1 + np.linalg.norm(theta)):
            break
        length, moved = _along(slope, theta, step, gradient)
        change, bend = length * step, moved - gradient
        if float(change @ bend) > 1e-14 * np.linalg.norm(change) * np.linalg.norm(bend):
            pairs = [*pairs[-MEMORY + 1 :], (change, bend)]
        else:
            pairs = []
        theta, gradient = theta + change, moved
    return theta


def _two_loops(
    gradient: Vector, pairs: list[tuple[Vector, Vector]], metric: Callable[[Vector], Vector]
) -> Vector:
    """L-BFGS's product of the inverse Hessian and the gradient."""
    rest = gradient.copy()
    shares = []
    for change, bend in reversed(pairs):
        share = float(change @ rest) / float(change @ bend)
        shares.append(share)
        rest = rest - share * bend
    result = metric(rest)
    for (change, bend), share in zip(pairs, reversed(shares), strict=True):
        result = result + change * (share - float(bend @ result) / float(change @ bend))
    return np.asarray(result)


def _along(
    slope: Callable[[Vector], Vector], theta: Vector, step: Vector, gradient: Vector
) -> tuple[float, Vector]:
    """Return a length with a slope along the step that is small, and the gradient there."""
    start = float(gradient @ step)
    low, low_gradient, high = 0.0, gradient, 1.0
    for _ in range(DOUBLINGS):
        there = slope(theta + high * step)
        along = float(there @ step)
        if abs(along) <= 0.3 * abs(start):
            return high, there
        if along > 0:
            break
        low, low_gradient, high = high, there, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        there = slope(theta + middle * step)
        along = float(there @ step)
        if abs(along) <= 0.3 * abs(start):
            return middle, there
        if along > 0:
            high = middle
        else:
            low, low_gradient = middle, there
    return low, low_gradient
