"""The loop of noisy steps that all iterative solvers share.

    φ_t = θ_t + m (θ_t - θ_{t-1}),   θ_{t+1} = step(t, φ_t),   result: mean of the last iterates

The number of steps is public: nothing here stops on what it sees.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.contract.checked_query import LARGEST
from tacit.contract.plan import Plan
from tacit.contract.query import Gate, GradientSum
from tacit.losses.loss import Loss
from tacit.solvers.coordinates import Coordinates, Vector, penalty_in

FARTHEST = LARGEST / 1e10
"""Coordinates of iterates are limited to it: a query's parameters must be of moderate size."""


@dataclass(frozen=True)
class Descent:
    """Settings of gradient descent.

    `clip_factor` times the root of the effective dimension is the clip in whitened coordinates;
    without it the clip is the bound on a row's gradient, and nothing is ever clipped. `averaged` is
    the share of the iterates behind output "tail". With `balanced` both labels of a row are bounded
    alike. One record in `one_in` is read by a step.
    """

    iterations: int
    step_size: float
    momentum: float
    clip_factor: float | None
    output: str
    averaged: float = 0.5
    balanced: bool = False
    one_in: int = 1

    @property
    def first_averaged(self) -> int:
        """Index of the first iterate that enters the output."""
        return first_averaged(self.iterations, self.output, self.averaged)


def first_averaged(iterates: int, output: str, tail: float) -> int:
    """Index of the first iterate that enters an output."""
    share = {"average": 1.0, "tail": tail, "last": 0.0}[output]
    return iterates - max(1, math.ceil(iterates * share - 1e-9))


def take_steps(
    start: Vector,
    iterations: int,
    step: Callable[[int, Vector], Vector],
    *,
    momentum: float = 0.0,
    first: int,
    kept: list[Vector] | None = None,
) -> Vector:
    """Return the mean of the iterates from `first` on; `step` gives the next one. All are added to `kept`."""
    previous = theta = start
    iterates = [] if kept is None else kept
    for number in range(iterations):
        ahead = theta + momentum * (theta - previous) if momentum else theta
        previous, theta = theta, np.clip(step(number, ahead), -FARTHEST, FARTHEST)
        iterates.append(theta)
    return np.asarray(np.mean(iterates[first:], axis=0))


def descend(
    gate: Gate,
    plan: Plan,
    descent: Descent,
    coordinates: Coordinates,
    start: Vector | None,
    clip: float,
    loss: Loss,
    *,
    kept: list[Vector] | None = None,
    query: type[GradientSum] = GradientSum,
) -> tuple[Vector, float]:
    """Take steps θ = Proj(prox(φ - η g)); return the output and the noise of the mean gradients.

    Without a start they begin at the prior mean, or at 0. All iterates are added to `kept`. `query` says of which
    records a gradient is.
    """
    ridge, region, prior = penalty_in(plan, coordinates)
    noise = 0.0

    def step(_: int, ahead: Vector) -> Vector:
        nonlocal noise
        answer = gate.ask(query(ahead, clip, coordinates.matrix, False, loss, descent.balanced, descent.one_in))
        noise = answer.noise_scale / plan.count
        moved = ahead - descent.step_size * (answer.value / plan.count)
        return region.project(ridge.proximal(moved, descent.step_size))

    momentum, first = descent.momentum, descent.first_averaged
    begin = prior if start is None else start
    theta = take_steps(begin, descent.iterations, step, momentum=momentum, first=first, kept=kept)
    if theta.ndim > 1 and plan.penalty.prior_mean is None and plan.penalty.constraint is None:
        # What all classes have in common changes no probability: it is noise and no more.
        theta = theta - theta.mean(axis=1, keepdims=True)
        if kept is not None:
            kept[:] = [iterate - iterate.mean(axis=1, keepdims=True) for iterate in kept]
    return theta, noise
