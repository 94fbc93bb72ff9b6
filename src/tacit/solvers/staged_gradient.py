"""Descent in two stages, for numbers and counts: their residuals have an unknown scale.

The response is located first and the intercept starts there. Before a stage the residuals of the
stage before are measured, by counts; clip, thresholds and smoothing are in their units. So one rule
serves dollars and degrees, and a wide declared range costs little.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from tacit.contract.plan import Forecast, Penalty, Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Gate, QueryKind
from tacit.design.response import Count
from tacit.losses import regression
from tacit.losses.loss import LOG_LINKED, Code, Loss
from tacit.solvers.coordinates import Coordinates, Vector
from tacit.solvers.course_correction import Course
from tacit.solvers.far_out_rules import FAR_OUT
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.recalibration import recalibrate
from tacit.solvers.residual_scale import (
    Residuals,
    is_shared,
    loss_in_units,
    measure,
    shift_to_quantile,
    slope_size,
    step_unit,
)
from tacit.solvers.response_location import LocatingResponse, ResponseLocation, locate_response
from tacit.solvers.rules import CORRECTIONS, LABELS, RESPONSE, STAGED, Pace, between
from tacit.solvers.shrinkage import shrink, unclipped_share
from tacit.solvers.solver import CoefficientSolver, PublicFacts, SolverOptions, assembled, priced, require_passes
from tacit.solvers.whitened_gradient import Whitening, after_sums, column_queries, moment_steps, whiten
from tacit.solvers.wide_rules import COLUMNS


@dataclass(frozen=True)
class Stage:
    """Descent; before it residuals are measured in `scale_rounds` counts.

    The intercept is moved to their quantile in `shift_rounds` counts.
    """

    descent: Descent
    scale_rounds: int = 0
    shift_rounds: int = 0


@dataclass(frozen=True)
class Staged(CoefficientSolver):
    """Location of the response, whitening, stages of descent, and what corrects the result.

    `shrinkage` is how much of the noise's share is taken off the result, 0 for none. With
    `follows_course` it is taken off after every stage, and the rest of the way is gone. Level and
    slope are asked for at the end where `recalibration` is n·μ of each of them. With `seeks_tail` a response that most
    records share is first measured far out.
    """

    locating_response: LocatingResponse
    whitening: Whitening
    stages: tuple[Stage, ...]
    shrinkage: float = 0.0
    recalibration: float | None = None
    follows_course: bool = False
    seeks_tail: bool = False
    name: str = "staged-gradient"

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Locate the response, whiten, descend, correct."""
        location = locate_response(gate, plan, self.locating_response)
        coordinates = whiten(gate, plan, self.whitening)
        theta, _ = self.descend_in(gate, plan, coordinates, location, corrected=self.follows_course)
        return Solution(coordinates.prepared(theta))

    def descend_in(
        self, gate: Gate, plan: Plan, coordinates: Coordinates, location: ResponseLocation, *, corrected: bool = False
    ) -> tuple[Vector, Residuals]:
        """Working coefficients after all stages, and the residuals before the last.

        With `corrected` noise and way of every direction are followed, and corrected after every stage.
        """
        start = coordinates.working(first_coefficients(plan, location))
        known = Residuals(location.size, RESPONSE.normal * location.size, location.mean or 1.0)
        if plan.design.response.kind == Count.kind:
            least = STAGED.rate_size * math.sqrt(known.rate)
            known = replace(known, size=max(known.size, least))
        theta, sizes = start, []
        one_in = self.whitening.one_in
        course = Course.at_start(coordinates) if corrected else None
        far_out = self.seeks_tail and is_shared(plan, known)
        for number, stage in enumerate(self.stages):
            known = measure(gate, plan, stage.scale_rounds, coordinates, theta, known, one_in, far_out=far_out)
            far_out = far_out and known.size > location.size
            sizes.append(known.size)
            if stage.shift_rounds:
                rounds = stage.shift_rounds
                theta = shift_to_quantile(gate, plan, rounds, coordinates, theta, known)
            loss = loss_in_units(plan, known, first=number == 0)
            clip, unit = clip_and_unit(plan, loss, known, number, stage, coordinates.dimension)
            descent = replace(stage.descent, step_size=stage.descent.step_size * unit)
            theta, noise = descend(gate, plan, descent, coordinates, theta, clip, loss)
            if course is not None:
                course = course.after(stage.descent, noise * unit, unclipped_share(stage.descent.clip_factor or 1.0))
                last = stage is self.stages[-1]
                longest = COLUMNS.longest[0 if loss.code is Code.SQUARED else 1] if last else None
                way, course = course.corrected(theta - start, longest)
                theta = start + way
        strength = self.shrinkage or shrinkage_of_events(plan, known.rate)
        if strength > 0 and course is None:
            planned = self.stages[-1].descent
            theta = start + shrink(theta - start, coordinates, planned, noise * unit, strength)
        if self.recalibration is not None:
            ends = sizes[0], sizes[-1]
            n_mu, median = self.recalibration, location.median
            theta = recalibrate(gate, plan, n_mu, coordinates, theta, ends, median)
        return theta, known


