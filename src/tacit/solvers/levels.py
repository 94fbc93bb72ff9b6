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

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import ColumnCounts, Measure, ResidualSize
from tacit.losses import bounded_poisson, huber, smooth_huber
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.placement import DEVIATIONS, LEVEL, bisect, bisect_octaves

LARGEST_SQUARE = 6.0
"""Squared residuals of counts are cut here, in units of the larger of 1 and the rate."""
RATES = (0.55, 1.0, 1.6)
"""Rates over their mean at which the expected square is averaged."""
LARGEST_DISPERSION, HALVINGS = 5.0, 30
NEARBY = 0.02
"""Logarithms of rates between which slopes are taken."""
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
            # Beyond the mean curvature: ones that are rare lie far out, where it is larger.
            curvature = min(0.25, 2.5 * share * (1 - share))
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
            averaged = stage.iterations - stage.first_averaged
            # What the pilot's own noise adds to the squares, which is known.
            added = plan.design.width * noise**2 / (STEPPED * averaged * level.share)
            return dispersed_level(gate, plan, coordinates, pilot, level, added)
    top = 2 * level.loss.lipschitz

    def within(radius: float) -> float:
        query = ResidualSize(
            pilot, 2 * radius, coordinates.matrix, -1e6, 1e6, Measure.WITHIN, -radius
        )
        return float(gate.ask(query).value[0])

    rounds = next(step.times for step in plan.steps if step.label == "residuals")
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


def count_cap(plan: Plan) -> float:
    """Where counts are cut for their mean: its noise is a fiftieth of a count, if 4 are enough."""
    price = next(step.price for step in plan.steps if step.label == "level of the response")
    largest = float(plan.design.response.upper)  # type: ignore[union-attr]
    noise = 0.0 if price is None else 2.0**price.bits / (price.bound * plan.count)
    return min(largest, max(4.0, 0.02 / noise if noise else largest))


def _mean_count(gate: Gate, plan: Plan) -> float:
    """Mean of the counts, cut at `count_cap`."""
    cap = count_cap(plan)
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
    dispersion, steepness = solve_dispersion(mean, seen)
    deviation = LARGEST_SQUARE * answer.noise_scale / plan.count / steepness
    top = top_rate(plan, mean)
    rates = mean * np.array(RATES)
    nearby = bounded_poisson.expected_clip(rates, dispersion + 0.05)[0]
    change = (nearby - bounded_poisson.expected_clip(rates, dispersion)[0]) / 0.05
    slope = float((np.minimum(1.0, top / rates) * change).mean())
    loss = bounded_poisson.loss(mean, dispersion, top)
    sampled = sampling_part(mean, dispersion, top, slope / steepness) / plan.count
    wobble = math.sqrt((slope * deviation) ** 2 + max(sampled, 0.0))
    return replace(level, loss=loss, dispersion=dispersion, wobble=wobble)


def sampling_part(mean: float, dispersion: float, top: float, factor: float) -> float:
    """What a dispersion that is itself estimated adds to the variance of a record's score.

    With the weighed residual a and the square s behind the dispersion, the score of the intercept
    is a + k(s - c a) to first order, k the factor: squares are taken around a pilot that follows
    the residuals, c = (slope of the mean square) / (curvature of the pilot) along the intercept.
    Its variance is that of a, and k² Var(s - c a) + 2k Cov(a, s - c a) more, under the law found.
    """
    means = mean * np.array(RATES)[:, None]
    counts, law, _, _ = _law_of_squares(means, dispersion)
    law = np.column_stack([law, np.maximum(0.0, 1.0 - law.sum(axis=1))])
    # One count stands for all beyond, where residuals and squares are at their bounds.
    counts = np.append(counts, 1e9)

    def at(rates: Vector) -> tuple[Vector, Vector]:
        units = np.maximum(1.0, rates)
        reach = bounded_poisson.CLIP_DEVIATIONS * np.sqrt(units)
        shift = bounded_poisson.expected_clip(rates[:, 0], 0.0)[0][:, None]
        weighed = np.minimum(1.0, top / rates) * (np.clip(rates - counts, -reach, reach) + shift)
        return weighed, np.minimum((counts - rates) ** 2 / units, LARGEST_SQUARE)

    def mean_of(values: Vector) -> Vector:
        return np.asarray((law * values).sum(axis=1, keepdims=True))

    (low, lower), (high, higher) = at(means * math.exp(-NEARBY)), at(means * math.exp(NEARBY))
    bend = max(float(mean_of(high - low).mean()), 1e-3)
    follow = float(mean_of(higher - lower).mean()) / bend
    residual, square = at(means)
    square = square - follow * residual
    residual, square = residual - mean_of(residual), square - mean_of(square)
    added = factor**2 * mean_of(square**2) + 2 * factor * mean_of(residual * square)
    return float(added.mean())


def solve_dispersion(mean: float, seen: float) -> tuple[float, float]:
    """Return the α that explains the mean square seen, and how fast that grows with α."""
    rates = mean * np.array(RATES)

    def expected(dispersion: float) -> float:
        return float(_mean_squares(rates, dispersion).mean())

    found = (
        bisect(expected, 0.0, LARGEST_DISPERSION, HALVINGS, seen) if seen > expected(0.0) else 0.0
    )
    return found, max((expected(found + 0.05) - expected(found)) / 0.05, 1e-3)


def _mean_squares(rates: Vector, dispersion: float) -> Vector:
    """E min((Y - m)² / max(1, m), 6) for counts of means m."""
    _, law, squares, beyond = _law_of_squares(rates[:, None], dispersion)
    return np.asarray((law * squares).sum(axis=1) + beyond[:, 0] * LARGEST_SQUARE)


def _law_of_squares(means: Vector, dispersion: float) -> tuple[Vector, Vector, Vector, Vector]:
    """Counts, their law, their bounded squares, and how much law lies beyond; a row a mean."""
    units = np.maximum(1.0, means)
    counts = np.arange(math.ceil(float((means + np.sqrt(LARGEST_SQUARE * units)).max())) + 1.0)
    law = bounded_poisson.probabilities(counts, means, dispersion)
    squares = np.minimum((counts - means) ** 2 / units, LARGEST_SQUARE)
    beyond = np.maximum(0.0, 1.0 - law.sum(axis=1, keepdims=True))
    return counts, law, squares, beyond
