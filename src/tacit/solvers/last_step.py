"""The last step of a fit with intervals: one gradient, its clip, curvature and score.

Directions of the curvature that its noise may explain, or in which the step would be noisier than
a pilot is, are hidden: there the step is damped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tacit.contract.plan import Plan
from tacit.contract.purpose import Purpose
from tacit.contract.query import Answer, CurvatureAndScore, Gate, GradientSum
from tacit.contract.release import Sandwich
from tacit.design.design import Design
from tacit.losses import classification, links, regression
from tacit.losses.loss import LOG_LINKED, TWO_LABELS, Code, Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector, response_ends
from tacit.solvers.gradient_tail import Clip, bias_at, choose_clip
from tacit.solvers.interval_rules import LEVEL, ONE_STEP, TAIL
from tacit.solvers.nuisance import residual_threshold
from tacit.solvers.plenty_rules import PLENTY, grown, plenty_at
from tacit.solvers.predictors import Predictors
from tacit.solvers.pseudo_rows import Rows, part_way, weight_ratio
from tacit.solvers.row_norms import RowNorms, ask_norms, measures_rows, numbers_of, shift_bound
from tacit.solvers.rules import RESPONSE, Growth, between
from tacit.solvers.spectrum import Spectrum, noise_norm

LABELS = TWO_LABELS | {Code.SOFTMAX}
STRAIGHT = {Code.SQUARED, Code.SMOOTH_HUBER}
"""Losses whose curvature is about the same at every point."""
OTHER_LINKS = frozenset({Code.PROBIT, Code.CLOGLOG})
UNBOUNDED = OTHER_LINKS | {
    Code.SQUARED,
    Code.WEIGHTED_POISSON,
    Code.WEIGHTED_LOGISTIC,
    Code.GAMMA,
    Code.NEGATIVE_BINOMIAL,
}


@dataclass(frozen=True)
class Pilot:
    """Where the step starts: working coefficients, the start of the pilot and the response's law.

    `spread` is the response scale in units of the predictor, `share` the smallest share of a
    label or the mean count, `asymmetry` how skewed the score is, `size` the residuals' mean size. `curvature` is
    the expected one at the level, where it is not s(1 - s) of a share or the mean of Poisson counts.
    """

    theta: Vector
    start: Vector
    loss: Loss
    spread: float = 1.0
    share: float = 1.0
    asymmetry: float = 0.0
    size: float = 1.0
    flat: bool = False
    curvature: float | None = None

    @property
    def own_curvature(self) -> float:
        """The expected curvature at the level: s(1 - s) of a label's share s unless it is stated."""
        return self.share * (1 - self.share) if self.curvature is None else self.curvature


def label_clip(signal: float, share: float) -> float:
    """Norm over √d_eff beyond which rows weigh less; labels of a rare class tell less."""
    return math.sqrt(ONE_STEP.clip.at(signal * 4 * share * (1 - share)))


def row_clip(plan: Plan, pilot: Pilot, usual: float) -> float:
    """The same of any loss; `usual` without labels."""
    if plan.loss.code in OTHER_LINKS:
        logits = pilot.own_curvature / links.unit(plan.loss.code) ** 2
        return math.sqrt(ONE_STEP.clip.at(plan.signal * 4 * logits))
    return label_clip(plan.signal, pilot.share) if plan.loss.code in LABELS else usual


def shortens(loss: Loss, design: Design) -> bool:
    """Whether rows keep as much weight as the bounds on gradient and curvature allow: two labels, and rows as units."""
    return loss.code is Code.LOGISTIC and measures_rows(loss, design)


def rare_factor(growth: Growth, signal: float, level: float) -> float:
    """A factor for rare labels by their level 4 s(1 - s), which comes in with the signal."""
    return grown(growth.at(level), min(1.0, signal * level / ONE_STEP.rare_signal))


def curved_rows(plan: Plan, coordinates: Coordinates, usual: float, own: float, top: float) -> float:
    """Curvature that a row may have, over that of a row of the usual norm at the top: what the noise of M allows."""
    width = coordinates.dimension
    seen = plan.signal * own / (math.sqrt(width) * top * usual**2 / width)
    most = ONE_STEP.curved_rows.at(plan.signal * 4 * own) * rare_factor(ONE_STEP.rare_curved, plan.signal, 4 * own)
    return max(1.0, min(most, seen / ONE_STEP.seen_curvature))