def clip_and_unit(
    plan: Plan, loss: Loss, known: Residuals, number: int, stage: Stage, dimension: float
) -> tuple[float, float]:
    """Clip of a stage's gradients, and the unit of its steps; of rare counts a clip holds one event."""
    clip = (stage.descent.clip_factor or 1.0) * math.sqrt(dimension) * slope_size(loss, known)
    if loss.code is not Code.POISSON:
        return clip, step_unit(loss, known)
    clip = max(clip, clip_of_events(plan, known.rate) * math.sqrt(dimension))
    paid = [it for it in plan.steps if it.purpose is Purpose.DESCENT][number]
    return clip, 1 / max(known.rate, STAGED.rate_noise * clip * paid.noise_share(plan.count))


def clip_of_events(plan: Plan, rate: float) -> float:
    """Slope of one event, as far as noise is small at this rate: of rare counts the mean size is far below it."""
    events = plan.signal * plan.design.identified * rate
    return min(STAGED.event, STAGED.event_noise * events / math.sqrt(plan.design.identified))


def shrinkage_of_events(plan: Plan, rate: float) -> float:
    """How much of the noise's share is taken off slopes of rare counts: each record tells little of them."""
    if plan.loss.code is not Code.POISSON or plan.penalty != Penalty() or rate >= 1 or not plan.private:
        return 0.0
    return min(1.0, CORRECTIONS.full_shrinkage / (plan.signal * rate))


def first_coefficients(plan: Plan, location: ResponseLocation) -> Vector:
    """Coefficients of the prepared row: an intercept where the response lies, slopes of zero."""
    start = np.zeros(plan.design.width)
    if plan.design.intercept:
        start[-1] = location.median
        if location.mean is not None:
            offset = plan.design.attached.offset
            start[-1] = math.log(location.mean)
            start[-1] -= 0.0 if offset is None else (offset.lower + offset.upper) / 2
    return start


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a fit of a continuous response or of counts."""
    signal = facts.signal(allowed)
    if facts.loss.code is not Code.SQUARED:
        return _stages_plan(facts, options, allowed, 0.0)
    return seeking_tail(_stages_plan(facts, options, allowed, FAR_OUT.clip.at(signal)))


def seeking_tail(planned: Plan) -> Plan:
    """Return the same plan, which measures a response that most records share far out."""
    solver = planned.solver
    return replace(planned, solver=replace(solver, seeks_tail=True)) if isinstance(solver, Staged) else planned


def pilot_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the same for a step that follows, which gives back what clipping took."""
    return _stages_plan(facts, options, allowed, 0.0)


def _stages_plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction, least_clip: float) -> Plan:
    pace = pace_of(facts, options, facts.signal(allowed))
    narrow = facts.design.width <= STAGED.narrow and not facts.is_large
    queries, share = STAGED.narrow_queries if narrow else STAGED.wide_queries
    require_passes(options, 2 + facts.counts)
    queries = max(1, min(queries, facts.passes_allowed(options) - 1 - sum(pace.steps)))
    shares = STAGED.stages, 1 - STAGED.stages
    stages = _stages(facts, options, pace, facts.signal(allowed), least_clip)
    columns = column_queries(facts, facts.passes_allowed(options) - sum(pace.steps))
    return priced_stages(facts, allowed, stages, shares, (queries, share), "staged-gradient", columns)


