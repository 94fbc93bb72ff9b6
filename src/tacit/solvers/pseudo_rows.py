"""Public normal rows with the released moments: curvature and score as they may be expected."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.contract.query import Answer
from tacit.losses import classification, links, log_link
from tacit.losses.loss import Code, Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.interval_rules import ONE_STEP
from tacit.solvers.predictors import Predictors
from tacit.solvers.public_draws import PublicSequence
from tacit.solvers.spectrum import Spectrum


@dataclass(frozen=True)
class Rows:
    """Where rows are and how long they may be: working coordinates, the bound C of their norms, the mean row.

    They weigh min(1, (C / ‖z‖)²), or if `shortened` as much as bounds on gradient and curvature allow.
    """

    coordinates: Coordinates
    bound: float
    mean: Vector | None = None
    shortened: bool = False

    def drawn(self, width: int) -> Matrix:
        """Public normal rows like them."""
        return pseudo_rows(self.coordinates, width, self.mean)


def pseudo_rows(coordinates: Coordinates, width: int, mean_row: Vector | None) -> Matrix:
    """Normal rows in working coordinates: second moments 1, and the mean row where it is known."""
    generator = PublicSequence(ONE_STEP.pseudo_seed)
    rows = generator.standard_normal((ONE_STEP.pseudo_rows, width))
    center = np.zeros(width)
    if mean_row is not None and coordinates.matrix is not None:
        center = coordinates.matrix.T @ mean_row
        center *= min(1.0, ONE_STEP.center / max(float(np.linalg.norm(center)), 1e-300))
    spectrum = Spectrum.of(np.eye(width) - np.outer(center, center))
    root = spectrum.with_values(np.sqrt(np.maximum(spectrum.values, 0.0)))
    return np.asarray(center + rows @ root)


def expected_matrices(
    rows: Matrix, theta: Vector, loss: Loss, row_bound: float, *, shortened: bool = False
) -> tuple[Matrix, Matrix]:
    """Mean w h z z', and mean w² v z z' where the variance v of the slope is the model's.

    v is h for labels, times their weight for other links than logit, the rate times its squared weight for counts,
    and 1 for least squares. For
    several classes, with theta (width, class), h is diag p - p p', and the means are of h ⊗ z z'.
    """
    margin = rows @ theta
    square = np.einsum("ij,ij->i", rows, rows)
    weight = np.minimum(1.0, row_bound**2 / square)

    def moment(factors: Vector) -> Matrix:
        return np.asarray((rows.T * factors) @ rows / len(rows))

    if loss.code is Code.SOFTMAX:
        chances = classification.softmax_probability(margin).T
        bend = chances[:, None] * (np.eye(len(chances))[:, :, None] - chances)
        curved, scored = (np.block([[moment(w * h) for h in row] for row in bend]) for w in (weight, weight**2))
        return curved, scored
    if loss.code in {Code.LOGISTIC, Code.WEIGHTED_LOGISTIC}:
        chance = 1 / (1 + np.exp(-np.clip(margin, -500, 500)))
        curvature = chance * (1 - chance)
        if shortened:
            most = loss.smoothness * row_bound**2 / np.maximum(curvature * square, 1e-300)
            weight = np.minimum(np.sqrt(weight), most)
        else:
            curvature = np.minimum(curvature, loss.smoothness)
        variance = curvature
    elif loss.code is Code.WEIGHTED_POISSON:
        rate = np.exp(np.clip(margin, loss.shape[0], loss.shape[1]))
        curvature = np.minimum(rate, loss.smoothness)
        variance = curvature**2 / rate
    elif loss.code in {Code.PROBIT, Code.CLOGLOG}:
        curvature, variance = links.expected_parts(loss, margin)
    elif loss.code in {Code.GAMMA, Code.NEGATIVE_BINOMIAL}:
        curvature, variance = log_link.expected_parts(loss, margin)
    else:
        curvature = variance = np.ones(len(rows))
    return moment(weight * curvature), moment(weight**2 * variance)


def weight_ratio(rows: Rows, theta: Vector, loss: Loss) -> float:
    """⟨Q, M⟩ / ⟨M, M⟩ that weights leave of the model's own variance, by public rows.

    1 for losses whose errors have no variance to be found.
    """
    if loss.code not in {Code.SQUARED, Code.WEIGHTED_POISSON}:
        return 1.0
    curvature, score = expected_matrices(rows.drawn(len(theta)), theta, loss, rows.bound)
    size = float(np.sum(curvature * curvature))
    return float(np.sum(score * curvature)) / size if size > 0 else 1.0


def part_way(
    rows: Rows, predictors: Predictors, pilot: Vector, loss: Loss, mean: Answer, known: Matrix | None = None
) -> Vector:
    """Return where the matrices are asked for: part of the way of a step by public pseudo-rows.

    A `known` curvature takes their place.

    With M at pilot + t·step the second-order biases of the pilot's noise (variance P) and of the
    step's (F) cancel at t = ½ P / (P + F). Their sum is the step's square, and F is known.
    """
    if known is None:
        expected = expected_curvature(rows, predictors.shaped(pilot), loss)
        known = predictors.matrices(Answer(expected, 0.0)).value
    spectrum = Spectrum.of(known)
    values = np.maximum(spectrum.values, ONE_STEP.flattest * float(spectrum.values.mean()))
    step = spectrum.with_values(1 / values) @ mean.value
    square, own = float(step @ step), mean.noise_scale**2 * float(np.sum(1 / values**2))
    if not math.isfinite(square):
        return pilot  # so far out that nothing is curved
    part = 0.5 * max(square - own, 0.0) / max(square, np.finfo(float).tiny)
    length = math.sqrt(square)
    return np.asarray(pilot - part * min(1.0, ONE_STEP.farthest / max(length, 1e-300)) * step)


def expected_curvature(rows: Rows, pilot: Vector, loss: Loss) -> Matrix:
    """Mean w h z z' over normal pseudo-rows with the released moments: public, and approximate."""
    drawn = rows.drawn(len(pilot))
    return expected_matrices(drawn, pilot, loss, rows.bound, shortened=rows.shortened)[0]
