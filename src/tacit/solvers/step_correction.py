"""Step sizes of descent that go by known noise, by the noisy count and by uneven labels.

The noise of every answer is known before it is asked for, and what descent makes of it follows
from a linear recursion. Where the margins would have a noise variance V above a bound v, steps are
multiplied by √(v / V)·min(1, 1 / V): a fit of little data then stays near its start.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.contract.batches import BatchPrice
from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.solvers.coordinates import Coordinates, Vector
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.rules import LABELS


def shortened(
    plan: Plan, descent: Descent, coordinates: Coordinates, clip: float, largest: float | None, flatness: float = 1.0
) -> Descent:
    """Shorten steps where the noise variance of the margins would exceed `largest`.

    Curvatures are 1 / `flatness` of what they are for even labels.
    """
    if largest is None or coordinates.directions is None:
        return descent
    price = plan.step(Purpose.DESCENT).price
    if price is None:
        return descent
    noise = 2.0**price.bits / price.bound * clip / plan.count
    if isinstance(price, BatchPrice):
        noise /= float(price.batches.rate)
    resolved = coordinates.directions[1]
    curvature = label_curvature(descent, flatness)
    variance = noise**2 * float(np.sum(resolved * tail_variance(curvature * resolved, descent)))
    if variance == 0.0:
        return descent
    factor = min(1.0, math.sqrt(largest / variance)) * min(1.0, 1.0 / variance)
    return replace(descent, step_size=descent.step_size * factor)


def label_curvature(descent: Descent, flatness: float) -> float:
    """Curvature of two labels in a direction that is whitened completely, as balanced and clipped gradients see it."""
    return LABELS.curvature * min(descent.clip_factor or 1.0, LABELS.largest_clip) / flatness


def counted(plan: Plan, descent: Descent) -> Descent:
    """Scale clip and steps by (count / n)^¼ where records or weights came to less than planned.

    Steps that were planned for more records than there are would follow the noise.
    """
    if plan.total is None or descent.clip_factor is None:
        return descent
    share = min(1.0, plan.count / plan.records)
    factor = share**LABELS.counted_power
    few = share < LABELS.counted_share
    return replace(
        descent,
        clip_factor=descent.clip_factor * factor,
        step_size=descent.step_size * factor,
        momentum=min(descent.momentum, LABELS.momentum) if few else descent.momentum,
    )


def lengthened(descent: Descent, start: Vector) -> Descent:
    """Multiply steps by 1 / √(4s(1 - s)) for labels of share s, and by 1.8 at most.

    The mean curvature is at most s(1 - s), a quarter only where labels are even. It may be a
    quarter in some direction all the same, and steps stay short enough for that.
    """
    # 4s(1 - s) = 1 / cosh²(odds / 2)
    factor = min(LABELS.longest, math.cosh(float(start[-1]) / 2))
    return replace(descent, step_size=descent.step_size * factor)


def tail_variance(curvature: Vector, descent: Descent) -> Vector:
    """Variance of the averaged iterates for unit noise in every gradient, by the full recursion."""
    # Steps that somebody declared may be so long that the noise grows without end.
    with np.errstate(over="ignore", invalid="ignore"):
        steps, first = descent.iterations, descent.first_averaged
        response = np.zeros((steps, len(curvature)))
        here, before = -descent.step_size * np.ones_like(curvature), np.zeros_like(curvature)
        for k in range(steps):
            # What is left, k steps later, of one unit of noise.
            response[k] = here
            ahead = here + descent.momentum * (here - before)
            before, here = here, ahead * (1.0 - descent.step_size * curvature)
        total = np.cumsum(response, axis=0)
        variance = np.zeros_like(curvature)
        for at in range(steps):
            summed = total[steps - 1 - at] - (total[first - at - 1] if first > at else 0.0)
            variance += (summed / (steps - first)) ** 2
    return np.where(np.isnan(variance), math.inf, variance)


def way_left(curvature: Vector, descent: Descent) -> Vector:
    """Share of the way to the minimum that the averaged iterates have not gone, below 0 where they went beyond it."""
    here, before, kept = np.ones_like(curvature), np.ones_like(curvature), np.zeros_like(curvature)
    with np.errstate(over="ignore", invalid="ignore"):
        for number in range(descent.iterations):
            ahead = here + descent.momentum * (here - before)
            before, here = here, ahead * (1.0 - descent.step_size * curvature)
            kept += here if number >= descent.first_averaged else 0.0
    # Steps that somebody declared may be so long that descent goes away from the minimum: then nothing is known.
    left = np.nan_to_num(kept / (descent.iterations - descent.first_averaged), nan=1.0)
    return np.asarray(np.clip(left, -1.0, 1.0))
