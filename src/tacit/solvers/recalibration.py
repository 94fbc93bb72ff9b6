"""Level and slope of a fit, asked for at the end: what clipping took from it is given back.

Clipped gradients fit something between mean and median, and pull predictions in where residuals
have heavy tails. Two numbers repair most of that: the mean of the residuals r, and their mean
product with the predictions p,

    p ↦ c + mean r + (1 + mean r(p - c) / var p)·(p - c),        c = mean p

Each is one number, so its noise is small and it can be clipped far out. Mean and variance of p
come from the last look. A correction that its noise may explain is taken in part or not at all.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan, Recalibrating
from tacit.contract.query import Measure, ResidualSize
from tacit.errors import SettingError
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.placement import NORMAL_DEVIATION, response_ends

LARGEST_SLOPE = 3.0
DOUBT = 2.0
"""Squared corrections below so many noise variances are not believed at all."""
CAUTION = 2.0
"""Noise deviations by which the variance of predictions is raised."""
SMALLEST_SPREAD = 0.05
"""Deviation of the predictions in sizes of the residuals, at least: the cap must be positive."""

Vector = NDArray[np.float64]


def recalibrate(
    gate: Gate,
    plan: Plan,
    rule: Recalibrating,
    coordinates: Coordinates,
    theta: Vector,
    sizes: tuple[float, float],
    median: float,
) -> Vector:
    """Return working coefficients with level and slope repaired.

    `sizes` are the mean sizes of the response around its median, which is `median`, and of the
    residuals, as they were measured.
    """
    size = sizes[1]
    low, high = response_ends(plan)
    reach = reach_of(rule.evidence * plan.count / plan.records)
    level = 0.0
    if plan.design.intercept:
        cap = min(2 * reach * size, 2 * (high - low))
        query = ResidualSize(
            theta, cap, coordinates.matrix, low, high, Measure.SHARE, start=-cap / 2
        )
        answer = gate.ask(query)
        mean = cap * (float(answer.value[0]) / plan.count - 0.5)
        level = believed(mean, cap * answer.noise_scale / plan.count)
    center, spread = predicted_moments(plan, coordinates, theta, median)
    spread = max(spread, explained(*sizes), SMALLEST_SPREAD * size)
    cap = reach * size * spread
    query = ResidualSize(theta, cap, coordinates.matrix, low, high, Measure.TILT, start=center)
    answer = gate.ask(query)
    product = cap * (2 * float(answer.value[0]) / plan.count - 1)
    tilt = believed(product, 2 * cap * answer.noise_scale / plan.count) / spread**2
    slope = min(max(1 + tilt, 1 / LARGEST_SLOPE), LARGEST_SLOPE)
    shift = np.zeros(plan.design.width)
    if plan.design.intercept:
        shift[-1] = level + (1 - slope) * center
    return np.asarray(slope * theta + coordinates.working(shift))


def reach_of(evidence: float) -> float:
    """Where residuals are cut, in mean sizes, and their products, in those and deviations of p.

    The noise is then 2·reach / evidence mean sizes: an eighth where evidence is small, and less and
    less beyond. `evidence` is n·μ of each number, n as it was counted.
    """
    return float(min(max(2 * max(evidence / 30, 0.0) ** (2 / 3), 2.0), 60.0))


def predicted_moments(
    plan: Plan, coordinates: Coordinates, theta: Vector, median: float
) -> tuple[float, float]:
    """Mean and deviation of the predictions, by the last look; about zero without an intercept.

    Both are of the distance from the median, lest the noise of a large level hide a small spread.
    """
    if coordinates.moments is None:
        raise SettingError("Predictions are recalibrated by a look at the second moments.")
    low, high = response_ends(plan)
    distance = coordinates.prepared(theta).copy()
    mean = 0.0
    if plan.design.intercept:
        distance[-1] -= median
        mean = min(max(float(coordinates.moments[-1] @ distance), low - high), high - low)
    square = float(distance @ coordinates.moments @ distance) - mean**2
    length = float(np.linalg.norm(coordinates.working(distance)))
    # Rather too wide than too narrow: a spread that noise hides would turn the slope over.
    square += CAUTION * coordinates.noise * length * (length + 2 * abs(mean))
    center = mean + (median if plan.design.intercept else 0.0)
    return center, math.sqrt(min(max(square, 0.0), (high - low) ** 2))


def explained(before: float, after: float) -> float:
    """Deviation of the predictions of a fit that brought the residuals to such a size."""
    return NORMAL_DEVIATION * math.sqrt(max(before * before - after * after, 0.0))


def believed(found: float, noise: float) -> float:
    """Positive-part shrinkage of one number by what its noise would explain."""
    doubtful = DOUBT * noise * noise
    return 0.0 if found * found <= doubtful else found * (1.0 - doubtful / (found * found))
