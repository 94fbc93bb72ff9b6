"""Curvature and score at a result, as intervals take them: one answer, lifted out of its noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import CurvatureAndScore
from tacit.contract.release import Sandwich
from tacit.losses.loss import Loss
from tacit.solvers.coordinates import Coordinates

FLOOR = 2.0
"""Eigenvalues of the curvature below so many noise deviations are lifted."""

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


def ask_sandwich(
    gate: Gate, plan: Plan, coordinates: Coordinates, theta: Vector, clip: float, loss: Loss
) -> Sandwich:
    """Ask for both matrices at theta; of the steps that led there nothing is said yet.

    They are told on the scale of the declared number of records.
    """
    matrix, count = coordinates.matrix, plan.records
    pair = gate.ask(CurvatureAndScore(theta, clip, matrix, loss))
    noise = pair.noise_scale / count
    curvature, lifted = lift(
        pair.value[0] * loss.smoothness / count, FLOOR * noise * loss.smoothness
    )
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


def wobble_of(
    plan: Plan, coordinates: Coordinates, sandwich: Sandwich, shift: float, mean_row: Vector
) -> Vector:
    """What a shift of the mean score, along the prepared row of medians, does to coefficients."""
    row = mean_row if coordinates.matrix is None else coordinates.matrix.T @ mean_row
    drift = shift * plan.count / plan.records * row
    return np.asarray(sandwich.to_user @ np.linalg.lstsq(sandwich.curvature, drift, rcond=1e-13)[0])


def lift(matrix: Matrix, floor: float) -> tuple[Matrix, bool]:
    """Raise eigenvalues below the floor to it; say whether there were any."""
    values, vectors = np.linalg.eigh(matrix)
    lifted = bool(values.min() < floor)
    repaired = (vectors * np.maximum(values, floor)) @ vectors.T
    return np.asarray(repaired if lifted else matrix), lifted
