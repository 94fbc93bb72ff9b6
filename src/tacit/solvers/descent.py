"""Noisy gradient descent: in the design's own coordinates, or in whitened ones.

    g_t = (clipped gradient sum at φ_t + noise) / n
    θ_t = Proj(prox(φ_t - η g_t)),   φ_{t+1} = θ_t + m (θ_t - θ_{t-1})

T gradients are asked for and T iterates θ_1 … θ_T averaged (all of them, their second half, or the
last alone); a plan may have several such stages, each starting where the one before ended. How many
steps are taken and how long they are is public: nothing here stops on what it sees.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.problem.gate import Gate
from tacit.problem.plan import Descent, Plan
from tacit.problem.query import LARGEST, GradientSum, ResidualSize
from tacit.solvers.coordinates import Coordinates, gradient_bound, penalty_in
from tacit.solvers.whitening import whiten

SMALLEST_RESIDUAL = 2.0**-20
"""Floor of the residuals' mean size, in units of the response's half range."""
RANGE = 2.0
"""Largest residual of a prepared response in [-1, 1] and a prediction kept there."""

Vector = NDArray[np.float64]


def descend(gate: Gate, plan: Plan) -> tuple[Coordinates, Vector]:
    """Run the plan's stages; return their coordinates and the coefficients in them."""
    if plan.whitening is None:
        coordinates = Coordinates(None, float(plan.design.width))
    else:
        coordinates = whiten(gate, plan, plan.whitening)
    _, _, theta = penalty_in(plan, coordinates)
    for stage in plan.stages:
        theta = _descend(gate, plan, stage, coordinates, theta)
    return coordinates, theta


def _descend(
    gate: Gate, plan: Plan, stage: Descent, coordinates: Coordinates, theta: Vector
) -> Vector:
    clip = _clip(gate, plan, stage, coordinates, theta)
    ridge, region, _ = penalty_in(plan, coordinates)
    previous = theta
    iterates = []
    for _ in range(stage.iterations):
        ahead = theta + stage.momentum * (theta - previous)
        downweighted = plan.inference is not None
        query = GradientSum(ahead, clip, coordinates.matrix, downweighted, plan.loss)
        answer = gate.ask(query)
        stepped = ahead - stage.step_size * (answer.value / plan.records)
        previous = theta
        theta = region.project(ridge.proximal(stepped, stage.step_size))
        theta = np.clip(theta, -LARGEST / 1e10, LARGEST / 1e10)
        iterates.append(theta)
    return np.asarray(np.mean(iterates[first_averaged(stage.output, len(iterates)) :], axis=0))


def _clip(gate: Gate, plan: Plan, stage: Descent, coordinates: Coordinates, theta: Vector) -> float:
    if plan.inference is not None:
        return plan.inference.clip_factor * math.sqrt(plan.design.width)
    if stage.clip_factor is None:
        return gradient_bound(plan)
    unit = math.sqrt(coordinates.dimension)
    if stage.scaled:
        answer = gate.ask(ResidualSize(theta, RANGE, coordinates.matrix))
        mean = RANGE * float(answer.value[0]) / plan.records
        unit *= min(max(mean, SMALLEST_RESIDUAL), RANGE)
    return stage.clip_factor * unit


def first_averaged(output: str, iterations: int) -> int:
    """Index of the first iterate that enters the output."""
    return {"average": 0, "tail": iterations // 2, "last": iterations - 1}[output]
