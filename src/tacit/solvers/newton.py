"""Rounds of noisy Newton steps, or of majorised Newton steps.

    θ ← θ - η P (g(θ) + noise),   ‖step‖ ≤ 3 spreads of the response

P is the inverse of the curvature that the round released (Newton), or of a bound on it that was
released once (majorised). Eigenvalues below 1.5 noise norms are raised to that before P is made, so
that noise can shorten a step and never turn or stretch it. Undamped and without floor and cap,
noisy Newton runs away (docs/newton.md has the measurements).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tacit.contract.plan import Plan, Solution, Step
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, Gate, GradientSum, QueryKind, SecondMoments, Weights
from tacit.errors import SettingError
from tacit.losses import regression
from tacit.losses.constants import best_threshold, expected_curvature
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Matrix, Vector
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.noisy_steps import first_averaged, take_steps
from tacit.solvers.nuisance import dispersed_level, rescale, threshold_of
from tacit.solvers.requirements import NO_INTERVALS, Requirement, loss_is, no_penalty, require
from tacit.solvers.rules import TABLES, between
from tacit.solvers.solver import PublicFacts, SolverOptions, assembled, priced, require_passes
from tacit.solvers.spectrum import Spectrum, noise_norm
from tacit.solvers.standardised_start import Known, StandardisedStart, begin, clip_factor_of, counted_clip, first_steps

SMALLEST = 1e-12
"""Floor of a whitened curvature over its bound, where there is no noise to go by."""
FINEST = 10**8
"""Shares of rounds are rounded down to multiples of 1 over this."""
NAMES = {"each": "newton", "once": "majorised-newton"}
REQUIRES = (
    NO_INTERVALS,
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

    `curvature` says when it is released: in "each" round, or "once". With `scaled` every round
    also asks for the residuals' squares, and their scale moves along; `dispersed` is
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
    """Never; the field stays for the digests of requests."""

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
        """Standardise and whiten, then take the rounds.

        Guarantee
        ---------
        - Answers of the gate are all that is seen; their number and order are public.
        - A step is never longer than three spreads of the response, whatever the noise.
        """
        known = begin(gate, plan, self.start, counted_clip(plan, self.start.clip_factor))
        rounds = _Rounds(gate, plan, self, known)
        theta = take_steps(known.start, len(self.step_sizes), rounds.step, first=self.first_averaged)
        return Solution(known.coordinates.prepared(theta), decrements=tuple(rounds.decrements))


@dataclass
class _Rounds:
    """The state of a run: level and scale of the response, P, and the last step's noise and how it stretched it."""

    gate: Gate
    plan: Plan
    settings: Newton
    known: Known
    decrements: list[float] = field(default_factory=list)
    pooled: list[Answer] = field(default_factory=list)
    noise: float = 0.0
    stretch: float = 0.0

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
            # The noise in θ has added its variance times the mean to the squares.
            added = self.level.share * self.noise**2 * self.stretch
            self.level = dispersed_level(self.gate, plan, self.known.coordinates, theta, self.level, added)
        if settings.scaled:
            self.level = replace(self.level, loss=regression.smooth_huber(self.threshold * self.scale))
        loss, matrix = self.level.loss, self.known.coordinates.matrix
        query = GradientSum(theta, self.known.clip * loss.lipschitz, matrix, True, loss)
        answer = self.gate.ask(query)
        gradient = answer.value / plan.count
        if settings.curvature == "each":
            self.inverse = self._newton(number, theta)
        step = size * (self.inverse @ gradient)
        length, longest = float(np.linalg.norm(step)), NEWTON.step * self.known.spread
        if length > longest:
            step = step * (longest / length)
        if settings.scaled:
            damping, coordinates = min(size, 1.0), self.known.coordinates
            self.scale, self.prior = rescale(self.gate, plan, coordinates, theta, self.scale, damping, self.prior)
        squared = float(gradient @ self.inverse @ gradient)
        self.decrements.append(math.sqrt(max(0.0, squared)))
        self.noise, self.stretch = answer.noise_scale / plan.count, float(np.sum((size * self.inverse) ** 2))
        return theta - step

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


