"""Rounds of noisy Newton steps, of majorised Newton steps, or of descent with weighed rows.

    θ ← θ - η P (g(θ) + noise),   ‖step‖ ≤ 3 spreads of the response

P is the inverse of the curvature that the round released (Newton), of a bound on it that was
released once (majorised), or a number (descent). Eigenvalues below 1.5 noise norms are raised to
that before P is made, so that noise can shorten a step and never turn or stretch it. Undamped and
without floor and cap, noisy Newton runs away (docs/newton.md has the measurements).

All begin as the one-step solver does and share its parts of μ². What that spends on pilot and step
goes to the rounds, and the part of curvature and score too where no intervals are asked for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Purpose, Solution, Step
from tacit.contract.query import Answer, Gate, GradientSum, QueryKind, SecondMoments, Weights
from tacit.contract.release import Sandwich
from tacit.errors import SettingError
from tacit.losses import regression
from tacit.losses.constants import expected_curvature
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Matrix, Vector
from tacit.solvers.interval_rules import NEWTON, RoundShares
from tacit.solvers.newton_schedule import (
    joined,
    newton_shares,
    number_of_rounds,
    score_threshold,
    squares_share,
    step_sizes,
)
from tacit.solvers.noise_propagation import carry_noise
from tacit.solvers.noisy_steps import first_averaged, take_steps
from tacit.solvers.nuisance import Level, dispersed_level, rescale, threshold_of
from tacit.solvers.sandwich import ask_sandwich, coefficient_errors
from tacit.solvers.signal import signal_of
from tacit.solvers.solver import (
    PublicFacts,
    Requirement,
    SolverOptions,
    assembled,
    loss_is,
    no_penalty,
    priced,
    require,
)
from tacit.solvers.spectrum import Spectrum, noise_norm
from tacit.solvers.standardised_start import Known, StandardisedStart, begin, clip_factor_of, counted_clip, first_steps

SMALLEST = 1e-12
"""Floor of a whitened curvature over its bound, where there is no noise to go by."""
NAMES = {"each": "newton", "once": "majorised-newton", "no": "whitened-gradient"}
REQUIRES = (
    Requirement(
        loss_is(Code.LOGISTIC, Code.SQUARED, Code.HUBER, Code.POISSON),
        "solver={solver} has no rounds for the {loss} loss; they are for two classes, least "
        "squares, Huber's loss and counts.",
    ),
    Requirement(no_penalty, "solver={solver} is for fits without l2, prior_mean, radius."),
)


@dataclass(frozen=True)
class Newton:
    """Rounds on downweighted rows: one step size η a round.

    `curvature` says when it is released: in "each" round, "once", or at "no" time. With `scaled`
    every round also asks for the residuals' squares, and their scale moves along; `dispersed` is
    the number of rounds after which the dispersion of counts is asked for. From round `pooled_from`
    on curvatures are averaged with those before. `averaged` is the share of the iterates behind
    output "tail". `threshold` is that of the bounded score of numbers, in deviations of the
    residuals, where it is not the usual one.
    """

    start: StandardisedStart
    step_sizes: tuple[float, ...]
    curvature: str
    output: str
    averaged: float
    scaled: bool = False
    dispersed: int | None = None
    pooled_from: int = 0
    threshold: float | None = None
    intervals: bool = False

    @property
    def name(self) -> str:
        """Name of the form."""
        return NAMES[self.curvature]

    maps_rows: ClassVar[bool] = True

    @property
    def first_averaged(self) -> int:
        """Index of the first iterate that enters the output."""
        return first_averaged(len(self.step_sizes), self.output, self.averaged)

    def run(self, gate: Gate, plan: Plan) -> Solution:
        """Begin as the one-step solver does, take the rounds, and ask for the matrices if paid for.

        Guarantee
        ---------
        - Answers of the gate are all that is seen; their number and order are public.
        - A step is never longer than three spreads of the response, whatever the noise.
        """
        known = begin(gate, plan, self.start, counted_clip(plan, self.start.clip_factor))
        rounds = _Rounds(gate, plan, self, known)
        theta = take_steps(known.start, len(self.step_sizes), rounds.step, first=self.first_averaged)
        sandwich = rounds.sandwich(theta) if self.intervals else None
        return Solution(known.coordinates.prepared(theta), sandwich, None, tuple(rounds.decrements))


@dataclass
class _Rounds:
    """The state of a run: level and scale of the response, P, and what noise propagation needs."""

    gate: Gate
    plan: Plan
    settings: Newton
    known: Known
    decrements: list[float] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    steps: list[Matrix] = field(default_factory=list)
    noises: list[float] = field(default_factory=list)
    cut: list[bool] = field(default_factory=list)
    pooled: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Ask for the bound on the curvature, if it is asked for once."""
        plan, settings = self.plan, self.settings
        self.level = self.known.level
        if plan.loss.code is Code.HUBER and not settings.scaled:
            # A threshold that was declared in units of y is not found again.
            self.level = replace(self.level, loss=regression.smooth_huber(float(plan.loss.shape[0])))
        self.threshold = settings.threshold or threshold_of(plan)
        # Of a score whose threshold was lowered the curvature is far below its bound.
        self.expected = expected_curvature(self.threshold) if settings.threshold else self.level.curvature
        self.scale, self.prior = self.known.spread, NEWTON.scale_prior
        self.inverse = np.eye(len(self.known.start)) / self.level.curvature
        if settings.curvature == "once":
            self.inverse = self._majorised()

    def step(self, number: int, theta: Vector) -> Vector:
        """Take one round."""
        settings, plan = self.settings, self.plan
        size = settings.step_sizes[number]
        if settings.dispersed == number:
            self.level = self._dispersed(theta)
        if settings.scaled:
            self.level = self._scaled(self.scale)
        loss, matrix = self.level.loss, self.known.coordinates.matrix
        query = GradientSum(theta, self.known.clip * loss.lipschitz, matrix, True, loss)
        answer = self.gate.ask(query)
        gradient = answer.value / plan.count
        if settings.curvature == "each":
            self.inverse = self._newton(number, theta)
        ahead, cut = self._limited_step(theta, size * (self.inverse @ gradient))
        if settings.scaled:
            damping, coordinates = min(size, 1.0), self.known.coordinates
            self.scale, self.prior = rescale(self.gate, plan, coordinates, theta, self.scale, damping, self.prior)
        squared = float(gradient @ self.inverse @ gradient)
        self.decrements.append(math.sqrt(max(0.0, squared)))
        self.steps.append(size * self.inverse)
        self.noises.append(answer.noise_scale / plan.count)
        self.cut.append(cut)
        self.scales.append(self.scale)
        return ahead

    def _scaled(self, scale: float) -> Level:
        return replace(self.level, loss=regression.smooth_huber(self.threshold * scale))

    def _dispersed(self, theta: Vector) -> Level:
        """Ask for the dispersion of counts; noise in θ has added its variance times the mean."""
        last = self.steps[-1] if self.steps else np.zeros((len(theta), len(theta)))
        noise = self.noises[-1] if self.noises else 0.0
        added = self.level.share * noise**2 * float(np.sum(last**2))
        coordinates = self.known.coordinates
        return dispersed_level(self.gate, self.plan, coordinates, theta, self.level, added)

    def _newton(self, number: int, theta: Vector) -> Matrix:
        """Inverse of the mean of the curvatures at θ and, late, at the iterates before."""
        loss, known = self.level.loss, self.known
        query = SecondMoments(known.clip, known.coordinates.matrix, theta, Weights.CURVATURE, loss)
        if number <= self.settings.pooled_from:
            self.pooled.clear()
        self.pooled.append(self.gate.ask(query))
        value = np.mean([answer.value for answer in self.pooled], axis=0)
        noise = self.pooled[0].noise_scale / math.sqrt(len(self.pooled))
        answer = toward_expected(Answer(np.asarray(value), noise), self.expected / loss.smoothness * self.plan.count)
        return raised_inverse(self.plan, answer, loss.smoothness, NEWTON.floor)

    def _majorised(self) -> Matrix:
        """Inverse of a bound on the curvature, from second moments that no θ enters.

        Curvatures are at most the loss's smoothness (¼ for two classes: Böhning and Lindsay), or
        about twice their value at the level of the response where that is less.
        """
        answer = self.gate.ask(SecondMoments(self.known.clip, self.known.coordinates.matrix))
        width = len(answer.value)
        ridge = NEWTON.ridge * noise_norm(answer.noise_scale, width)
        ridged = replace(answer, value=answer.value + ridge * np.eye(width))
        return raised_inverse(self.plan, ridged, self.level.curvature, NEWTON.ridge)

    def _limited_step(self, theta: Vector, step: Vector) -> tuple[Vector, bool]:
        """Return the next iterate and whether the step was cut."""
        length, longest = float(np.linalg.norm(step)), NEWTON.step * self.known.spread
        if length > longest:
            return theta - step * (longest / length), True
        return theta - step, False

    def sandwich(self, theta: Vector) -> Sandwich:
        """Ask for curvature and score at the result; add up the noise of all rounds."""
        plan, known, first = self.plan, self.known, self.settings.first_averaged
        if self.settings.scaled:
            self.level = self._scaled(math.exp(float(np.mean(np.log(self.scales[first:])))))
        level = self.level
        asked = ask_sandwich(self.gate, plan, known.coordinates, theta, known.clip, level.loss)
        averaged = len(self.steps) - first
        weights = [0.0] * first + [1.0 / averaged] * averaged
        # Steps went by the number of records that was counted, the matrices go by the declared one.
        curvature = asked.curvature * (plan.records / plan.count)
        ahead, left = carry_noise(curvature, self.steps, self.noises, weights)
        # What is left of the way from the start, as far as released values tell.
        missing = left @ (known.start - theta)
        return replace(
            asked,
            capped=any(self.cut[first:]),
            step_noise=self.noises[-1] * plan.count / plan.records,
            level=level.share,
            dispersion=level.dispersion,
            nuisance_error=coefficient_errors(plan, known.coordinates, asked, level.shift_error, known.mean_row),
            rare=known.rare,
            privacy=ahead + np.outer(missing, missing),
        )


