"""What the one-step route must know of a response, and the loss that follows from it.

Logistic: the share of ones, for the start and the pilot's steps. Continuous: the residuals' spread,
for the threshold of the bounded score. Counts: their mean and their overdispersion, without which
the bounded score would be biased. Everything is a public function of noised answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.losses import bounded_poisson, huber, smooth_huber
from tacit.losses.loss import Code, Loss
from tacit.problem.gate import Gate
from tacit.problem.plan import Plan
from tacit.problem.query import ColumnCounts, Measure, ResidualSize
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.placement import DEVIATIONS, LEVEL, bisect, bisect_octaves

LARGEST_SQUARE = 6.0
"""Squared residuals of counts are cut here, in units of the larger of 1 and the rate."""
RATES = (0.55, 1.0, 1.6)
"""Rates over their mean at which the expected square is averaged."""
LARGEST_DISPERSION = 5.0
STEPPED = 0.81

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Level:
    """The score's loss, where the intercept starts, the curvature that steps go by, what is known.

    `share` is the smaller share of two classes or the mean count, `dispersion` the α of counts and
    `wobble` what its noise does to the mean gradient, as a standard deviation.
    """

    loss: Loss
    start: float
    curvature: float
    share: float = 1.0
    dispersion: float = 0.0
    wobble: float = 0.0


def first_level(gate: Gate, plan: Plan, centers: Vector, scales: Vector) -> Level:
    """Ask for the level of a response; a continuous one was standardised with the columns."""
    match plan.loss.code:
        case Code.LOGISTIC:
            ends = np.array([0.5]), np.array([1.5])
            ones = float(gate.ask(ColumnCounts((plan.design.width,), *ends)).value[0])
            least = min(2.0 / plan.count, 0.25)
            share = min(max(ones / plan.count, least), 1 - least)
            curvature = min(0.25, 2 * share * (1 - share))
            start = math.log(share / (1 - share))
            return Level(plan.loss, start, curvature, min(share, 1 - share))
        case Code.POISSON:
            mean = _mean_count(gate, plan)
            loss = bounded_poisson.loss(mean, 0.0, top_rate(plan, mean))
            return Level(loss, math.log(mean), min(loss.smoothness, 1.5 * mean), mean)
    loss = smooth_huber.loss(threshold_of(plan) * float(scales[-1]))
    return Level(loss, float(centers[-1]), 1.0)


def second_level(
    gate: Gate, plan: Plan, coordinates: Coordinates, pilot: Vector, level: Level, noise: float
) -> Level:
    """Ask for the residuals of the pilot and sharpen the loss; its mean gradients have `noise`."""
    match plan.loss.code:
        case Code.LOGISTIC:
            return level
        case Code.POISSON:
            stage = plan.stages[0]
            averaged = max(1, math.ceil(stage.iterations * stage.averaged))
            # What the pilot's own noise adds to the squares, which is known.
            added = plan.design.width * noise**2 / (STEPPED * averaged * level.share)
            return dispersed_level(gate, plan, coordinates, pilot, level, added)
    top = 2 * level.loss.lipschitz

    def within(radius: float) -> float:
        query = ResidualSize(
            pilot, 2 * radius, coordinates.matrix, -1e6, 1e6, Measure.WITHIN, -radius
        )
        return float(gate.ask(query).value[0])

    rounds = plan.steps[-3].times
    radius = bisect_octaves(within, top, 6, rounds, LEVEL * plan.count)
    return replace(level, loss=smooth_huber.loss(threshold_of(plan) * radius / DEVIATIONS))


def threshold_of(plan: Plan) -> float:
    """Threshold of the bounded score, in deviations of the residuals."""
    return float(plan.loss.shape[0]) if plan.loss.relative else huber.EFFICIENT


def top_rate(plan: Plan, mean: float) -> float:
    """Rate from which a record's weight falls."""
    mu = plan.guarantee().mu or math.inf
    evidence = plan.count * mu / plan.design.width
    grown: float = min(max((evidence / 100) ** (1 / 9), 1.0), 1.6)
    return mean * grown


def _mean_count(gate: Gate, plan: Plan) -> float:
    """Mean of the counts, cut at twelve times a count of 1 or at their largest value."""
    price = next(step.price for step in plan.steps if step.label == "level of the response")
    largest = plan.design.response.upper  # type: ignore[union-attr]
    noise = 0.0 if price is None else 2.0**price.bits / (price.bound * plan.count)
    # The cut is where its own noise would be a fiftieth of a count, or the largest count.
    cap = min(largest, max(4.0, 0.02 / noise if noise else largest))
    query = ResidualSize(np.zeros(plan.design.width), cap, None, 0.0, 0.0, Measure.SHARE, 0.0)
    mean = cap * float(gate.ask(query).value[0]) / plan.count
    return min(max(mean, 0.02), cap)


def dispersed_level(
    gate: Gate, plan: Plan, coordinates: Coordinates, pilot: Vector, level: Level, added: float
) -> Level:
    """Ask how dispersed counts are; the noise in `pilot` has `added` so much to their squares."""
    mean = level.share
    query = ResidualSize(
        pilot,
        LARGEST_SQUARE,
        coordinates.matrix,
        math.log(mean) - bounded_poisson.BELOW,
        math.log(mean) + bounded_poisson.ABOVE,
        Measure.DISPERSION,
        exponential=True,
    )
    answer = gate.ask(query)
    seen = LARGEST_SQUARE * float(answer.value[0]) / plan.count - added
    dispersion, steepness = _solve_dispersion(mean, seen)
    deviation = LARGEST_SQUARE * answer.noise_scale / plan.count / steepness
    top = top_rate(plan, mean)
    rates = np.array([mean])
    nearby = bounded_poisson.expected_clip(rates, dispersion + 0.05)[0]
    slope = float((nearby - bounded_poisson.expected_clip(rates, dispersion)[0])[0]) / 0.05
    loss = bounded_poisson.loss(mean, dispersion, top)
    return replace(level, loss=loss, dispersion=dispersion, wobble=abs(slope) * deviation)


def _solve_dispersion(mean: float, seen: float) -> tuple[float, float]:
    """Return the α that explains the mean square seen, and how fast that grows with α."""

    def expected(dispersion: float) -> float:
        return float(np.mean([_mean_square(mean * part, dispersion) for part in RATES]))

    found = bisect(expected, 0.0, LARGEST_DISPERSION, 40, seen) if seen > expected(0.0) else 0.0
    return found, max((expected(found + 0.05) - expected(found)) / 0.05, 1e-3)


def _mean_square(rate: float, dispersion: float) -> float:
    """E min((Y - m)² / max(1, m), 6) for a count of mean m."""
    unit = max(1.0, rate)
    reach = rate + math.sqrt(LARGEST_SQUARE * unit)
    counts = np.arange(math.ceil(reach) + 1, dtype=np.float64)
    law = bounded_poisson.probabilities(counts, rate, dispersion)
    squares = np.minimum((counts - rate) ** 2 / unit, LARGEST_SQUARE)
    return float(law @ squares) + max(0.0, 1.0 - float(law.sum())) * LARGEST_SQUARE