def bound_of_rows(plan: Plan, pilot: Pilot, norms: RowNorms | None, usual: float) -> float:
    """Where few rows are long a smaller bound has less noise; where many are, a larger one keeps their target."""
    if norms is None:
        return usual
    found = usual
    if shortens(plan.loss, plan.design):
        level = 4 * pilot.own_curvature
        rare = rare_factor(ONE_STEP.rare_rows, plan.signal, level) * usual
        found = between(norms.quantile, ONE_STEP.row_least * rare, ONE_STEP.row_most.at(plan.signal * level) * rare)
    plenty = plenty_at(plan)
    if plenty == 0.0:
        return found
    # Where few rows are long, the quantile says nothing of them: it is no reason to bound them earlier.
    return found * grown(max(1.0, ample_bound(plan, pilot, norms, usual) / found), plenty)


def ample_bound(plan: Plan, pilot: Pilot, norms: RowNorms, usual: float) -> float:
    """The bound on rows with plenty of budget: a little beyond the quantile of their norms, where noise is least."""
    if shortens(plan.loss, plan.design):
        return PLENTY.label_rows.at(plan.signal * 4 * pilot.own_curvature) * norms.quantile
    if plan.loss.code in LOG_LINKED:
        return min(usual, PLENTY.rows * norms.quantile)
    return PLENTY.squared_rows * norms.quantile


def ask_gradient(
    gate: Gate, predictors: Predictors, theta: Vector, matrix: Matrix | None, loss: Loss, clip: Clip
) -> Answer:
    """Ask for the gradient of a step."""
    at, weighed = predictors.shaped(theta), clip.loosened(loss)
    return predictors.gradient(gate.ask(GradientSum(at, clip.norm, matrix, True, weighed, shortened=clip.shortened)))


def take_step(
    gate: Gate, plan: Plan, coordinates: Coordinates, pilot: Pilot, clip_factor: float, mean_row: Vector | None
) -> tuple[Vector, Sandwich]:
    """Ask for the gradient at the pilot, then for the matrices, and step once."""
    matrix, dimension, predictors = coordinates.matrix, coordinates.dimension, Predictors.of(plan)
    begin = predictors.flat(pilot.theta)
    usual = row_clip(plan, pilot, clip_factor) * math.sqrt(dimension)
    norms = ask_norms(gate, plan, coordinates) if measures_rows(plan.loss, plan.design) else None
    row_bound = bound_of_rows(plan, pilot, norms, usual)
    loss, clip = bounded(gate, plan, coordinates, pilot, row_bound, usual)
    share = ONE_STEP.score_share if clip.bias or clip.shortened or loss.code in UNBOUNDED else None
    begin, known = step_nearer(gate, plan, matrix, begin, loss, clip, row_bound, share)
    gradient = ask_gradient(gate, predictors, begin, matrix, loss, clip)
    # By the declared number of records, as the matrices are; the step has no scale.
    mean, step_noise = gradient.value / plan.records, gradient.noise_scale / plan.records
    place = begin
    if loss.code not in STRAIGHT:
        rows = Rows(coordinates, row_bound, mean_row, clip.shortened)
        place = part_way(rows, predictors, begin, loss, Answer(mean, step_noise), known)
    pair = predictors.matrices(
        gate.ask(CurvatureAndScore(predictors.shaped(place), row_bound, matrix, loss, share, clip.shortened))
    )
    noise = pair.noise_scale / plan.records
    curvature = pair.value[0] * loss.smoothness / plan.records
    spectrum = Spectrum.of(curvature)
    least = ONE_STEP.visible * noise_norm(noise * loss.smoothness, len(mean))
    least = max(least, step_noise / tolerated_noise(plan, pilot))
    way = way_of(plan, pilot, spectrum, mean, least, step_noise, curved=loss.code not in STRAIGHT)
    seen, step, length = way.seen, way.step, way.length
    theta = begin - way.gone
    bias = bias_at(gate, plan, matrix, theta, row_bound, loss, clip)
    if norms is not None and mean_row is not None and not clip.shortened:
        bias += shift_bound(norms, row_bound, loss, coordinates, curvature, theta, mean_row, numbers_of(plan.design))
    own = step_noise**2 * float(np.sum(1 / spectrum.values[seen] ** 2))
    hidden = spectrum.vectors[:, ~seen].T @ (begin - predictors.flat(pilot.start))
    to_user = plan.design.to_user()
    scores = loss.lipschitz**2 / (share or 1.0)
    sandwich = Sandwich(
        curvature=curvature,
        score=pair.value[1] * scores / plan.records,
        to_user=predictors.to_user(to_user if matrix is None else to_user @ matrix),
        lifted=not bool(seen.all()),
        capped=way.capped,
        step_noise=step_noise,
        curvature_noise=noise * loss.smoothness,
        score_noise=noise * scores,
        level=pilot.share,
        level_noise=sum(it.noise_share(plan.count) for it in plan.steps if it.purpose is Purpose.LABEL_SHARE),
        step=step,
        visible=least,
        bias=bias,
        pilot_error=max(length**2 - own, ONE_STEP.least_error * length**2),
        hidden_size=math.sqrt(pilot.spread**2 + float(hidden @ hidden) / max(len(hidden), 1)),
        asymmetry=pilot.asymmetry,
        flat=pilot.flat,
        weight_ratio=weight_ratio(Rows(coordinates, row_bound, mean_row), place, loss),
    )
    return predictors.shaped(theta), sandwich


