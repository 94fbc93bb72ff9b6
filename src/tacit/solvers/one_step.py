"""A pilot and one Newton step, with the matrices of its variance: the solver of intervals.

    M = mean w h z z',   Q = mean w² a² z z',   θ = pilot - M⁻¹(g(pilot) + noise)

with row weights w, slopes a and curvatures h at the pilot. From a pilot with error e the step
leaves an error of order e², and its own noise enters linearly, so that intervals stay centred;
further noisy steps would add bias. The shares were measured by coverage (docs/inference.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.gate import Gate
from tacit.contract.plan import Forecast, Plan, Purpose, Solution
from tacit.contract.query import GradientSum, QueryKind
from tacit.contract.release import Sandwich
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.interval_rules import LEVEL, ONE_STEP, START, Shares
from tacit.solvers.noisy_steps import Descent, descend
from tacit.solvers.nuisance import Level, dispersed_level, scaled_level
from tacit.solvers.rules import TABLES, between
from tacit.solvers.sandwich import ask_sandwich, coefficient_errors, solved
from tacit.solvers.signal import signal_of
from tacit.solvers.solver import (
    PublicFacts,
    Requirement,
    SolverOptions,
    assembled,
    one_in_of_moments,
    priced,
    require,
    require_passes,
)
from tacit.solvers.standardised_start import (
    Known,
    StandardisedStart,
    begin,
    clip_factor_of,
    counted_clip,
    counted_less,
    first_steps,
)


def has_intervals(loss: Loss) -> bool:
    """Whether private fits of a loss can have intervals."""
    return loss.code in {Code.LOGISTIC, Code.SQUARED, Code.HUBER, Code.POISSON}


REQUIRES = (
    Requirement(
        lambda facts, _: has_intervals(facts.loss), "There are no intervals for the {loss} loss."
    ),
)


def shares_of(loss: Loss) -> Shares:
    """Parts of μ² of a loss's fit with intervals."""
    if loss.code is Code.LOGISTIC:
        return ONE_STEP.logistic
    return ONE_STEP.counts if loss.code is Code.POISSON else ONE_STEP.numbers


@dataclass(frozen=True)
class OneStep:
    """Standardised start, pilot, counts of its residuals, one step."""

    start: StandardisedStart
    pilot: Descent
    residual_rounds: int
    name: str = "one-step"

    intervals: ClassVar[bool] = True
    maps_rows: ClassVar[bool] = True

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Run pilot and step."""
        known = begin(gate, plan, self.start, counted_clip(plan, self.start.clip_factor))
        coordinates, level = known.coordinates, known.level
        pilot = counted_pilot(plan, self.pilot)
        pilot = replace(pilot, step_size=pilot.step_size / level.curvature)
        bound = known.clip * level.loss.lipschitz
        theta, noise = descend(
            gate, plan, pilot, coordinates, known.start, bound, level.loss, downweighted=True
        )
        level = self.second_level(gate, plan, coordinates, theta, level, noise)
        theta, sandwich = take_step(gate, plan, known, theta, level)
        return Solution(coordinates.prepared(theta), sandwich)

    def second_level(
        self,
        gate: Gate,
        plan: Plan,
        coordinates: Coordinates,
        theta: Vector,
        level: Level,
        noise: float,
    ) -> Level:
        """Ask for the pilot's residuals and sharpen the loss; its mean gradients have `noise`."""
        if plan.loss.code is Code.POISSON:
            averaged = self.pilot.iterations - self.pilot.first_averaged
            # What the pilot's own noise adds to the squares, which is known.
            added = plan.design.width * noise**2 / (LEVEL.descended * averaged * level.share)
            return dispersed_level(gate, plan, coordinates, theta, level, added)
        if self.residual_rounds:
            return scaled_level(gate, plan, coordinates, theta, level, self.residual_rounds)
        return level


def take_step(
    gate: Gate, plan: Plan, known: Known, pilot: Vector, level: Level
) -> tuple[Vector, Sandwich]:
    """Ask for curvature, score and gradient at the pilot, and step once."""
    coordinates, clip, loss = known.coordinates, known.clip, level.loss
    asked = ask_sandwich(gate, plan, coordinates, pilot, clip, loss)
    query = GradientSum(pilot, clip * loss.lipschitz, coordinates.matrix, True, loss)
    gradient = gate.ask(query)
    # By the declared number of records, as the matrices are; the step has no scale.
    mean, step_noise = gradient.value / plan.records, gradient.noise_scale / plan.records
    step = solved(asked.curvature, mean)
    longest = ONE_STEP.longest * max(1.0, loss.lipschitz)
    capped = plan.private and bool(np.linalg.norm(step) > longest)
    if capped:
        step *= longest / np.linalg.norm(step)
    variance = asked.score / plan.records + step_noise**2 * np.eye(len(step))
    far = {Code.LOGISTIC: ONE_STEP.far_labels, Code.BOUNDED_POISSON: ONE_STEP.far_counts}
    error = step_error(step, asked.curvature, variance)
    sandwich = replace(
        asked,
        capped=capped,
        step_noise=step_noise,
        level=level.share,
        dispersion=level.dispersion,
        nuisance_error=coefficient_errors(
            plan, coordinates, asked, level.shift_error, known.mean_row
        ),
        far=plan.private and error > far.get(loss.code, math.inf),
        rare=known.rare,
    )
    return pilot - step, sandwich


