"""Steps as long as noise and labels allow, and where a fit of labels starts.

The noise of every answer is known before it is asked for, and what a descent makes of it follows
from a linear recursion. Where the margins would have a larger noise variance V than a public bound,
steps are shortened by √(bound / V), and by V once more where it exceeds 1: a fit of little data
then stays near its start instead of running after noise.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Descent, Plan
from tacit.contract.query import ColumnCounts, Kind
from tacit.solvers.coordinates import Coordinates

CURVATURE = 0.3
"""Curvature of the bounded logistic loss in a resolved direction, in units of the clip factor."""
LARGEST_FACTOR = 0.6
PRIOR_VARIANCE = 1 / 16
"""Assumed variance of the labels' share around one half."""
FARTHEST_SHARE = 0.02
LONGEST = 1.8
"""Momentum ½ is stable up to 1.5 over the curvature: a step of 3·1.8 for a curvature of 1/4."""
MOST, PLAIN_MOMENTUM = 0.5, 0.5
"""Below this share of the records, momentum is no more than that of a small table."""

Vector = NDArray[np.float64]


def calm(plan: Plan, stage: Descent, coordinates: Coordinates, clip: float) -> Descent:
    """Shorten a stage's steps where the margins' noise would exceed the stage's bound."""
    if stage.calmest is None or coordinates.look is None:
        return stage
    price = next(step.price for step in plan.steps if step.kind is Kind.GRADIENT)
    if price is None:
        return stage
    noise = 2.0**price.bits / price.bound * clip / plan.count
    kept = coordinates.look[1]
    curvature = CURVATURE * min(stage.clip_factor or 1.0, LARGEST_FACTOR)
    variance = noise**2 * float(np.sum(kept * tail_variance(curvature * kept, stage)))
    if variance == 0.0:
        return stage
    shorter = min(1.0, math.sqrt(stage.calmest / variance)) * min(1.0, 1.0 / variance)
    return replace(stage, step_size=stage.step_size * shorter)


def follow(plan: Plan, stage: Descent) -> Descent:
    """Let clip and steps go by what the records came to, where that is less than was planned for.

    A plan knows how many records there are, or may be, and not what their weights come to. Its
    rules have the clip grow with the fourth root of that number (docs/solvers.md); steps that were
    planned for more records than there are would run after noise.
    """
    if not stage.follows or plan.total is None or stage.clip_factor is None:
        return stage
    share = min(1.0, plan.count / plan.records)
    part = share**0.25
    return replace(
        stage,
        clip_factor=stage.clip_factor * part,
        step_size=stage.step_size * part,
        momentum=stage.momentum if share >= MOST else min(stage.momentum, PLAIN_MOMENTUM),
    )


def lengthen(plan: Plan, stage: Descent, start: Vector | None) -> Descent:
    """Let steps make up for uneven labels, of share s: by 1/√(4s(1 - s)), and at most `LONGEST`.

    The mean curvature is at most s(1 - s), a quarter only where labels are even. It may be a
    quarter in some direction all the same, and steps stay short enough for that.
    """
    if plan.label_start is None or not plan.label_start.lengthens or start is None:
        return stage
    # 4s(1 - s) = 1 / cosh²(odds / 2)
    factor = min(LONGEST, math.cosh(float(start[-1]) / 2))
    return replace(stage, step_size=stage.step_size * factor)


def tail_variance(curvature: Vector, stage: Descent) -> Vector:
    """Variance of the averaged iterates for unit noise in every gradient, by the full recursion."""
    # Steps that somebody declared may be so long that nothing but noise without end is left.
    with np.errstate(over="ignore", invalid="ignore"):
        variance = _recursion(curvature, stage)
    return np.where(np.isnan(variance), math.inf, variance)


def _recursion(curvature: Vector, stage: Descent) -> Vector:
    steps = stage.iterations
    first = stage.first_averaged
    response = np.zeros((steps, len(curvature)))
    here, before = -stage.step_size * np.ones_like(curvature), np.zeros_like(curvature)
    for k in range(steps):
        # What is left, k steps later, of one unit of noise.
        response[k] = here
        ahead = here + stage.momentum * (here - before)
        before, here = here, ahead * (1.0 - stage.step_size * curvature)
    total = np.cumsum(response, axis=0)
    variance = np.zeros_like(curvature)
    for at in range(steps):
        summed = total[steps - 1 - at] - (total[first - at - 1] if first > at else 0.0)
        variance += (summed / (steps - first)) ** 2
    return variance


def odds_of_labels(gate: Gate, plan: Plan) -> Vector:
    """Coefficients of the prepared row whose intercept is the labels' log-odds.

    The noised share is pulled to one half by what its noise alone would explain.
    """
    answer = gate.ask(ColumnCounts((plan.design.width,), np.array([0.5]), np.array([1.5])))
    noise = answer.noise_scale / plan.count
    gap = float(answer.value[0]) / plan.count - 0.5
    share = 0.5 + gap * PRIOR_VARIANCE / (PRIOR_VARIANCE + noise**2)
    share = min(max(share, FARTHEST_SHARE), 1 - FARTHEST_SHARE)
    start = np.zeros(plan.design.width)
    start[-1] = math.log(share / (1 - share))
    return start