def plan(facts: PublicFacts, options: SolverOptions, allowed: Fraction) -> Plan:
    """Price the rounds of a solver.

    Guarantee
    ---------
    - Prices are those of a public rule; all of them together cost at most `allowed`.
    """
    require(REQUIRES, facts, options)
    curvature = "each" if options.solver == "newton" else "once"
    if (options.step_size or 0.0) > NEWTON.longest:
        raise SettingError(
            f"step_size must be at most {NEWTON.longest:g} for these steps, which are in units of the "
            "inverse curvature: longer ones run away."
        )
    code, signal = facts.loss.code, facts.signal(allowed)
    shares = {Code.LOGISTIC: NEWTON.logistic, Code.POISSON: NEWTON.counts}.get(code, NEWTON.numbers)
    clear = signal >= NEWTON.enough
    steps, start = first_steps(facts, allowed, shares, clip_factor_of(signal))
    scaled = code is Code.SQUARED or (code is Code.HUBER and facts.loss.relative)
    counts = code is Code.POISSON
    others = sum(step.times for step in steps) + facts.counts + (curvature == "once") + counts
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
    )
    hundredths = shares.rounds

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
    steps += _round_steps(facts, settings, gradients, curvatures, cost(NEWTON.dispersion))
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


def number_of_rounds(
    facts: PublicFacts, options: SolverOptions, signal: float, curvature: str, *, others: int, each: int
) -> int:
    """Number of rounds, each of which takes `each` passes beside those of the other steps."""
    require_passes(options, others, each)
    if options.iterations is not None:
        return options.iterations
    constant, slope, least, most = NEWTON.newton if curvature == "each" else NEWTON.majorised
    growth = math.log10(max(signal, 1.0))
    wanted = between(math.ceil(constant + slope * growth), least, most)
    if curvature == "each" and signal < NEWTON.enough:
        wanted = NEWTON.rounds
    if options.max_passes is not None or facts.is_large:
        passes = (options.max_passes or TABLES.answers_of_newton) - others
        wanted = max(1, min(wanted, passes // each))
    return int(wanted)


def step_sizes(options: SolverOptions, count: int, signal: float, curvature: str) -> tuple[float, ...]:
    """One size for all rounds if it was asked for; else Newton is damped until the last rounds."""
    if options.step_size is not None:
        return (options.step_size,) * count
    if curvature == "each":
        full = min(count, (signal >= NEWTON.enough) + (signal >= NEWTON.much))
        return (NEWTON.damping,) * (count - full) + (1.0,) * full
    return (1.0,) * count


def newton_shares(sizes: Sequence[float], first: int) -> list[Fraction]:
    """Parts of the gradients' price, a round each; they add up to no more than one.

    Some of it evenly, the rest in proportion to what a round's noise does to the result of Newton's
    recursion e ← (1 - η)e - ην: prices in that proportion alone would make the variance least.
    """
    count = len(sizes)
    ahead, effects = 0.0, list[float]()
    for number in range(count - 1, -1, -1):
        size = sizes[number]
        ahead += 1 / (count - first) if number >= first else 0.0
        effects.append(ahead * size)
        ahead *= 1 - size
    total = sum(effects)
    shares = [Fraction(math.floor(effect / total * FINEST), FINEST) for effect in reversed(effects)]
    even = NEWTON.even * Fraction(1, count)
    return [even + (1 - NEWTON.even) * share for share in shares]


def score_threshold(facts: PublicFacts, clip_factor: float, gradients: Fraction) -> float:
    """Threshold of the score that leaves least variance at a μ² for all gradients."""
    clip = facts.sensitivity * clip_factor
    noise = clip**2 * facts.design.width / (facts.records * float(gradients))
    return best_threshold(noise, regression.EFFICIENT)


def squares_share(facts: PublicFacts, clip_factor: float) -> Fraction:
    """Part of a round's price that makes squares as noisy as a coordinate of the gradient.

    With a threshold c and rows within C the squared sensitivities of the joint score are (2cC)², or
    (cC)² where records vanish, and (c²/2)²: prices in proportion to them leave equal noise
    (proofs/mechanisms/counts.md).
    """
    threshold = float(facts.loss.shape[0]) if facts.loss.relative else regression.EFFICIENT
    rows = facts.sensitivity * clip_factor * math.sqrt(facts.design.width)
    ratio = (threshold / (2 * rows)) ** 2
    return Fraction(between(ratio / (1 + ratio), *NEWTON.squares))


def joined(steps: Sequence[Step]) -> list[Step]:
    """Neighbours of one price as one step."""
    found: list[Step] = []
    for step in steps:
        if found and replace(found[-1], times=step.times) == step:
            found[-1] = replace(step, times=found[-1].times + step.times)
        else:
            found.append(step)
    return found
