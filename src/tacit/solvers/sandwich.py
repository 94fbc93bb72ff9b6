"""Curvature and score at a result, as intervals take them: one answer, raised out of its noise."""

from __future__ import annotations

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.query import CurvatureAndScore, Gate
from tacit.contract.release import Sandwich
from tacit.losses.loss import Loss
from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.interval_rules import NEWTON
from tacit.solvers.spectrum import raised

SINGULAR = 1e-13
"""Singular values below this share of the largest are left out of a solution."""


def ask_sandwich(gate: Gate, plan: Plan, coordinates: Coordinates, theta: Vector, clip: float, loss: Loss) -> Sandwich:
    """Ask for both matrices at theta, on the scale of the declared number of records.

    Of the steps that led there nothing is said yet.
    """
    matrix, count = coordinates.matrix, plan.records
    pair = gate.ask(CurvatureAndScore(theta, clip, matrix, loss))
    noise = pair.noise_scale / count
    curvature, lifted = raised(pair.value[0] * loss.smoothness / count, NEWTON.lifted * noise * loss.smoothness)
    to_user = plan.design.to_user()
    return Sandwich(
        curvature=curvature,
        score=pair.value[1] * loss.lipschitz**2 / count,
        to_user=to_user if matrix is None else to_user @ matrix,
        lifted=lifted,
        capped=False,
        step_noise=0.0,
        curvature_noise=noise * loss.smoothness,
        score_noise=noise * loss.lipschitz**2,
    )


def coefficient_errors(
    plan: Plan, coordinates: Coordinates, sandwich: Sandwich, shift: float, mean_row: Vector
) -> Vector:
    """What a shift of the mean score, along the prepared row of medians, does to coefficients."""
    row = mean_row if coordinates.matrix is None else coordinates.matrix.T @ mean_row
    drift = shift * plan.count / plan.records * row
    return np.asarray(sandwich.to_user @ solved(sandwich.curvature, drift))


def solved(curvature: Matrix, right: Matrix) -> Matrix:
    """Solve curvature·x = right, in the least-squares sense where directions are missing."""
    return np.asarray(np.linalg.lstsq(curvature, right, rcond=SINGULAR)[0])
