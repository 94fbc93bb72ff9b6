"""Noisy Newton, its majorised form, and descent with weighed rows: rounds of one kind of step.

    θ ← θ - η P (g(θ) + noise),   ‖step‖ ≤ 3 spreads of the response

P is the inverse of the curvature that the round released (Newton), of a bound on it that was
released once (majorised), or a number (descent). Eigenvalues below the noise's own edge are lifted
to it before P is made, so that noise can shorten a step and never turn or stretch it. Rounds and
step sizes are public: nothing here stops on what it sees. Undamped and without lift and cap, noisy
Newton runs away (`benchmarks/newton.py`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan, Rounds
from tacit.contract.query import Answer, GradientSum, SecondMoments, Weights
from tacit.contract.release import Sandwich
from tacit.losses import smooth_huber
from tacit.losses.huber_efficiency import expected_curvature
from tacit.losses.loss import Code
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.joint_scale import FIRST_DOUBT, rescale
from tacit.solvers.levels import Level, dispersed_level, threshold_of
from tacit.solvers.onestep import LONGEST_STEP, Beginning, begin
from tacit.solvers.pilot import followed_clip
from tacit.solvers.recursion import carry_noise
from tacit.solvers.sandwich import ask_sandwich, wobble_of

EDGES = 1.5
"""A released curvature is lifted to so many of its noise's spectral edges, √(2d) s."""
RIDGE_EDGES = 1.0
"""Ridge on the curvature that is released once, in noise edges."""
VARYING = 0.5
"""How far curvatures lie from the expected one, as a share of it."""
SMALLEST = 1e-12
"""Floor of a whitened curvature over its bound, where there is no noise to go by."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Walked:
    """Where the rounds ended; what intervals need, if they are paid for; a decrement a round."""

    coordinates: Coordinates
    theta: Vector
    sandwich: Sandwich | None
    decrements: tuple[float, ...]


@dataclass
class _Trace:
    """What the recursion of the noise goes by, and the iterates behind the result."""

    thetas: list[Vector] = field(default_factory=list)
    scales: list[float] = field(default_factory=list)
    steps: list[Matrix] = field(default_factory=list)
    noises: list[float] = field(default_factory=list)
    decrements: list[float] = field(default_factory=list)
    cut: list[bool] = field(default_factory=list)


def run_rounds(gate: Gate, plan: Plan, rounds: Rounds) -> Walked:
    """Begin as the one-step route does, take the rounds, and ask for the matrices if paid for.

    Guarantee
    ---------
    - Answers of the gate are all that is seen; how many are asked for and in which order is public.
    - A step is never longer than three spreads of the response, whatever the noise.
    """
    known = begin(gate, plan, followed_clip(plan, rounds.clip_factor))
    level = _own_level(plan, known, rounds)
    trace, pooled = _Trace(), list[Answer]()
    threshold = rounds.threshold or threshold_of(plan)
    # Of a score whose threshold was lowered the curvature is far below its bound.
    expected = expected_curvature(threshold) if rounds.threshold else level.curvature
    theta, scale, doubt = known.start, known.spread, FIRST_DOUBT
    inverse = np.eye(len(theta)) / level.curvature
    if rounds.curvature == "once":
        inverse = _majorised(gate, plan, known, level)
    for number, size in enumerate(rounds.step_sizes):
        if rounds.dispersed == number:
            level = _dispersed(gate, plan, known, theta, level, trace)
        if rounds.scaled:
            level = replace(level, loss=smooth_huber.loss(threshold * scale))
        gradient, noise = _gradient(gate, plan, known, theta, level)
        if rounds.curvature == "each":
            pooled = pooled if number > rounds.pooled_from else []
            pooled.append(_curvature(gate, known, theta, level))
            answer = _toward_level(plan, _mean_answer(pooled), level, expected)
            inverse = _lifted_inverse(plan, answer, level.loss.smoothness, EDGES)
        ahead, cut = _step(known, theta, inverse, gradient, size)
        if rounds.scaled:
            damping = min(size, 1.0)
            coordinates, c = known.coordinates, threshold_of(plan)
            scale, doubt = rescale(gate, plan, coordinates, theta, scale, c, damping, doubt)
        trace.decrements.append(math.sqrt(max(0.0, float(gradient @ inverse @ gradient))))
        trace.steps.append(size * inverse)
        trace.noises.append(noise)
        trace.cut.append(cut)
        theta = ahead
        trace.thetas.append(theta)
        trace.scales.append(scale)
    first = rounds.first_averaged
    theta = np.asarray(np.mean(trace.thetas[first:], axis=0))
    if rounds.scaled:
        scale = math.exp(float(np.mean(np.log(trace.scales[first:]))))
        level = replace(level, loss=smooth_huber.loss(threshold * scale))
    sandwich = None
    if plan.inference is not None:
        sandwich = _sandwich(gate, plan, known, theta, level, trace, first)
    return Walked(known.coordinates, theta, sandwich, tuple(trace.decrements))


def _own_level(plan: Plan, known: Beginning, rounds: Rounds) -> Level:
    """The level to begin with; a threshold that was declared in units of y is not found again."""
    if plan.loss.code is Code.HUBER and not rounds.scaled:
        return replace(known.level, loss=smooth_huber.loss(float(plan.loss.shape[0])))
    return known.level


def _dispersed(
    gate: Gate, plan: Plan, known: Beginning, theta: Vector, level: Level, trace: _Trace
) -> Level:
    """Ask for the dispersion of counts; noise in θ has added its variance times the mean."""
    last = trace.steps[-1] if trace.steps else np.zeros((len(theta), len(theta)))
    noise = trace.noises[-1] if trace.noises else 0.0
    added = level.share * noise**2 * float(np.sum(last**2))
    return dispersed_level(gate, plan, known.coordinates, theta, level, added)


def _gradient(
    gate: Gate, plan: Plan, known: Beginning, theta: Vector, level: Level
) -> tuple[Vector, float]:
    """Mean gradient, and the deviation of the noise on it."""
    loss, matrix = level.loss, known.coordinates.matrix
    answer = gate.ask(GradientSum(theta, known.clip * loss.lipschitz, matrix, True, loss))
    return answer.value / plan.count, answer.noise_scale / plan.count


def _curvature(gate: Gate, known: Beginning, theta: Vector, level: Level) -> Answer:
    """Sum of curvatures at θ, over their bound."""
    matrix = known.coordinates.matrix
    return gate.ask(SecondMoments(known.clip, matrix, theta, Weights.CURVATURE, level.loss))


def _mean_answer(answers: list[Answer]) -> Answer:
    """Mean of answers of equal noise, and the noise on it."""
    value = np.mean([answer.value for answer in answers], axis=0)
    return Answer(np.asarray(value), answers[0].noise_scale / math.sqrt(len(answers)))


def _toward_level(plan: Plan, answer: Answer, level: Level, mean: float) -> Answer:
    """Curvatures pulled to what whitened rows and the response's level lead one to expect.

    By λ = s²/(s² + (τ h)²): s the noise's spectral edge, h the expected curvature and τ h how far
    curvatures lie from it. Where all is noise a Newton step becomes one of descent.
    """
    expected = mean / level.loss.smoothness * plan.count
    edge = math.sqrt(2 * len(answer.value)) * answer.noise_scale
    pull = edge**2 / (edge**2 + (VARYING * expected) ** 2)
    value = (1 - pull) * answer.value + pull * expected * np.eye(len(answer.value))
    return Answer(value, (1 - pull) * answer.noise_scale)


def _majorised(gate: Gate, plan: Plan, known: Beginning, level: Level) -> Matrix:
    """Inverse of a bound on the curvature, from second moments that no θ enters.

    Curvatures are at most the loss's smoothness (¼ for two classes: Böhning and Lindsay), or about
    twice their value at the level of the response where that is less.
    """
    answer = gate.ask(SecondMoments(known.clip, known.coordinates.matrix))
    edge = math.sqrt(2 * len(answer.value)) * answer.noise_scale
    ridged = replace(answer, value=answer.value + RIDGE_EDGES * edge * np.eye(len(answer.value)))
    return _lifted_inverse(plan, ridged, level.curvature, RIDGE_EDGES)


def _lifted_inverse(plan: Plan, moments: Answer, unit: float, edges: float) -> Matrix:
    """Inverse of unit times the mean, no eigenvalue of which is below so many noise edges."""
    values, vectors = np.linalg.eigh(moments.value)
    floor = edges * math.sqrt(2 * len(values)) * moments.noise_scale
    values = np.maximum(values, max(floor, SMALLEST * plan.count))
    return np.asarray((vectors * (plan.count / (unit * values))) @ vectors.T)


def _step(
    known: Beginning, theta: Vector, inverse: Matrix, gradient: Vector, size: float
) -> tuple[Vector, bool]:
    """Return the next iterate and whether the step was cut."""
    step = size * (inverse @ gradient)
    length, longest = float(np.linalg.norm(step)), LONGEST_STEP * known.spread
    if length > longest:
        return theta - step * (longest / length), True
    return theta - step, False


def _sandwich(
    gate: Gate,
    plan: Plan,
    known: Beginning,
    theta: Vector,
    level: Level,
    trace: _Trace,
    first: int,
) -> Sandwich:
    """Ask for curvature and score at the result; add up the noise of all rounds."""
    asked = ask_sandwich(gate, plan, known.coordinates, theta, known.clip, level.loss)
    averaged = len(trace.steps) - first
    weights = [0.0] * first + [1.0 / averaged] * averaged
    # Steps went by the number of records that was counted, the matrices go by the declared one.
    curvature = asked.curvature * (plan.records / plan.count)
    ahead, left = carry_noise(curvature, trace.steps, trace.noises, weights)
    # What is left of the way from the start, as far as released values tell.
    missing = left @ (known.start - theta)
    return replace(
        asked,
        capped=any(trace.cut[first:]),
        step_noise=trace.noises[-1] * plan.count / plan.records,
        level=level.share,
        dispersion=level.dispersion,
        wobble=wobble_of(plan, known.coordinates, asked, level.wobble, known.mean_row),
        rare=known.rare,
        privacy=ahead + np.outer(missing, missing),
    )
