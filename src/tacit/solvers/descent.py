"""Noisy gradient descent: in the design's own coordinates, or in whitened ones.

    g_t = (clipped gradient sum at φ_t + noise) / n
    θ_t = Proj(prox(φ_t - η g_t)),   φ_{t+1} = θ_t + m (θ_t - θ_{t-1})

T gradients are asked for and T iterates θ_1 … θ_T averaged (all of them, their second half, or the
last alone). How many are taken and how long they are is public: nothing here stops on what it sees.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.losses import logistic
from tacit.problem.gate import Gate
from tacit.problem.plan import Plan
from tacit.problem.query import LARGEST, GradientSum
from tacit.solvers.coordinates import Coordinates, penalty_in
from tacit.solvers.whitening import whiten

OUTPUTS = ("average", "tail", "last")


def descend(gate: Gate, plan: Plan) -> tuple[Coordinates, NDArray[np.float64]]:
    """Run the plan's descent; return its coordinates and the coefficients in them."""
    descent = plan.descent
    if descent is None:
        raise SettingError("The plan has no descent.")
    if plan.whitening is None:
        coordinates = Coordinates(None, float(plan.design.width))
    else:
        coordinates = whiten(gate, plan, plan.whitening)
    clip = plan.design.row_norm * logistic.LIPSCHITZ
    if plan.inference is not None:
        clip = plan.inference.clip_factor * math.sqrt(plan.design.width)
    elif descent.clip_factor is not None:
        clip = descent.clip_factor * math.sqrt(coordinates.dimension)
    ridge, ball, theta = penalty_in(plan, coordinates)
    previous = theta
    iterates = []
    for _ in range(descent.iterations):
        ahead = theta + descent.momentum * (theta - previous)
        query = GradientSum(ahead, clip, coordinates.matrix, plan.inference is not None)
        answer = gate.ask(query)
        stepped = ahead - descent.step_size * (answer.value / plan.records)
        previous = theta
        theta = ball.project(ridge.proximal(stepped, descent.step_size))
        theta = np.clip(theta, -LARGEST / 1e10, LARGEST / 1e10)
        iterates.append(theta)
    averaged = iterates[first_averaged(descent.output, len(iterates)) :]
    return coordinates, np.mean(averaged, axis=0)


def first_averaged(output: str, iterations: int) -> int:
    """Index of the first iterate that enters the output."""
    return {"average": 0, "tail": iterations // 2, "last": iterations - 1}[output]
