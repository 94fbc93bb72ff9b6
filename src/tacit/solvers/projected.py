"""Accelerated projected descent on exact gradients: the fit at ε = ∞ with slopes held in a region.

It works in coordinates where the exact second moments are the identity, so that the loss is as
smooth as its curvature bound says and nothing depends on the units of the columns. Momentum starts
anew whenever it points uphill.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import GradientSum, SecondMoments
from tacit.solvers.coordinates import Coordinates, gradient_bound, penalty_in

ITERATIONS = 3000
TOLERANCE = 1e-11


def project_and_descend(gate: Gate, plan: Plan) -> NDArray[np.float64]:
    """Minimise mean loss + penalty over the region, in prepared coordinates."""
    moments = gate.ask(SecondMoments(plan.design.unit_norm)).value / plan.count
    values, vectors = np.linalg.eigh(moments)
    floor = 1e-9 * max(float(values.max()), 1e-300)
    root = (vectors / np.sqrt(np.maximum(values, floor))) @ vectors.T
    ridge, region, theta = penalty_in(plan, Coordinates(root, float(len(root))))
    step, clip = 1.0 / plan.loss.smoothness, gradient_bound(plan)
    theta = region.project(theta)
    ahead, pace = theta, 1.0
    for _ in range(ITERATIONS):
        answer = gate.ask(GradientSum(root @ ahead, clip, loss=plan.loss))
        moved = ahead - step * (root.T @ answer.value / plan.count)
        moved = region.project(ridge.proximal(moved, step))
        change = moved - theta
        faster = (1 + math.sqrt(1 + 4 * pace * pace)) / 2
        if float(np.sum((ahead - moved) * change)) > 0:
            faster, ahead = 1.0, moved
        else:
            ahead = moved + (pace - 1) / faster * change
        theta, pace = moved, faster
        if np.linalg.norm(change) <= TOLERANCE * (1 + np.linalg.norm(theta)):
            break
    return np.asarray(root @ theta)
