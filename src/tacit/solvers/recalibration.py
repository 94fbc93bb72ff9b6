"""Level and slope of a fit, asked for at the end: what clipping took from it is given back.

Clipped gradients fit something between mean and median, and pull predictions in where residuals
have heavy tails. Two numbers repair most of that: the mean of the residuals r, and their mean
product with the predictions p,

    p ↦ c + mean r + (1 + mean r(p - c) / var p)·(p - c),        c = mean p

Each is one number, so its noise is small and it can be clipped far out. Mean and variance of p
come from the last second moments. A correction that its noise may explain is shrunk or dropped.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.query import Gate, Measure, ResidualSize
from tacit.errors import SettingError
from tacit.solvers.coordinates import Coordinates, Vector, response_ends
from tacit.solvers.rules import CORRECTIONS, RESPONSE, between


def recalibrate(
    gate: Gate,
    plan: Plan,
    n_mu: float,
    coordinates: Coordinates,
    theta: Vector,
    sizes: tuple[float, float],
    median: float,
) -> Vector:
    """Return working coefficients with level and slope repaired.

    `n_mu` is n·μ of each number, n as declared; `sizes` are the measured mean sizes of the response
    around its `median` and of the residuals.
    """
    size = sizes[1]
    low, high = response_ends(plan)
    cut = CORRECTIONS.cut.at(n_mu * plan.count / plan.records)
    level = 0.0
    if plan.design.intercept:
        cap = min(2 * cut * size, 2 * (high - low))
        query = ResidualSize(theta, cap, coordinates.matrix, low, high, Measure.SHARE, start=-cap / 2)
        answer = gate.ask(query)
        mean = cap * (float(answer.value[0]) / plan.count - 0.5)
        level = believed(mean, cap * answer.noise_scale / plan.count)
    center, spread = predicted_moments(plan, coordinates, theta, median)
    spread = max(spread, explained(*sizes), CORRECTIONS.smallest_spread * size)
    cap = cut * size * spread
    query = ResidualSize(theta, cap, coordinates.matrix, low, high, Measure.TILT, start=center)
    answer = gate.ask(query)
    product = cap * (2 * float(answer.value[0]) / plan.count - 1)
    tilt = believed(product, 2 * cap * answer.noise_scale / plan.count) / spread**2
    slope = between(1 + tilt, 1 / CORRECTIONS.largest_slope, CORRECTIONS.largest_slope)
    shift = np.zeros(plan.design.width)
    if plan.design.intercept:
        shift[-1] = level + (1 - slope) * center
    return np.asarray(slope * theta + coordinates.working(shift))


def predicted_moments(plan: Plan, coordinates: Coordinates, theta: Vector, median: float) -> tuple[float, float]:
    """Mean and deviation of the predictions, by the last second moments.

    Both are of the distance from the median, so that the noise of a large level hides no small
    spread; without an intercept they are about zero.
    """
    if coordinates.moments is None:
        raise SettingError("Predictions are recalibrated by second moments.")
    low, high = response_ends(plan)
    distance = coordinates.prepared(theta).copy()
    mean = 0.0
    if plan.design.intercept:
        distance[-1] -= median
        mean = between(float(coordinates.moments[-1] @ distance), low - high, high - low)
    square = float(distance @ coordinates.moments @ distance) - mean**2
    length = float(np.linalg.norm(coordinates.working(distance)))
    # Rather too wide than too narrow: a spread that noise hides would change the slope's sign.
    square += CORRECTIONS.caution * coordinates.noise * length * (length + 2 * abs(mean))
    center = mean + (median if plan.design.intercept else 0.0)
    return center, math.sqrt(between(square, 0.0, (high - low) ** 2))


def explained(before: float, after: float) -> float:
    """Deviation of the predictions of a fit that brought the residuals to such a size."""
    return RESPONSE.normal * math.sqrt(max(before * before - after * after, 0.0))


def believed(found: float, noise: float) -> float:
    """Positive-part shrinkage of one number by what its noise would explain."""
    least = CORRECTIONS.noise_variances * noise * noise
    return 0.0 if found * found <= least else found * (1.0 - least / (found * found))
