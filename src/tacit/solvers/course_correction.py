"""Corrections of a descent over a wide table, by what is known of every direction: its noise, and the way still to go.

A direction whose spread the noise of second moments hides has a small curvature in their coordinates. Descent then
forgets little of the noise of its first stage, and ends on the way. Both follow from a linear recursion: the variance
v of the result, and the share l of the way that is left. Directions are ordered by the share of their spread that
second moments resolve, so that common directions of the columns come first and alone, and grouped into blocks. A block
with coefficients c is multiplied by

    min(longest, max(0, 1 - b Σ a v / Σ a c²) / (1 - l))          (a: the whitened curvature)

The first factor is Stein's; the second goes on with the way. The recursion leaves out the sampling of the records, and
curvatures that are smaller than assumed: b > 1 stands for them at the end. After a stage that is not the last, no block
grows, and b = 1. Everything in it was released: it costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.solvers.coordinates import Coordinates, Matrix, Vector
from tacit.solvers.noisy_steps import Descent
from tacit.solvers.quantiles import SMALLEST
from tacit.solvers.shrinkage import Integers, blocks
from tacit.solvers.step_correction import tail_variance, way_left
from tacit.solvers.wide_rules import COLUMNS


@dataclass(frozen=True)
class Course:
    """How far a descent has come in each direction of its coordinates: noise variance, and share of the way left."""

    curvature: Vector
    directions: Matrix
    order: Integers
    variance: Vector
    left: Vector

    @classmethod
    def at_start(cls, coordinates: Coordinates) -> Course:
        """Nothing done yet; curvatures are those of directions as second moments saw them."""
        resolved = np.ones(1) if coordinates.directions is None else coordinates.directions[1]
        directions = None if coordinates.directions is None else coordinates.directions[0]
        directions = np.eye(len(resolved)) if directions is None else directions
        order = np.argsort(-resolved, kind="stable")
        curvature = np.clip(resolved, COLUMNS.smallest_curvature, 1.0)
        return cls(curvature, directions, order, np.zeros(len(curvature)), np.ones(len(curvature)))

    def after(self, descent: Descent, noise: float, steepest: float) -> Course:
        """Take the steps of a stage; `noise` is the deviation of a mean gradient, in units of its step.

        `steepest` is the curvature of a direction that is whitened completely.
        """
        curvature = steepest * self.curvature
        kept = way_left(curvature, descent)
        variance = kept**2 * self.variance + noise**2 * tail_variance(curvature, descent)
        return replace(self, variance=variance, left=kept * self.left)

    def corrected(self, theta: Vector, longest: float | None = None) -> tuple[Vector, Course]:
        """Correct what was found since the start; at the end blocks go the rest of their way, by `longest` at most."""
        rotated = self.directions.T @ theta
        factor = np.ones(len(rotated))
        for block in blocks(len(rotated)):
            chosen = self.order[block]
            noisy = float(np.sum(self.curvature[chosen] * self.variance[chosen]))
            noisy *= 1.0 if longest is None else COLUMNS.noise
            found = float(np.sum(self.curvature[chosen] * rotated[chosen] ** 2))
            factor[chosen] = max(0.0, 1.0 - noisy / max(found, SMALLEST))
        rest = 1.0 / np.maximum(1.0 - self.left, SMALLEST)
        factor = factor * np.minimum(1.0, rest) if longest is None else np.minimum(longest, factor * rest)
        left = 1.0 - factor * (1.0 - self.left)
        way = np.asarray(self.directions @ (factor * rotated))
        return way, replace(self, variance=factor**2 * self.variance, left=left)
