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

from tacit.contract.gate import Gate
from tacit.contract.plan import Descent, Plan
from tacit.contract.query import LARGEST, GradientSum
from tacit.losses.loss import Loss
from tacit.solvers.calming import calm, follow, lengthen, odds_of_labels
from tacit.solvers.coordinates import Coordinates, gradient_bound, penalty_in
from tacit.solvers.finishing import finish
from tacit.solvers.whitening import whiten

Vector = NDArray[np.float64]


def descend(gate: Gate, plan: Plan) -> tuple[Coordinates, Vector]:
    """Run the plan's stages; return their coordinates and the coefficients in them."""
    start = None if plan.label_start is None else odds_of_labels(gate, plan)
    if plan.whitening is None:
        coordinates = Coordinates(None, float(plan.design.width))
    else:
        coordinates = whiten(gate, plan, plan.whitening)
    _, _, theta = penalty_in(plan, coordinates)
    if start is not None:
        theta = coordinates.working(start)
    for planned in plan.stages:
        stage = lengthen(plan, follow(plan, planned), start)
        clip = _clip(plan, stage, coordinates)
        calmed = calm(plan, stage, coordinates, clip)
        theta, _ = run_stage(gate, plan, calmed, coordinates, theta, clip, plan.loss)
    if plan.finishing is not None:
        theta = finish(gate, plan, plan.finishing, coordinates, theta, clip)
    if theta.ndim > 1 and plan.penalty.prior_mean is None and plan.penalty.constraint is None:
        # What all classes have in common changes no probability: here it is noise and no more.
        theta = theta - theta.mean(axis=1, keepdims=True)
    return coordinates, theta


def run_stage(
    gate: Gate,
    plan: Plan,
    stage: Descent,
    coordinates: Coordinates,
    theta: Vector,
    clip: float,
    loss: Loss,
) -> tuple[Vector, float]:
    """Run one stage; return its output and the deviation of the noise on its mean gradients."""
    ridge, region, _ = penalty_in(plan, coordinates)
    downweighted = plan.inference is not None
    previous, noise = theta, 0.0
    iterates = []
    for _ in range(stage.iterations):
        ahead = theta + stage.momentum * (theta - previous)
        answer = gate.ask(
            GradientSum(
                ahead,
                clip,
                coordinates.matrix,
                downweighted,
                loss,
                stage.balanced,
                stage.every,
            )
        )
        stepped = ahead - stage.step_size * (answer.value / plan.count)
        previous, noise = theta, answer.noise_scale / plan.count
        theta = region.project(ridge.proximal(stepped, stage.step_size))
        theta = np.clip(theta, -LARGEST / 1e10, LARGEST / 1e10)
        iterates.append(theta)
    return np.asarray(np.mean(iterates[stage.first_averaged :], axis=0)), noise


def _clip(plan: Plan, stage: Descent, coordinates: Coordinates) -> float:
    if stage.clip_factor is None:
        return gradient_bound(plan)
    return stage.clip_factor * math.sqrt(coordinates.dimension)
