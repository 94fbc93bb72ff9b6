"""Fits without noise (ε = ∞), which protect nobody: minimisers on exact answers.

The gate gives gradients and curvatures and never a loss, so that these minimisers, unlike those of
scipy.optimize, go by gradients alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tacit.constraints.proximal import Ball, RidgePenalty
from tacit.contract.plan import Plan, Solution
from tacit.contract.query import Gate, GradientSum, SecondMoments, Weights
from tacit.design.response import Absent
from tacit.losses import regression
from tacit.losses.loss import LOG_LINKED, TWO_LABELS, Code
from tacit.solvers.coordinates import Coordinates, Vector, gradient_bound, penalty_in
from tacit.solvers.covariance import exact_covariance
from tacit.solvers.exact_intervals import deviation_of, exact_sandwich
from tacit.solvers.mean import exact_mean
from tacit.solvers.residual_scale import in_units
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled
from tacit.solvers.spectrum import Spectrum

NEWTON_STEPS, QUASI_NEWTON_STEPS, PROJECTED_STEPS = 100, 1000, 3000
TOLERANCE = 1e-11
"""Relative length of a step at which the minimum is found."""
HALVINGS, DOUBLINGS, BISECTIONS = 30, 12, 12
MEMORY = 30
"""Pairs that L-BFGS remembers."""
FLAT = 0.3
"""Slope along a step, over that at its start, at which a line search ends."""
TURNS, SAME_DEVIATION = 30, 1e-9
PERFECT = 1e-4
"""Least deviation of residuals, in half ranges of the response: a perfect fit has none to measure a loss by."""
SINGULAR = 1e-13
"""Singular values below this share of the largest are left out of a solution."""
CURVED = frozenset({Code.SQUARED, Code.SMOOTH_HUBER, *TWO_LABELS, *LOG_LINKED})
"""Losses with a curvature that Newton's method can rely on; the others go by gradients alone."""


