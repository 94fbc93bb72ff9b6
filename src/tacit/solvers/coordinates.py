"""The coordinates a solver works in, and what penalty and ball look like there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.ball import Ball
from tacit.constraints.ridge import Ridge
from tacit.problem.plan import Plan


@dataclass(frozen=True)
class Coordinates:
    """z = matrix' u of a prepared row u (None: z = u), so that prepared theta = matrix·theta.

    `dimension` is the effective dimension: how many directions stand out of the noise.
    """

    matrix: NDArray[np.float64] | None
    dimension: float

    def prepared(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients of the prepared row."""
        return theta if self.matrix is None else self.matrix @ theta


def penalty_in(plan: Plan, coordinates: Coordinates) -> tuple[Ridge, Ball, NDArray[np.float64]]:
    """Return the plan's penalty and ball in these coordinates, and the starting point.

    The start is 0, or the declared prior mean with an intercept of 0 in prepared coordinates.
    """
    design = plan.design
    to_slopes = design.to_user()[int(design.intercept) :]
    slopes = to_slopes if coordinates.matrix is None else to_slopes @ coordinates.matrix
    prior = np.zeros(len(to_slopes))
    start: NDArray[np.float64] = np.zeros(design.width)
    if plan.penalty.prior_mean is not None:
        prior = np.asarray(plan.penalty.prior_mean, dtype=np.float64)
        start[: len(prior)] = prior / np.diagonal(to_slopes)
        if coordinates.matrix is not None:
            start = np.asarray(np.linalg.solve(coordinates.matrix, start))
    ball = Ball(plan.penalty.radius, slopes)
    return Ridge(plan.penalty.l2, slopes, prior), ball, ball.project(start)