def step_nearer(
    gate: Gate,
    plan: Plan,
    matrix: Matrix | None,
    pilot: Vector,
    loss: Loss,
    clip: Clip,
    row_bound: float,
    score_share: float | None,
) -> tuple[Vector, Matrix | None]:
    """Return where Newton steps lead, and the last one's curvature, raised to what noise explains; the pilot without.

    The last step leaves an error that is the square of what it corrects: a pilot with clipped gradients may be far off.
    """
    known = None
    for _ in range(sum(it.purpose is Purpose.NEAR_STEP for it in plan.steps) // 2):
        pilot, known = newton_step(gate, plan, matrix, pilot, loss, clip, row_bound, score_share)
    return pilot, known


def newton_step(
    gate: Gate,
    plan: Plan,
    matrix: Matrix | None,
    pilot: Vector,
    loss: Loss,
    clip: Clip,
    row_bound: float,
    score_share: float | None,
) -> tuple[Vector, Matrix]:
    """Ask for a gradient and a curvature, and step; what noise explains of the step's square is not stepped."""
    predictors = Predictors.of(plan)
    shaped = predictors.shaped(pilot)
    gradient = ask_gradient(gate, predictors, pilot, matrix, loss, clip)
    asked = CurvatureAndScore(shaped, row_bound, matrix, loss, score_share, clip.shortened)
    pair = predictors.matrices(gate.ask(asked))
    spectrum = Spectrum.of(pair.value[0] * loss.smoothness / plan.records)
    noise = pair.noise_scale * loss.smoothness / plan.records
    values = np.maximum(spectrum.values, ONE_STEP.near_visible * noise_norm(noise, len(pilot)))
    step = spectrum.with_values(1 / values) @ gradient.value / plan.records
    square = max(float(step @ step), np.finfo(float).tiny)
    own = float(np.sum((gradient.noise_scale / plan.records / values) ** 2))
    longest = ONE_STEP.longest * grown(PLENTY.longest / ONE_STEP.longest, plenty_at(plan))
    step *= max(0.0, 1.0 - own / square) * min(1.0, longest / math.sqrt(square))
    return pilot - step, spectrum.with_values(values)


@dataclass(frozen=True)
class Way:
    """The last step along directions that are seen, its length before it was cut, and what is gone of all."""

    seen: NDArray[np.bool_]
    step: Vector
    length: float
    capped: bool
    gone: Vector


def way_of(
    plan: Plan, pilot: Pilot, spectrum: Spectrum, mean: Vector, least: float, noise: float, *, curved: bool
) -> Way:
    """Return where a mean gradient leads; a curvature below `least` is not seen.

    A step that is too long is cut. All intervals are withheld then; where curvatures change on the way, the pilot
    predicts better and is kept.
    """
    seen = spectrum.values >= least
    least = max(least, np.finfo(float).tiny)
    parts = (spectrum.vectors.T @ mean) / np.where(seen, spectrum.values, least)
    step = spectrum.vectors @ np.where(seen, parts, 0.0)
    hidden = np.where(seen, 0.0, parts) if plan.private else np.zeros(len(parts))
    length, longest = float(np.linalg.norm(step)), ONE_STEP.longest * max(1.0, pilot.spread)
    capped = plan.private and length > longest
    if capped:
        step *= longest / length
    if not curved or not plan.private:
        gone = step + spectrum.vectors @ hidden
    elif capped:
        gone = np.zeros(len(parts))
    else:
        gone = step + spectrum.vectors @ (hidden * calm(hidden, noise / least))
    return Way(seen, step, length, capped, gone)


def calm(step: Vector, noise: float) -> Vector:
    """Factors on a step in hidden directions, none of which an interval needs.

    What noise explains is left out. Of the rest t is gone to log(1 + t): on the way a curvature may grow like e^t.
    """
    squares = np.maximum(step**2, np.finfo(float).tiny)
    found = np.maximum(0.0, 1.0 - noise**2 / squares)
    far = float(np.linalg.norm(found * step))
    return np.asarray(found * (math.log1p(far) / far if far > 0 else 1.0))


def tolerated_noise(plan: Plan, pilot: Pilot) -> float:
    """Noise of a step in one direction, in predictor units, up to which the step is taken.

    Beyond it the pilot predicts better. Predictions of rare labels and small counts stand more.
    """
    if plan.loss.code in LABELS:
        return min(ONE_STEP.noisiest_odds / math.sqrt(4 * pilot.own_curvature), ONE_STEP.noisiest_log)
    if plan.loss.code in LOG_LINKED:
        return ONE_STEP.noisiest_odds / math.sqrt(pilot.share if pilot.curvature is None else pilot.curvature)
    return ONE_STEP.noisiest * pilot.spread


def bounded(
    gate: Gate, plan: Plan, coordinates: Coordinates, pilot: Pilot, row_bound: float, usual: float
) -> tuple[Loss, Clip]:
    """Return the loss of the step with a bound on its slope, and the clip of its gradients."""
    loss, matrix = pilot.loss, coordinates.matrix
    if loss.code is Code.LOGISTIC:
        own = pilot.own_curvature
        top = LEVEL.flattest * own * max(1.0, plan.signal * 4 * own / 100) ** 0.25
        if shortens(plan.loss, plan.design):
            top = min(top, loss.smoothness)
            largest = top * curved_rows(plan, coordinates, usual, own, top) * (usual / row_bound) ** 2
            plenty = plenty_at(plan)
            largest *= grown(max(1.0, PLENTY.curved / largest), plenty)
            loosening = grown(1 / TAIL.loosened, plenty)
            return replace(loss, smoothness=largest), Clip(row_bound, 0.0, shortened=True, loosening=loosening)
        return (classification.weighted_logistic(top) if top < 0.25 else loss), Clip(row_bound, 0.0)
    if loss.code in OTHER_LINKS or loss.code is Code.SOFTMAX:
        return loss, Clip(row_bound * loss.lipschitz, 0.0)
    if loss.code is Code.HUBER:
        threshold = float(loss.shape[0])
        if loss.relative:
            threshold = residual_threshold(gate, plan, matrix, pilot.theta, pilot.size)
        return regression.smooth_huber(threshold), Clip(row_bound * threshold, 0.0)
    low, high = response_ends(plan)
    steepest = high - low if loss.code is Code.SQUARED else loss.lipschitz
    clip = choose_clip(gate, plan, coordinates, pilot.theta, row_bound, loss, row_bound * steepest)
    # Where most residuals are far below their mean size, the sum is that of a few records, and no law of a tail holds.
    few = clip.deviation < TAIL.few * RESPONSE.normal * pilot.size
    # A response that fills little of a far too wide range may have spikes, fewer than a count sees, that hold its mean.
    few = few or (clip.wide and pilot.spread < TAIL.narrow * (high - low))
    if few and plan.private and loss.code is Code.SQUARED:
        clip = replace(clip, bias=clip.worst)
    return replace(loss, lipschitz=clip.norm / row_bound), clip