@dataclass(frozen=True)
class Exact:
    """Newton's method, quasi-Newton or projected descent, by loss and region."""

    intervals: bool = False
    name: str = "newton"
    maps_rows: ClassVar[bool] = False

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Minimise, and ask for the matrices of the sandwich if intervals are asked for."""
        if isinstance(plan.design.response, Absent):
            return (exact_covariance if plan.loss == regression.SCATTER else exact_mean)(gate, plan)
        theta = minimise(gate, plan)
        if self.intervals and theta.ndim > 1:
            # What all classes have in common changes no probability.
            theta = theta - theta.mean(axis=1, keepdims=True)
        return Solution(theta, exact_sandwich(gate, plan, theta) if self.intervals else None)


def plan(facts: PublicFacts, options: SolverOptions) -> Plan:
    """Plan the minimum without noise, at ε = ∞."""
    return assembled(facts, Exact(options.inference), ())


def minimise(gate: Gate, plan: Plan) -> Vector:
    """Minimise mean loss + penalty in prepared coordinates, inside the declared region."""
    if plan.loss.relative:
        return _minimise_in_turns(gate, plan)
    if plan.penalty.constraint is not None:
        return _projected_descent(gate, plan)
    ridge, ball, theta = penalty_in(plan, Coordinates(None, float(plan.design.width)))
    theta = _unconstrained(gate, plan, ridge, theta)
    if not isinstance(ball, Ball) or ball.radius is None or ball.distance(theta) <= ball.radius:
        return theta
    return _on_the_sphere(gate, plan, ridge, ball, ball.radius, theta)


def _minimise_in_turns(gate: Gate, plan: Plan) -> Vector:
    """Fit a loss in units of its residuals' deviation, which is found together with the fit.

    Deviation and coefficients take turns, from least squares on, until neither moves.
    """
    theta = minimise(gate, replace(plan, loss=regression.SQUARED))
    deviation = max(deviation_of(gate, plan, theta), PERFECT)
    seen = [deviation]
    for _ in range(TURNS):
        theta = minimise(gate, replace(plan, loss=in_units(plan.loss, deviation)))
        deviation = max(deviation_of(gate, plan, theta), PERFECT)
        # Neither moves any more, or both go round: on a few records the deviation jumps.
        if any(abs(deviation - before) <= SAME_DEVIATION * before for before in seen):
            break
        seen.append(deviation)
    return theta


def _unconstrained(gate: Gate, plan: Plan, ridge: RidgePenalty, theta: Vector) -> Vector:
    clip = gradient_bound(plan)

    def gradient(at: Vector) -> Vector:
        answer = gate.ask(GradientSum(at, clip, loss=plan.loss))
        return np.asarray(answer.value / plan.count + ridge.gradient(at))

    if plan.loss.code in CURVED:
        if plan.loss.code is Code.GAMMA and not plan.design.intercept:
            # Its curvature is 0 below a floor of the predictor, and no start is above it for all records.
            theta = quasi_newton(gate, plan, ridge, theta, gradient)
        return _newton(gate, plan, ridge, theta, gradient)
    return quasi_newton(gate, plan, ridge, theta, gradient)


def _newton(
    gate: Gate, plan: Plan, ridge: RidgePenalty, theta: Vector, gradient_at: Callable[[Vector], Vector]
) -> Vector:
    gradient = gradient_at(theta)
    for _ in range(NEWTON_STEPS):
        query = SecondMoments(plan.design.row_norm, None, theta, Weights.CURVATURE, plan.loss)
        curvature = gate.ask(query).value * plan.loss.smoothness / plan.count + ridge.curvature()
        step = -np.asarray(np.linalg.lstsq(curvature, gradient, rcond=SINGULAR)[0])
        descent = float(gradient @ step)
        if _is_small(step, theta):
            break
        length = 1.0
        for _ in range(HALVINGS):
            trial = gradient_at(theta + length * step)
            # Along a convex function the slope rises; past the minimum by more than it fell short
            # before, the step was too long.
            if float(trial @ step) <= -0.9 * descent:
                break
            length /= 2
        theta, gradient = theta + length * step, trial
    return theta


def _on_the_sphere(gate: Gate, plan: Plan, ridge: RidgePenalty, ball: Ball, radius: float, theta: Vector) -> Vector:
    """Find the multiplier of ½‖B theta - center‖² that puts the minimiser on the sphere, by bisection."""

    def at(multiplier: float) -> Vector:
        total = ridge.l2 + multiplier
        centre = ridge.prior * (ridge.l2 / total) + ball.center * (multiplier / total)
        return _unconstrained(gate, plan, replace(ridge, l2=total, prior=centre), theta)

    low, high = 1e-12, 1e-3
    while ball.distance(theta := at(high)) > radius:
        low, high = high, high * 10
    while high / low > 1 + 1e-9:
        middle = np.sqrt(low * high)
        theta = at(middle)
        if ball.distance(theta) > radius:
            low = middle
        else:
            high = middle
    return at(high)


def quasi_newton(
    gate: Gate, plan: Plan, ridge: RidgePenalty, start: Vector, gradient_at: Callable[[Vector], Vector]
) -> Vector:
    """L-BFGS for losses whose curvature is zero somewhere; theta is (width,) or (width, class).

    The metric starts as the majoriser smoothness·X'X / n + penalty. A step ends where the slope
    along it turns positive: a convex function falls as long as that is negative.
    """
    shape = start.shape

    def slope(flat: Vector) -> Vector:
        return gradient_at(flat.reshape(shape)).ravel()

    moments = gate.ask(SecondMoments(plan.design.row_norm)).value / plan.count
    # Without a known smoothness the metric is a start like any other.
    smoothness = plan.loss.smoothness if math.isfinite(plan.loss.smoothness) else 1.0
    majoriser = smoothness * moments + ridge.curvature()
    inverse = np.linalg.pinv(majoriser, rcond=SINGULAR, hermitian=True)

    def metric(flat: Vector) -> Vector:
        return np.asarray(inverse @ flat.reshape(shape)).ravel()

    theta = start.ravel()
    pairs: list[tuple[Vector, Vector]] = []
    gradient = slope(theta)
    for _ in range(QUASI_NEWTON_STEPS):
        step = -_two_loops(gradient, pairs, metric)
        if _is_small(step, theta):
            break
        length, moved = _along(slope, theta, step, gradient)
        change, rise = length * step, moved - gradient
        if float(change @ rise) > 1e-14 * np.linalg.norm(change) * np.linalg.norm(rise):
            pairs = [*pairs[-MEMORY + 1 :], (change, rise)]
        else:
            pairs = []
        theta, gradient = theta + change, moved
    return theta.reshape(shape)


def _two_loops(gradient: Vector, pairs: list[tuple[Vector, Vector]], metric: Callable[[Vector], Vector]) -> Vector:
    """L-BFGS's product of the inverse Hessian and the gradient."""
    rest = gradient.copy()
    shares = []
    for change, rise in reversed(pairs):
        share = float(change @ rest) / float(change @ rise)
        shares.append(share)
        rest = rest - share * rise
    result = metric(rest)
    for (change, rise), share in zip(pairs, reversed(shares), strict=True):
        result = result + change * (share - float(rise @ result) / float(change @ rise))
    return np.asarray(result)


