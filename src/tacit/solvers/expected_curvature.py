"""Where the matrices of the last step are asked for: part of the way, by an expected curvature."""

from __future__ import annotations

import math

import numpy as np

from tacit.contract.query import Answer
from tacit.losses.loss import Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.interval_rules import ONE_STEP
from tacit.solvers.predictors import Predictors
from tacit.solvers.pseudo_rows import expected_matrices, pseudo_rows
from tacit.solvers.spectrum import Spectrum


def part_way(
    coordinates: Coordinates,
    predictors: Predictors,
    pilot: Vector,
    loss: Loss,
    row_bound: float,
    mean: Answer,
    mean_row: Vector | None,
) -> Vector:
    """Return where the matrices are asked for: part of the way of a step by public pseudo-rows.

    With M at pilot + t·step the second-order biases of the pilot's noise (variance P) and of the
    step's (F) cancel at t = ½ P / (P + F). Their sum is the step's square, and F is known.
    """
    curvature = expected_curvature(coordinates, predictors.shaped(pilot), loss, row_bound, mean_row)
    spectrum = Spectrum.of(predictors.matrices(Answer(curvature, 0.0)).value)
    values = np.maximum(spectrum.values, ONE_STEP.flattest * float(spectrum.values.mean()))
    step = spectrum.with_values(1 / values) @ mean.value
    square, own = float(step @ step), mean.noise_scale**2 * float(np.sum(1 / values**2))
    if not math.isfinite(square):
        return pilot  # so far out that nothing is curved
    part = 0.5 * max(square - own, 0.0) / max(square, np.finfo(float).tiny)
    length = math.sqrt(square)
    return np.asarray(pilot - part * min(1.0, ONE_STEP.farthest / max(length, 1e-300)) * step)


def expected_curvature(
    coordinates: Coordinates, pilot: Vector, loss: Loss, row_bound: float, mean_row: Vector | None
) -> Matrix:
    """Mean w h z z' over normal pseudo-rows with the released moments: public, and approximate."""
    rows = pseudo_rows(coordinates, len(pilot), mean_row)
    return expected_matrices(rows, pilot, loss, row_bound)[0]
