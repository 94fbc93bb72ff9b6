"""The staged route: place the response, whiten, then descend with residuals measured in between.

Rules with q = n μ / d, functions of public numbers alone; where they come from and what they were
checked on is in docs/solvers.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

from tacit.contract.plan import (
    Descent,
    Forecast,
    Penalty,
    Placing,
    Plan,
    Recalibrating,
    Step,
    Whitening,
)
from tacit.contract.query import Kind
from tacit.losses.loss import Code
from tacit.planning.pricing import assembled, between, priced
from tacit.planning.thinning import thinned_look, thinned_steps
from tacit.planning.wishes import Facts, Wishes, passes_allowed, require_passes
from tacit.solvers.shrinkage import unclipped_share

MEDIANS, RADII = 8, 5
SCALE_ROUNDS, SHIFT_ROUNDS = 5, 7
NARROW = 64
"""Columns up to which looks and steps are cheap and many."""
STEEPEST = 1.6
ROW_FACTOR_OF_LARGE_TABLE = 2.5
"""So that looks at a large table need not read all of it."""
CLEAR = 60.0
"""q from which noise is the smaller concern."""
RECALIBRATION_SHARE = Fraction(1, 25)
"""For level and slope at the end."""
FULL_SHRINKAGE = 15.0
"""q below which all of the noise's share is taken off the result."""
ASSUMED_RESIDUAL = 0.2
"""Mean size of residuals in half ranges of the response, for the forecast."""


@dataclass(frozen=True)
class Pace:
    """How the gradients' budget is spent: share and steps of the stages, and how they move."""

    shares: tuple[Fraction, ...]
    iterations: tuple[int, ...]
    averaged: float
    factor: float
    momentum: float