def _along(slope: Callable[[Vector], Vector], theta: Vector, step: Vector, gradient: Vector) -> tuple[float, Vector]:
    """Return a length with a slope along the step that is small, and the gradient there."""
    start = float(gradient @ step)
    low, low_gradient, high = 0.0, gradient, 1.0
    for _ in range(DOUBLINGS):
        there = slope(theta + high * step)
        along = float(there @ step)
        if abs(along) <= FLAT * abs(start):
            return high, there
        if along > 0:
            break
        low, low_gradient, high = high, there, 2 * high
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        there = slope(theta + middle * step)
        along = float(there @ step)
        if abs(along) <= FLAT * abs(start):
            return middle, there
        if along > 0:
            high = middle
        else:
            low, low_gradient = middle, there
    return low, low_gradient


def _projected_descent(gate: Gate, plan: Plan) -> Vector:
    """Accelerated projected descent, for slopes in a region.

    In coordinates where the exact second moments are the identity the loss is as smooth as its
    curvature bound says. Momentum starts anew whenever it points uphill.
    """
    moments = gate.ask(SecondMoments(plan.design.row_norm)).value / plan.count
    spectrum = Spectrum.of(moments)
    floor = 1e-9 * max(float(spectrum.values.max()), 1e-300)
    scales = np.sqrt(np.maximum(spectrum.values, floor))
    root = (spectrum.vectors / scales) @ spectrum.vectors.T
    ridge, region, theta = penalty_in(plan, Coordinates(root, float(len(root))))
    step, clip = 1.0 / plan.loss.smoothness, gradient_bound(plan)
    theta = region.project(theta)
    ahead, pace = theta, 1.0
    for _ in range(PROJECTED_STEPS):
        answer = gate.ask(GradientSum(root @ ahead, clip, loss=plan.loss))
        moved = ahead - step * (root.T @ answer.value / plan.count)
        moved = region.project(ridge.proximal(moved, step))
        change = moved - theta
        faster = (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        if float(np.sum((ahead - moved) * change)) > 0:
            faster, ahead = 1.0, moved
        else:
            ahead = moved + (pace - 1) / faster * change
        theta, pace = moved, faster
        if _is_small(change, theta):
            break
    return np.asarray(root @ theta)


def _is_small(step: Vector, theta: Vector) -> bool:
    return bool(np.linalg.norm(step) <= TOLERANCE * (1 + np.linalg.norm(theta)))
