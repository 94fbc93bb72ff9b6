"""Nuisance parameters of a response, and the loss that follows from them.

Logistic: the share of ones, for the start and the pilot's steps. Continuous: the scale of the
residuals, for the threshold of the bounded score. Counts: their mean and their overdispersion,
without which the bounded score would be biased. All are public functions of noised answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import ColumnCounts, Gate, Measure, ResidualSize
from tacit.losses import poisson, regression
from tacit.losses.constants import explaining_ratio, square_slope
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.interval_rules import LEVEL, NEWTON
from tacit.solvers.plenty_rules import PLENTY, grown, plenty_at
from tacit.solvers.quantiles import FARTHEST, bisect, bisect_octaves, residuals_within
from tacit.solvers.rules import RESPONSE, between


@dataclass(frozen=True)
class Level:
    """The score's loss, where the intercept starts, and the curvature that steps go by.

    `share` is the smaller share of two classes or the mean count.
    """

    loss: Loss
    start: float
    curvature: float
    share: float = 1.0


def first_level(gate: Gate, plan: Plan, centers: Vector, scales: Vector) -> Level:
    """Ask for the level of a response; a continuous one was standardised with the columns."""
    match plan.loss.code:
        case Code.LOGISTIC:
            ends = np.array([0.5]), np.array([1.5])
            ones = float(gate.ask(ColumnCounts((plan.design.width,), *ends)).value[0])
            least = min(LEVEL.least_ones / plan.count, LEVEL.least_share)
            share = between(ones / plan.count, least, 1 - least)
            # Beyond the mean curvature: ones that are rare lie far out, where it is larger.
            curvature = min(plan.loss.smoothness, LEVEL.rare_curvature * share * (1 - share))
            start = math.log(share / (1 - share))
            return Level(plan.loss, start, curvature, min(share, 1 - share))
        case Code.POISSON:
            cap, nowhere = count_cap(plan), np.zeros(plan.design.width)
            asked = gate.ask(ResidualSize(nowhere, cap, None, 0.0, 0.0, Measure.SHARE, 0.0))
            mean = between(cap * float(asked.value[0]) / plan.count, LEVEL.least_mean, cap)
            loss = poisson.bounded(mean, 0.0, top_rate(plan, mean))
            curvature = min(loss.smoothness, LEVEL.count_curvature * mean)
            return Level(loss, math.log(mean), curvature, mean)
    loss = regression.smooth_huber(threshold_of(plan) * float(scales[-1]))
    return Level(loss, float(centers[-1]), 1.0)


def residual_threshold(gate: Gate, plan: Plan, matrix: Matrix | None, pilot: Vector, size: float) -> float:
    """Ask for the radius of the pilot's residuals, of about `size`: the score's threshold."""

    def within(radius: float) -> float:
        return residuals_within(gate, pilot, -radius, radius, matrix)

    top = LEVEL.widest * RESPONSE.size * size
    held = RESPONSE.held * plan.count
    rounds = plan.step(Purpose.RESIDUALS).times
    radius = bisect_octaves(within, top, LEVEL.octaves, rounds, held)
    return threshold_of(plan) * radius / RESPONSE.deviation


def threshold_of(plan: Plan) -> float:
    """Threshold of the bounded score, in deviations of the residuals."""
    return float(plan.loss.shape[0]) if plan.loss.relative else regression.EFFICIENT


def top_rate(plan: Plan, mean: float) -> float:
    """Rate from which a record's weight falls."""
    return mean * LEVEL.top.at(plan.signal) * grown(PLENTY.top, plenty_at(plan))


def count_cap(plan: Plan) -> float:
    """Where counts are cut for their mean: its noise is a fiftieth of a count, if 4 are enough."""
    largest = float(plan.design.response.upper)  # type: ignore[union-attr]
    noise = 0.0
    if plan.private:
        noise = plan.step(Purpose.RESPONSE_LEVEL).noise_share(plan.count)
    return min(largest, max(LEVEL.cut, LEVEL.count_noise / noise if noise else largest))


def dispersed_level(
    gate: Gate, plan: Plan, coordinates: Coordinates, pilot: Vector, level: Level, added: float
) -> Level:
    """Ask how dispersed counts are; the noise in `pilot` has `added` so much to their squares."""
    mean = level.share
    ends = math.log(mean) - poisson.BELOW, math.log(mean) + poisson.ABOVE
    query = ResidualSize(pilot, LEVEL.squares, coordinates.matrix, *ends, Measure.DISPERSION, exponential=True)
    seen = LEVEL.squares * float(gate.ask(query).value[0]) / plan.count - added
    loss = poisson.bounded(mean, solve_dispersion(mean, seen), top_rate(plan, mean))
    return replace(level, loss=loss)


def solve_dispersion(mean: float, seen: float) -> float:
    """Return the α that explains the mean square seen."""
    rates = mean * np.array(LEVEL.rates)

    def expected(dispersion: float) -> float:
        return float(_mean_squares(rates, dispersion).mean())

    return bisect(expected, 0.0, LEVEL.dispersion, LEVEL.halvings, seen) if seen > expected(0.0) else 0.0


def _mean_squares(rates: Vector, dispersion: float) -> Vector:
    """E min((Y - m)² / max(1, m), 6) for counts of means m."""
    means = rates[:, None]
    units = np.maximum(1.0, means)
    counts = np.arange(math.ceil(float((means + np.sqrt(LEVEL.squares * units)).max())) + 1.0)
    law = poisson.probabilities(counts, means, dispersion)
    squares = np.minimum((counts - means) ** 2 / units, LEVEL.squares)
    beyond = np.maximum(0.0, 1.0 - law.sum(axis=1))
    return np.asarray((law * squares).sum(axis=1) + beyond * LEVEL.squares)


def rescale(
    gate: Gate, plan: Plan, coordinates: Coordinates, theta: Vector, scale: float, damping: float, prior: float
) -> tuple[float, float]:
    """Solve Huber's second equation, mean min(r²/s², c²) = κ(c), for the residuals' scale s.

    Ask for the mean on the left at (θ, s) and move s to where normal errors would explain it.
    `prior` is the variance of log s; return the next scale and the next variance.
    """
    c = threshold_of(plan)
    query = ResidualSize(theta, c * scale, coordinates.matrix, -FARTHEST, FARTHEST, Measure.SQUARE)
    answer = gate.ask(query)
    seen = c**2 * float(answer.value[0]) / plan.count
    ratio = explaining_ratio(seen, c, *NEWTON.scale_change)
    noise = c**2 * answer.noise_scale / plan.count / square_slope(c)
    gain = min(damping, prior / (prior + noise**2))
    moved = float(between(scale * ratio**gain, *NEWTON.scale_ends))
    return moved, (1 - gain) * prior + NEWTON.scale_drift
