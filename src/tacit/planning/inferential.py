"""The route with intervals: standardise, whiten, a pilot with weighed rows, one Newton step.

The shares of μ² and the rules are those of docs/inference.md, measured by coverage; e = n μ / d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from tacit.contract.plan import Descent, Forecast, OneStep, Plan, Standardising, Step, Whitening
from tacit.contract.query import Kind
from tacit.design.design import Column
from tacit.design.factor import Indicator
from tacit.design.response import Continuous
from tacit.errors import SettingError
from tacit.losses.loss import Code, Loss
from tacit.planning.pricing import assembled, priced
from tacit.planning.thinning import thinned_look
from tacit.planning.wishes import Facts, Wishes, require_passes
from tacit.solvers.pilot import clip_factor_of, momentum_of, pilot_steps_of

ANSWERS_OF_LARGE_TABLE = 38
"""Cap on answers about a large table where intervals are paid for: counts read few columns, and a
pilot must arrive."""
LEAST_CURVATURE = 0.05
"""Assumed curvature in whitened directions, for the forecast."""
MEDIANS, RADII, RESIDUAL_ROUNDS = 12, 6, 6
PILOT_AVERAGED = 0.6
ROW_FACTOR = math.sqrt(2.0)
"""Standardised rows are shrunk to this times √d for the one look."""
RIDGE = 0.4


@dataclass(frozen=True)
class Shares:
    """Parts of μ², in hundredths."""

    scales: int
    level: int
    residuals: int
    look: int
    pilot: int
    sandwich: int
    step: int


SHARES = {
    Code.LOGISTIC: Shares(5, 2, 0, 10, 20, 30, 33),
    Code.SQUARED: Shares(5, 0, 2, 10, 20, 30, 33),
    Code.HUBER: Shares(5, 0, 2, 10, 20, 30, 33),
    Code.POISSON: Shares(5, 1, 6, 10, 18, 28, 32),
}


def has_intervals(loss: Loss) -> bool:
    """Whether private fits of a loss can have intervals."""
    return loss.code in SHARES


def plan_inference(facts: Facts, wishes: Wishes, allowed: Fraction) -> Plan:
    """Price a fit with intervals.

    Exactly one step is taken from the pilot: its noise enters linearly, so that the intervals stay
    centred.
    """
    code = facts.loss.code
    if not has_intervals(facts.loss):
        raise SettingError(f"There are no intervals for the {facts.loss.name} loss.")
    shares = SHARES[code]
    evidence = evidence_of(facts, allowed)
    clip = clip_factor_of(evidence)
    residual_rounds = 1 if code is Code.POISSON else RESIDUAL_ROUNDS
    steps, standardising = first_steps(facts, allowed, shares)
    besides = sum(step.times for step in steps) + 2 + facts.counts
    besides += residual_rounds if shares.residuals else 0
    pilot = _pilot_steps(facts, wishes, evidence, besides=besides)

    def cost(hundredths: int) -> Fraction:
        return allowed * Fraction(hundredths, 100)

    steps.append(priced(facts, Kind.GRADIENT, cost(shares.pilot), pilot, "gradient descent"))
    if shares.residuals:
        part = cost(shares.residuals)
        steps.append(priced(facts, Kind.COUNTS, part, residual_rounds, "residuals"))
    steps += [
        priced(facts, Kind.SANDWICH, cost(shares.sandwich), 1, "curvature and score"),
        priced(facts, Kind.GRADIENT, cost(shares.step), 1, "last step"),
    ]
    # A pilot that has not arrived leaves a bias behind the step; where much is to be learnt,
    # momentum brings it there, and the noise that it adds is small.
    momentum = momentum_of(pilot)
    every = thinned_look(facts, math.sqrt(cost(shares.look)), ROW_FACTOR)
    stage = Descent(
        pilot, wishes.step_size or 1.0, momentum, clip, wishes.output or "tail", PILOT_AVERAGED
    )
    plan = assembled(
        facts,
        "one-step",
        tuple(steps),
        stages=(stage,),
        whitening=Whitening(1, RIDGE, ROW_FACTOR, every=every),
        forecast=_forecast(facts, clip, math.sqrt(cost(shares.step))),
    )
    return replace(plan, inference=OneStep(clip), standardising=standardising)


def evidence_of(facts: Facts, allowed: Fraction) -> float:
    """Return e = n μ / d."""
    return facts.records * math.sqrt(allowed) / facts.design.width


def first_steps(
    facts: Facts, allowed: Fraction, shares: Shares
) -> tuple[list[Step], Standardising | None]:
    """Counts that standardise, the level of the response, one look that whitens."""
    columns = standardised_columns(facts)
    medians = MEDIANS if facts.design.intercept else 0

    def cost(hundredths: int) -> Fraction:
        return allowed * Fraction(hundredths, 100)

    steps: list[Step] = []
    if columns:
        rounds = medians + RADII
        label = "location and scale"
        steps.append(priced(facts, Kind.COUNTS, cost(shares.scales), rounds, label, len(columns)))
    if shares.level:
        steps.append(priced(facts, Kind.COUNTS, cost(shares.level), 1, "level of the response"))
    # What standardising does not need goes to the look at the second moments.
    look = shares.look + (0 if columns else shares.scales)
    steps.append(priced(facts, Kind.SECOND_MOMENTS, cost(look), 1, "second moments"))
    return steps, Standardising(columns, medians, RADII) if columns else None


def standardised_columns(facts: Facts) -> tuple[int, ...]:
    """Places of the columns whose centre and scale are asked for: not those of zeros and ones."""
    design = facts.design
    places = [j for j, column in enumerate(design.columns) if not _is_zero_one(column)]
    if isinstance(design.response, Continuous):
        places.append(design.width)
    return tuple(places)


def _is_zero_one(column: Column) -> bool:
    return bool(column.factors) and all(isinstance(part, Indicator) for part in column.factors)


def _pilot_steps(facts: Facts, wishes: Wishes, evidence: float, *, besides: int) -> int:
    """Steps of the pilot, by what is there to be learnt and how many passes are allowed."""
    require_passes(wishes, besides)
    allowed = wishes.max_passes or ANSWERS_OF_LARGE_TABLE
    wanted = pilot_steps_of(evidence)
    if wishes.max_passes is not None or facts.is_large:
        wanted = min(wanted, allowed - besides)
    return wishes.iterations or int(wanted)


def _forecast(facts: Facts, clip_factor: float, mu: float) -> Forecast | None:
    """Twice ½ tr(M Cov) for the last step's noise σ: d σ² / h, with curvature h in whitened space.

    The second half is for what the pilot leaves behind.
    """
    if facts.loss.code is not Code.LOGISTIC:
        return None
    width = facts.design.width
    clip = clip_factor * math.sqrt(width)
    noise = facts.sensitivity * clip / (facts.records * mu)
    return Forecast(
        width * noise**2 / LEAST_CURVATURE,
        f"the loss has curvature at least {LEAST_CURVATURE:g} in every whitened direction (no very "
        "rare outcome) and few rows are downweighted (expected value)",
    )
