"""The length of the margins of two labels, asked for after the descent: what it stopped short of is given back.

Descent in whitened coordinates knows an upper bound on the curvature of the logistic loss. Where labels are nearly
separated the curvature is far below it, and margins p end at a third to a tenth of their length. Their direction is
right, so one number repairs them: the b that minimises Σ log(1 + e^bp) - y b p. In x = log b its slope and curvature

    g = -mean (y - q) b p,     h = mean q(1 - q) (b p)²,     q = 1 / (1 + e^-bp)

follow. g is one bounded number of a record, with little noise; h is that of normal margins with the mean and the
spread that the second moments tell. Every round asks for g at the present b. Then x - g / h is a noised sight of the
best x, the worse the longer the step. The last sights are averaged by these errors, with a prior around the length
that there was. What noise may explain of the result is taken off, and what the records themselves may explain is
dropped: a descent that ended at the minimum knows better.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tacit.contract.plan import Penalty, Plan
from tacit.contract.query import Gate, Measure, ResidualSize
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates, Vector
from tacit.solvers.label_slope_rules import LABEL_SLOPE
from tacit.solvers.rules import between
from tacit.solvers.solver import PublicFacts, SolverOptions

NODES = np.linspace(-8.0, 8.0, 4001)
WEIGHTS = np.exp(-(NODES**2) / 2) / np.exp(-(NODES**2) / 2).sum()
"""Of a normal variable: so fine that long margins, whose curvature is all near 0, are met."""
SHORTEST = 1e-9
FARTHEST = 600.0
"""Margins are read up to here: beyond, a label is as sure as it can be."""


def asks_for_length(facts: PublicFacts, options: SolverOptions) -> bool:
    """Whether the length is asked for: of logits with nothing that holds them, and a public number of records.

    A noised number of records would move the middle of the measure by more than the tilt is.
    """
    usual = replace(options, solver="auto") == SolverOptions()
    plain = usual and facts.loss.code is Code.LOGISTIC and facts.penalty == Penalty()
    return plain and not facts.counts and not facts.is_large and facts.design.attached.offset is None


def lengthened(
    gate: Gate,
    plan: Plan,
    rounds: int,
    coordinates: Coordinates,
    theta: Vector,
    sampling_errors: float = LABEL_SLOPE.sampling_errors,
) -> Vector:
    """Return working coefficients whose margins have the length that the labels tell.

    A length within so many sampling errors of what the labels tell is kept.
    """
    mean, spread = margin_moments(plan, coordinates, theta)
    size = math.hypot(mean, spread)
    length, sampling, sights = 0.0, 0.0, []
    for _ in range(rounds):
        factor = math.exp(length)
        cap = min(LABEL_SLOPE.cap, LABEL_SLOPE.sizes * factor * size)
        query = ResidualSize(factor * theta, cap, coordinates.matrix, -FARTHEST, FARTHEST, measure=Measure.LABEL_TILT)
        answer = gate.ask(query)
        tilt = cap * (2 * float(answer.value[0]) / plan.count - 1)
        noise = 2 * cap * answer.noise_scale / plan.count
        curvature, square = expected_moments(factor * mean, factor * spread, cap)
        sampling = math.sqrt(square / plan.count) / curvature
        step = between(tilt / curvature, -LABEL_SLOPE.longest, LABEL_SLOPE.longest)
        variance = (noise / curvature) ** 2 + (LABEL_SLOPE.bent * step) ** 2
        sights.append((length + step, 1 / variance if variance > 0 else math.inf))
        length, variance = averaged(sights[-LABEL_SLOPE.kept :])
    least = LABEL_SLOPE.noise_variances * variance
    kept = max(0.0, 1 - least / length**2) if abs(length) > sampling_errors * sampling else 0.0
    return math.exp(kept * length) * theta


def margin_moments(plan: Plan, coordinates: Coordinates, theta: Vector) -> tuple[float, float]:
    """Mean and deviation of the margins, by the last second moments."""
    # Whatever the answers were, as many questions follow: of margins neither 0 nor endless.
    norm = between(float(np.linalg.norm(theta)), SHORTEST, FARTHEST)
    moments, prepared = coordinates.moments, coordinates.prepared(theta)
    if moments is None:
        return 0.0, norm
    with np.errstate(all="ignore"):
        square, first = (float(np.nan_to_num(it)) for it in (prepared @ moments @ prepared, moments[-1] @ prepared))
    square = between(square, (LABEL_SLOPE.smallest * norm) ** 2, FARTHEST**2)
    root = math.sqrt(square)
    mean = between(first, -root, root) if plan.design.intercept else 0.0
    return mean, max(math.sqrt(max(square - mean**2, 0.0)), LABEL_SLOPE.smallest * root)


def expected_moments(mean: float, spread: float, cap: float) -> tuple[float, float]:
    """Curvature in the logarithm of the length, and mean square of a tilt, of normal margins with levers cut by cap."""
    margins = mean + spread * NODES
    most = 1.0 / (1.0 + np.exp(-np.abs(margins)))
    lever = np.clip(margins, -cap / most, cap / most)
    variances = WEIGHTS * most * (1 - most)
    return max(float(np.sum(variances * margins * lever)), 1e-12), float(np.sum(variances * lever**2))


def averaged(sights: list[tuple[float, float]]) -> tuple[float, float]:
    """Mean of the sights by their precision, with the prior at 0, and its variance; without noise the last of them."""
    if math.isinf(sights[-1][1]):
        return sights[-1][0], 0.0
    total = LABEL_SLOPE.prior**-2 + sum(precision for _, precision in sights)
    return sum(place * precision for place, precision in sights) / total, 1 / total