def priced_stages(
    facts: PublicFacts,
    allowed: Fraction,
    stages: tuple[Stage, ...],
    shares: tuple[Fraction, ...],
    moments: tuple[int, Fraction],
    name: str,
    columns: int = 0,
) -> Plan:
    """Price location, second moments and stages; `shares` are of the gradients' budget.

    With `columns`, so many sums of columns come first, and second moments are asked for once.
    """
    queries, share = moments
    spent = queries * share
    if columns:
        queries, share = 1, spent * (1 - columns * COLUMNS.share)
    code, free = facts.loss.code, facts.penalty == Penalty()
    wanted = STAGED.location_share / facts.n_mu(allowed) ** 2
    location = Fraction(between(wanted, *STAGED.location_ends))
    recalibrates = code is Code.SQUARED and free
    last = CORRECTIONS.share if recalibrates else Fraction(0)
    measured = sum(bool(stage.scale_rounds) + bool(stage.shift_rounds) for stage in stages)
    # A declared scale is not measured, and what measuring would cost goes to the gradients.
    squared, quantile, other = STAGED.measuring
    measuring = Fraction({Code.SQUARED: squared, Code.PINBALL: quantile}.get(code, other) if measured else 0)
    left = allowed * (1 - location - measuring - spent - last)
    if len(stages) > 1:
        first = stages[0].descent
        mu = math.sqrt(left * shares[0] / first.iterations)
        one_in = facts.one_in_of_steps(mu, first.clip_factor or 1.0)
        stages = (replace(stages[0], descent=replace(first, one_in=one_in)), *stages[1:])
    medians = RESPONSE.medians if facts.design.intercept else 0
    locating = LocatingResponse(medians, RESPONSE.radii, mean=code in LOG_LINKED)
    steps = locating.steps(facts, allowed * location)
    steps += moment_steps(facts, allowed * spent, queries, columns)
    for stage, part in zip(stages, shares, strict=True):
        steps += _stage_steps(facts, stage, allowed * measuring / max(measured, 1), left * part)
    if recalibrates:
        purpose = Purpose.LEVEL_AND_SLOPE if facts.design.intercept else Purpose.SLOPE
        numbers = 1 + facts.design.intercept
        steps.append(priced(facts, QueryKind.COUNTS, allowed * last, numbers, purpose))
    signal = facts.signal(allowed)
    one = facts.n_mu(allowed) * math.sqrt(CORRECTIONS.share / 2)
    solver = Staged(
        locating,
        after_sums(_ridged(whitening_of_numbers(facts, allowed, queries, share), facts, columns), columns),
        stages,
        shrinkage=min(1.0, CORRECTIONS.full_shrinkage / signal) if recalibrates else 0.0,
        recalibration=one if recalibrates else None,
        follows_course=bool(columns) and free and code in {Code.SQUARED, Code.POISSON},
        name=name,
    )
    return assembled(facts, solver, steps, _forecast(facts, stages[-1].descent, math.sqrt(left)))


def _stage_steps(facts: PublicFacts, stage: Stage, counts: Fraction, gradients: Fraction) -> list[Step]:
    steps = []
    if stage.scale_rounds:
        steps.append(priced(facts, QueryKind.COUNTS, counts, stage.scale_rounds, Purpose.RESIDUAL_SIZE))
    if stage.shift_rounds:
        purpose = Purpose.RESIDUAL_QUANTILE
        steps.append(priced(facts, QueryKind.COUNTS, counts, stage.shift_rounds, purpose))
    rounds = stage.descent.iterations
    return [*steps, priced(facts, QueryKind.GRADIENT, gradients, rounds, Purpose.DESCENT)]