def step_error(step: Vector, curvature: Matrix, variance: Matrix) -> float:
    """Bound on the error that a Newton step s leaves, over the standard error of the result.

    Where the third derivative is no larger than the second, the step leaves at most
    ½ √(mean h (z·s)⁴) in the norm of M, about ½ √3 s'Ms / √h for rows z with unit second moments.
    The result's own variance there is the trace of M⁻¹ times the score's variance, over d.
    """
    own = float(np.trace(solved(curvature, variance))) / len(step)
    mean = float(np.trace(curvature)) / len(step)
    tiny = np.finfo(float).tiny
    left = math.sqrt(3.0) / 2 * float(step @ curvature @ step)
    return left / (math.sqrt(max(mean, tiny)) * math.sqrt(max(own, tiny)))


def pilot_steps_of(signal: float) -> int:
    """Steps of a pilot, if nothing limits them."""
    slope, offset = ONE_STEP.steps
    steps = math.ceil(slope * math.log10(max(signal, 1.0)) - offset)
    return int(between(steps, *ONE_STEP.step_ends))


def momentum_of(steps: int) -> float:
    """Momentum of a pilot that takes so many steps."""
    slowest, pace, fastest = ONE_STEP.momentum
    return between((steps - slowest) / pace, 0.0, fastest)


def counted_pilot(plan: Plan, pilot: Descent) -> Descent:
    """Return the pilot for the records that were counted, with as many steps as planned.

    With weights far below the largest declared, a pilot that was planned for all records would
    follow the noise. All its steps together go as far as the few that the signal calls for.
    """
    if not counted_less(plan):
        return pilot
    steps = min(pilot.iterations, pilot_steps_of(plan.signal))
    return replace(
        pilot,
        step_size=pilot.step_size * steps / pilot.iterations,
        momentum=min(pilot.momentum, momentum_of(steps)),
    )


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price a fit with intervals."""
    require(REQUIRES, facts, options)
    shares = shares_of(facts.loss)
    signal = signal_of(facts, allowed)
    clip = clip_factor_of(signal)
    steps, start = first_steps(facts, allowed, shares, clip)
    rounds = 1 if facts.loss.code is Code.POISSON else ONE_STEP.residual_rounds
    rounds = rounds if shares.residuals else 0
    others = sum(step.times for step in steps) + 2 + facts.counts + rounds
    count = _pilot_steps(facts, options, signal, others=others)

    def cost(hundredths: int) -> Fraction:
        return allowed * Fraction(hundredths, 100)

    steps.append(priced(facts, QueryKind.GRADIENT, cost(shares.pilot), count, Purpose.DESCENT))
    if rounds:
        spent = cost(shares.residuals)
        steps.append(priced(facts, QueryKind.COUNTS, spent, rounds, Purpose.RESIDUALS))
    sandwich, step = cost(shares.sandwich), cost(shares.step)
    steps += [
        priced(facts, QueryKind.SANDWICH, sandwich, 1, Purpose.CURVATURE_AND_SCORE),
        priced(facts, QueryKind.GRADIENT, step, 1, Purpose.LAST_STEP),
    ]
    # A pilot that has not arrived leaves a bias after the step; where the signal is large,
    # momentum brings it there, and the noise that it adds is small.
    length, output = options.step_size or 1.0, options.output or "tail"
    pilot = Descent(count, length, momentum_of(count), clip, output, ONE_STEP.averaged)
    one_in = one_in_of_moments(facts, math.sqrt(cost(shares.moments)), START.row_factor)
    solver = OneStep(replace(start, one_in=one_in), pilot, rounds)
    return assembled(facts, solver, steps, _forecast(facts, clip, math.sqrt(step)))


def _pilot_steps(facts: PublicFacts, options: SolverOptions, signal: float, *, others: int) -> int:
    """Steps of the pilot, by the signal and by how many passes are allowed."""
    require_passes(options, others)
    allowed = options.max_passes or TABLES.answers_with_intervals
    wanted = pilot_steps_of(signal)
    if options.max_passes is not None or facts.is_large:
        wanted = min(wanted, allowed - others)
    return options.iterations or wanted


def _forecast(facts: PublicFacts, clip_factor: float, mu: float) -> Forecast | None:
    """Twice ½ tr(M Cov) for the last step's noise σ: d σ² / h, with curvature h in whitened space.

    The second half is for what the pilot leaves.
    """
    if facts.loss.code is not Code.LOGISTIC:
        return None
    width = facts.design.width
    clip = clip_factor * math.sqrt(width)
    noise = facts.sensitivity * clip / (facts.records * mu)
    return Forecast(
        width * noise**2 / ONE_STEP.curvature,
        f"the loss has curvature at least {ONE_STEP.curvature:g} in every whitened direction (no "
        "very rare outcome) and few rows are downweighted (expected value)",
    )