def toward_expected(answer: Answer, expected: float) -> Answer:
    """Pull curvatures to the one that whitened rows and the response's level lead one to expect.

    By λ = s²/(s² + (τ h)²): s the noise norm, h the expected curvature and τ h how far curvatures
    lie from it. Where all is noise a Newton step becomes one of descent.
    """
    width = len(answer.value)
    norm = noise_norm(answer.noise_scale, width)
    pull = norm**2 / (norm**2 + (NEWTON.varying * expected) ** 2)
    value = (1 - pull) * answer.value + pull * expected * np.eye(width)
    return Answer(value, (1 - pull) * answer.noise_scale)


def raised_inverse(plan: Plan, moments: Answer, unit: float, norms: float) -> Matrix:
    """Inverse of unit times the mean, no eigenvalue of which is below so many noise norms."""
    spectrum = Spectrum.of(moments.value)
    floor = noise_norm(1.0, len(spectrum.values), norms) * moments.noise_scale
    values = np.maximum(spectrum.values, max(floor, SMALLEST * plan.count))
    return spectrum.with_values(plan.count / (unit * values))


def shares_of(loss: Loss) -> RoundShares:
    """Parts of μ² of a loss."""
    if loss.code is Code.LOGISTIC:
        return NEWTON.logistic
    return NEWTON.counts if loss.code is Code.POISSON else NEWTON.numbers


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the rounds of a solver, with intervals or without.

    Guarantee
    ---------
    - Prices are those of a public rule; all of them together cost at most `allowed`.
    """
    require(REQUIRES, facts, options)
    curvature = {"newton": "each", "majorised-newton": "once"}.get(options.solver, "no")
    longest = NEWTON.longest[curvature == "no"]
    if (options.step_size or 0.0) > longest:
        raise SettingError(
            f"step_size must be at most {longest:g} for these steps, which are in units of the "
            "inverse curvature: longer ones run away."
        )
    code, shares = facts.loss.code, shares_of(facts.loss)
    signal = signal_of(facts, allowed)
    clear = signal >= NEWTON.enough
    steps, start = first_steps(facts, allowed, shares, clip_factor_of(signal))
    scaled = code is Code.SQUARED or (code is Code.HUBER and facts.loss.relative)
    counts = code is Code.POISSON
    others = sum(step.times for step in steps) + facts.counts
    others += options.inference + (curvature == "once") + counts
    each = 1 + (curvature == "each") + scaled
    count = number_of_rounds(facts, options, signal, curvature, others=others, each=each)
    last = curvature == "each" and clear
    settings = Newton(
        start,
        step_sizes(options, count, signal, curvature),
        curvature,
        options.output or ("last" if last else "tail"),
        NEWTON.averaged,
        scaled,
        count // NEWTON.dispersed if counts else None,
        count // NEWTON.pooled,
        intervals=options.inference,
    )
    hundredths = shares.rounds
    hundredths += 0 if counts else shares.residuals
    hundredths += 0 if options.inference else shares.sandwich

    def cost(part: int) -> Fraction:
        return allowed * Fraction(part, 100)

    if curvature == "once":
        hundredths -= NEWTON.majorised_share
        once = cost(NEWTON.majorised_share)
        steps.append(priced(facts, QueryKind.SECOND_MOMENTS, once, 1, Purpose.CURVATURE_BOUND))
    curvatures = Fraction(0)
    if curvature == "each":
        curvatures = cost(hundredths) * (NEWTON.curvature_share if clear else NEWTON.small_share)
    gradients = cost(hundredths) - curvatures
    if curvature == "each" and code is Code.SQUARED and not clear:
        threshold = score_threshold(facts, start.clip_factor, gradients)
        settings = replace(settings, threshold=threshold)
    steps += _round_steps(facts, settings, gradients, curvatures, cost(shares.residuals))
    if options.inference:
        pair = cost(shares.sandwich)
        steps.append(priced(facts, QueryKind.SANDWICH, pair, 1, Purpose.CURVATURE_AND_SCORE))
    return assembled(facts, settings, steps)


def _round_steps(
    facts: PublicFacts, settings: Newton, gradients: Fraction, curvatures: Fraction, dispersion: Fraction
) -> list[Step]:
    """Steps of all rounds; gradients and squares of one round are priced as one joint answer."""
    count = len(settings.step_sizes)
    shares = [Fraction(1, count)] * count
    if settings.curvature == "each":
        shares = newton_shares(settings.step_sizes, settings.first_averaged)
    squares = squares_share(facts, settings.start.clip_factor) if settings.scaled else Fraction(0)
    steps: list[Step] = []
    for number, share in enumerate(shares):
        if settings.dispersed == number:
            steps.append(priced(facts, QueryKind.COUNTS, dispersion, 1, Purpose.RESIDUALS))
        joint = gradients * share
        steps.append(priced(facts, QueryKind.GRADIENT, joint * (1 - squares), 1, Purpose.GRADIENT))
        if settings.curvature == "each":
            part = curvatures / count
            steps.append(priced(facts, QueryKind.SECOND_MOMENTS, part, 1, Purpose.CURVATURE))
        if settings.scaled:
            spent = joint * squares
            steps.append(priced(facts, QueryKind.COUNTS, spent, 1, Purpose.SQUARED_RESIDUALS))
    return joined(steps)