def plan_staged(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price a fit of a continuous response or of counts."""
    return priced_stages(facts, wishes, allowed, staged_approach(facts, wishes, allowed))


@dataclass(frozen=True)
class Approach:
    """A route through looks and stages: its name, its pace, how many looks of which share."""

    solver: str
    pace: Pace
    looks: int
    look_share: Fraction


def staged_approach(facts: Facts, wishes: Wishes, allowed: Fraction) -> Approach:
    """Look, then descend in two stages."""
    quality = facts.records * math.sqrt(allowed) / facts.design.width
    pace = _pace(facts, wishes, quality)
    return Approach("staged-gradient", pace, *_looks(facts, wishes, pace))


def priced_stages(facts: Facts, wishes: Wishes, allowed: Fraction, approach: Approach) -> Plan:
    """Price placing, looks and stages of an approach."""
    width, pace = facts.design.width, approach.pace
    looks, look_share = approach.looks, approach.look_share
    mu = math.sqrt(allowed)
    quality = facts.records * mu / width
    placing_share = Fraction(between(1300 / (facts.records * mu) ** 2, 0.02, 0.25))
    row_factor = _row_factor(quality, width, float(look_share))
    if facts.is_large:
        row_factor = min(row_factor, ROW_FACTOR_OF_LARGE_TABLE)
    whitening = Whitening(
        rounds=looks,
        ridge=0.3
        if width <= NARROW or quality >= CLEAR
        else between(0.08 * math.sqrt(width), 0.3, 1.5),
        row_factor=row_factor,
        steepest=STEEPEST,
        late_ridge=0.6 if quality >= CLEAR else None,
        every=thinned_look(facts, mu * math.sqrt(look_share), row_factor),
    )
    stages = _stages(facts, wishes, pace, quality)
    counts = facts.loss.code is Code.POISSON
    placing = Placing(MEDIANS if facts.design.intercept else 0, RADII, mean=counts)
    free = facts.penalty == Penalty()
    recalibrates = facts.loss.code is Code.SQUARED and free
    last = RECALIBRATION_SHARE if recalibrates else Fraction(0)
    measured = sum(bool(stage.scale_rounds) + bool(stage.shift_rounds) for stage in stages)
    # A declared scale is not measured, and what measuring would cost goes to the gradients.
    measuring_share = Fraction(_measuring_share(facts.loss.code) if measured else 0)
    left = allowed * (1 - placing_share - measuring_share - looks * look_share - last)
    if len(stages) > 1:
        first = stages[0]
        mu_of_step = math.sqrt(left * pace.shares[0] / first.iterations)
        apart = thinned_steps(facts, mu_of_step, first.clip_factor or 1.0)
        stages = (replace(first, every=apart), *stages[1:])
    steps = [
        *_placing_steps(facts, placing, allowed * placing_share),
        priced(facts, Kind.SECOND_MOMENTS, allowed * look_share * looks, looks, "second moments"),
    ]
    for stage, share in zip(stages, pace.shares, strict=True):
        for rounds, label in (
            (stage.scale_rounds, "size of residuals"),
            (stage.shift_rounds, "quantile of residuals"),
        ):
            if rounds:
                part = allowed * measuring_share / measured
                steps.append(priced(facts, Kind.COUNTS, part, rounds, label))
        steps.append(
            priced(facts, Kind.GRADIENT, left * share, stage.iterations, "gradient descent")
        )
    if recalibrates:
        numbers = 1 + facts.design.intercept
        label = "level and slope" if facts.design.intercept else "slope"
        steps.append(priced(facts, Kind.COUNTS, allowed * last, numbers, label))
    plan = assembled(
        facts,
        approach.solver,
        tuple(steps),
        stages=stages,
        whitening=whitening,
        forecast=_forecast(facts, stages[-1], math.sqrt(left)),
    )
    shrinkage = min(1.0, FULL_SHRINKAGE / quality)
    evidence = facts.records * mu * math.sqrt(RECALIBRATION_SHARE / 2)
    return replace(
        plan,
        placing=placing,
        shrinkage=shrinkage if recalibrates else 0.0,
        recalibrating=Recalibrating(evidence) if recalibrates else None,
    )


def _placing_steps(facts: Facts, placing: Placing, share: Fraction) -> list[Step]:
    rounds = placing.medians + placing.radii
    if not placing.mean:
        return [priced(facts, Kind.COUNTS, share, rounds, "median and scale of the response")]
    return [
        priced(facts, Kind.COUNTS, share / 2, rounds, "median and scale of the response"),
        priced(facts, Kind.COUNTS, share / 2, 1, "mean of the response"),
    ]


def _measuring_share(code: Code) -> float:
    return {Code.SQUARED: 0.04, Code.PINBALL: 0.08}.get(code, 0.06)


def _looks(facts: Facts, wishes: Wishes, pace: Pace) -> tuple[int, Fraction]:
    narrow = facts.design.width <= NARROW and not facts.is_large
    looks, share = (4, Fraction(1, 20)) if narrow else (2, Fraction(1, 10))
    besides = 1 + sum(pace.iterations)
    require_passes(wishes, 2 + facts.counts)
    return max(1, min(looks, passes_allowed(facts, wishes) - besides)), share


def _row_factor(quality: float, width: int, share: float) -> float:
    """Clip of whitened rows: as wide as keeps a look's noise edge below three tenths of n."""
    wide = min(4.0, math.sqrt(0.3 * quality * math.sqrt(share) / (2 * math.sqrt(width))))
    return max(between(0.25 * quality ** (1 / 3), 1.0, 2.0), wide)


def _pace(facts: Facts, wishes: Wishes, quality: float) -> Pace:
    shares = Fraction(1, 5), Fraction(4, 5)
    if facts.loss.code is Code.POISSON:
        pace = Pace(shares, (4, 6) if facts.is_large else (8, 16), 0.5, 0.5, 0.4)
    elif facts.is_large:
        few = quality >= 60
        pace = Pace(shares, (2, 4) if few else (3, 5), 0.5 if few else 0.4, 1.0, 0.5)
    elif facts.design.width <= NARROW:
        pace = Pace(shares, (6, 12), 0.75, 0.7, 0.0)
    else:
        pace = Pace(shares, (4, 6), 0.5, 1.0, 0.4)
    if facts.loss.code is Code.PINBALL:
        pace = replace(pace, iterations=(pace.iterations[0], 2 * pace.iterations[1]))
    if wishes.iterations is not None:
        first = max(1, wishes.iterations // 3)
        pace = replace(pace, iterations=(first, max(1, wishes.iterations - first)))
    return pace


def _stages(facts: Facts, wishes: Wishes, pace: Pace, quality: float) -> tuple[Descent, ...]:
    code, loss = facts.loss.code, facts.loss
    by_size = code in {Code.SQUARED, Code.POISSON}
    clip = (
        between(0.5 * quality ** (1 / 3), 1.0, 8.0)
        if by_size
        else between(0.25 * quality ** (1 / 3), 1.0, 2.5)
    )
    curvature = {
        Code.SQUARED: unclipped_share(clip),
        Code.HUBER: 2 * NormalDist().cdf(loss.shape[0] if loss.relative else 1.345) - 1,
        Code.PINBALL: 0.4,
    }.get(code, 1.0)
    scale_rounds = 1 if by_size else (SCALE_ROUNDS if loss.relative else 0)
    output = wishes.output or "tail"
    stages = [
        Descent(
            iterations,
            wishes.step_size or pace.factor / curvature,
            pace.momentum,
            clip,
            output,
            pace.averaged,
            scale_rounds,
        )
        for iterations in pace.iterations
    ]
    if code is Code.PINBALL:
        quantile = loss.shape[0]
        density = max(NormalDist().pdf(NormalDist().inv_cdf(quantile)), 0.25)
        # The first stage fits the middle, in units of the placing; the second the quantile.
        stages[0] = replace(stages[0], scale_rounds=0)
        stages[1] = replace(
            stages[1],
            step_size=wishes.step_size or pace.factor / density,
            scale_rounds=SCALE_ROUNDS,
            shift_rounds=SHIFT_ROUNDS if facts.design.intercept else 0,
        )
    return tuple(stages)


def _forecast(facts: Facts, stage: Descent, mu: float) -> Forecast | None:
    """Half the expected square of what the gradients' noise leaves in the predictions."""
    if facts.loss.code is not Code.SQUARED:
        return None
    width = facts.design.width
    clip = (stage.clip_factor or 1.0) * ASSUMED_RESIDUAL * math.sqrt(width)
    noise = facts.sensitivity * clip / (facts.records * mu)
    return Forecast(
        width * noise**2,
        f"residuals have a mean size of {ASSUMED_RESIDUAL:g} half ranges of the response and few "
        "are clipped (expected value, in squared half ranges)",
    )
