"""One Newton step from a pilot, and the matrices of its variance.

    M = mean w h z z',   Q = mean w² a² z z',   θ = pilot - M⁻¹(g(pilot) + noise)

with row weights w, slopes a and curvatures h at the pilot. From a pilot with error e the step
leaves an error of order e², and its own noise enters linearly; further noisy steps would add bias.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.problem.gate import Gate
from tacit.problem.plan import OneStep, Plan
from tacit.problem.query import GradientSum, SecondMoments, Weights
from tacit.problem.release import Sandwich
from tacit.solvers.coordinates import Coordinates

LONGEST_STEP = 3.0
"""Cap on the step's norm in whitened coordinates, where margins have about unit spread."""
FLOOR = 2.0
"""Eigenvalues of the curvature below so many noise deviations are lifted."""


def take_step(
    gate: Gate, plan: Plan, coordinates: Coordinates, pilot: NDArray[np.float64]
) -> tuple[NDArray[np.float64], Sandwich]:
    """Ask for curvature, score and gradient at the pilot, and step once."""
    clip = _clip(plan)
    matrix, count = coordinates.matrix, plan.records
    curvature = gate.ask(SecondMoments(clip, matrix, pilot, Weights.CURVATURE, plan.loss))
    score = gate.ask(SecondMoments(clip, matrix, pilot, Weights.SCORE, plan.loss))
    gradient = gate.ask(GradientSum(pilot, clip, matrix, True, plan.loss))
    noise = curvature.noise_scale * plan.loss.smoothness / count
    lifted_curvature, lifted = lift(curvature.value * plan.loss.smoothness / count, FLOOR * noise)
    step = np.linalg.lstsq(lifted_curvature, gradient.value / count, rcond=1e-13)[0]
    capped = plan.private and bool(np.linalg.norm(step) > LONGEST_STEP)
    if capped:
        step *= LONGEST_STEP / np.linalg.norm(step)
    to_user = plan.design.to_user()
    sandwich = Sandwich(
        curvature=lifted_curvature,
        score=score.value / count,
        to_user=to_user if matrix is None else to_user @ matrix,
        lifted=lifted,
        capped=capped,
        step_noise=gradient.noise_scale / count,
        curvature_noise=noise,
        score_noise=score.noise_scale / count,
    )
    return pilot - step, sandwich


def lift(matrix: NDArray[np.float64], floor: float) -> tuple[NDArray[np.float64], bool]:
    """Raise eigenvalues below the floor to it; say whether there were any."""
    values, vectors = np.linalg.eigh(matrix)
    lifted = bool(values.min() < floor)
    repaired = (vectors * np.maximum(values, floor)) @ vectors.T
    return np.asarray(repaired if lifted else matrix), lifted


def _clip(plan: Plan) -> float:
    inference = plan.inference or OneStep(math.inf)
    if math.isinf(inference.clip_factor):
        return plan.design.row_norm
    return inference.clip_factor * math.sqrt(plan.design.width)
