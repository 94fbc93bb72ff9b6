"""Newton steps that end a descent, by a curvature that was released where it stopped.

    H = Σ p(1 - p) z z' / n + noise,   θ ← θ - U min(1 / (ξ + λ), longest) U' g,   H = U v U'

The eigenvalues ξ are those of H without their noise, as in a look, and λ is a share of its edge:
directions whose curvature noise hides take steps of at most 1 / λ, the others Newton's. Gradients
are bounded as in the descent, so the true curvature is at most H and a step is rather too short.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Finishing, Plan
from tacit.contract.query import LARGEST, GradientSum, SecondMoments, Weights
from tacit.errors import SettingError
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.whitening import shrink_eigenvalues

LONGEST = 40.0
"""Longest step in any direction: curvatures are at most 1/4, and 1/40 is small."""

Vector = NDArray[np.float64]


def finish(
    gate: Gate,
    plan: Plan,
    rule: Finishing,
    coordinates: Coordinates,
    theta: Vector,
    clip: float,
) -> Vector:
    """Return the average of the rule's last iterates, from what the descent returned."""
    steps = newton_map(gate, plan, rule, coordinates, theta)
    iterates = []
    for _ in range(rule.iterations):
        query = GradientSum(theta, clip, coordinates.matrix, loss=plan.loss, balanced=True)
        theta = theta - steps @ (gate.ask(query).value / plan.count)
        theta = np.clip(theta, -LARGEST / 1e10, LARGEST / 1e10)
        iterates.append(theta)
    return np.asarray(np.mean(iterates[-rule.averaged :], axis=0))


def newton_map(
    gate: Gate, plan: Plan, rule: Finishing, coordinates: Coordinates, theta: Vector
) -> Vector:
    """Ask for the curvature at theta, and return the map from mean gradients to steps."""
    if plan.whitening is None:
        raise SettingError("Newton steps end a descent in whitened coordinates.")
    bound = plan.whitening.row_factor * math.sqrt(coordinates.dimension)
    answer = gate.ask(
        SecondMoments(
            bound,
            coordinates.matrix,
            theta,
            Weights.CURVATURE,
            plan.loss,
            plan.whitening.every,
        )
    )
    unit = plan.loss.smoothness / plan.count
    values, vectors = np.linalg.eigh(answer.value)
    spread = shrink_eigenvalues(values, answer.noise_scale)
    ridge = rule.ridge * answer.noise_scale * math.sqrt(2 * len(values))
    lengths = 1.0 / np.maximum(unit * (spread + ridge), 1.0 / LONGEST)
    return np.asarray((vectors * lengths) @ vectors.T)