def whitening_of_numbers(facts: PublicFacts, allowed: Fraction, queries: int, share: Fraction) -> Whitening:
    """Rows as long as a noise norm below 0.3 n allows; a ridge against steps that are too long."""
    width, signal = facts.design.width, facts.signal(allowed)
    noise = STAGED.row_noise * signal * math.sqrt(float(share))
    longest = min(STAGED.row_factor, math.sqrt(noise / (2 * math.sqrt(width))))
    row_factor = max(LABELS.row_factor.at(signal), longest)
    if facts.is_large:
        row_factor = min(row_factor, STAGED.row_factor_of_large)
    clear = signal >= STAGED.clear
    ridge = between(STAGED.ridge * math.sqrt(width), *STAGED.ridge_ends)
    return Whitening(
        queries,
        STAGED.ridge_ends[0] if width <= STAGED.narrow or clear else ridge,
        row_factor,
        steepest=STAGED.steepest,
        late_ridge=STAGED.late_ridge if clear else None,
        one_in=facts.one_in_of_moments(math.sqrt(allowed) * math.sqrt(share), row_factor),
    )


def _ridged(whitening: Whitening, facts: PublicFacts, columns: int) -> Whitening:
    """The same with the ridge of wide tables, for least squares after sums of columns."""
    if not columns or facts.loss.code is not Code.SQUARED:
        return whitening
    return replace(whitening, ridge=COLUMNS.ridge_of_numbers * whitening.ridge)


def pace_of(facts: PublicFacts, options: SolverOptions, signal: float) -> Pace:
    """Steps of both stages, their length and momentum."""
    if facts.loss.code in LOG_LINKED:
        pace = STAGED.large_counts if facts.is_large else STAGED.counts
    elif facts.is_large:
        pace = STAGED.large_clear if signal >= STAGED.clear else STAGED.large_noisy
    elif facts.design.width <= STAGED.narrow:
        pace = STAGED.narrow_pace
    else:
        pace = STAGED.wide_pace
    if facts.loss.code is Code.PINBALL:
        pace = replace(pace, steps=(pace.steps[0], 2 * pace.steps[1]))
    if options.iterations is not None:
        first = max(1, options.iterations // 3)
        pace = replace(pace, steps=(first, max(1, options.iterations - first)))
    return pace


def _stages(
    facts: PublicFacts, options: SolverOptions, pace: Pace, signal: float, least_clip: float
) -> tuple[Stage, ...]:
    code, loss = facts.loss.code, facts.loss
    by_size = code in {Code.SQUARED, *LOG_LINKED}
    clip = max(least_clip, STAGED.size_clip.at(signal)) if by_size else STAGED.slope_clip.at(signal)
    threshold = loss.shape[0] if loss.relative else regression.EFFICIENT
    curvature = {
        Code.SQUARED: unclipped_share(clip),
        Code.HUBER: 2 * NormalDist().cdf(threshold) - 1,
        Code.PINBALL: STAGED.pinball_curvature,
    }.get(code, 1.0)
    rounds = 1 if by_size else (STAGED.scale_rounds if loss.relative else 0)
    length, output = options.step_size or pace.length / curvature, options.output or "tail"
    first, second = (
        Stage(Descent(steps, length, pace.momentum, clip, output, pace.averaged), rounds) for steps in pace.steps
    )
    if code is not Code.PINBALL:
        return first, second
    quantile = loss.shape[0]
    density = NormalDist().pdf(NormalDist().inv_cdf(quantile))
    length = options.step_size or pace.length / max(density, STAGED.pinball_density)
    # The first stage fits the middle, in units of the location; the second the quantile.
    shift_rounds = STAGED.shift_rounds if facts.design.intercept else 0
    last = Stage(replace(second.descent, step_size=length), STAGED.scale_rounds, shift_rounds)
    return replace(first, scale_rounds=0), last


def _forecast(facts: PublicFacts, descent: Descent, mu: float) -> Forecast | None:
    """Half the expected square of what the gradients' noise leaves in the predictions."""
    if facts.loss.code is not Code.SQUARED:
        return None
    width = facts.design.width
    clip = (descent.clip_factor or 1.0) * STAGED.residual * math.sqrt(width)
    noise = facts.sensitivity * clip / (facts.records * mu)
    return Forecast(
        width * noise**2,
        f"residuals have a mean size of {STAGED.residual:g} half ranges of the response and few "
        "are clipped (expected value, in squared half ranges)",
    )
