"""The coordinates a solver works in, and what penalty and ball look like there."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.proximal import Ball, Projection, RidgePenalty
from tacit.contract.plan import Penalty, Plan
from tacit.design.response import Continuous, Count, Positive
from tacit.losses import log_link
from tacit.losses.loss import Code, Loss

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


WIDE = 192
"""Columns from which a matrix of a special form is looked for."""


@dataclass(frozen=True)
class Coordinates:
    """z = matrix' u of a prepared row u (None: z = u), so that prepared theta = matrix·theta.

    `dimension` is the effective dimension: how many directions stand out of the noise. `released`
    are the mean second moments as last released, with the matrix of their coordinates, `directions` the eigenvectors of
    the last query (None: the axes) with the share of each eigenvalue that is not ridge, and `noise` its deviation.
    """

    matrix: Matrix | None
    dimension: float
    released: tuple[Matrix, Matrix | None] | None = None
    directions: tuple[Matrix | None, Vector] | None = None
    noise: float = 0.0

    @property
    def moments(self) -> Matrix | None:
        """Mean second moments of prepared rows as last released."""
        if self.released is None or self.released[1] is None:
            return None if self.released is None else self.released[0]
        inverse = np.linalg.inv(self.released[1])
        return np.asarray(inverse.T @ self.released[0] @ inverse)

    def prepared(self, theta: Vector) -> Vector:
        """Coefficients of the prepared row."""
        return theta if self.matrix is None else self.matrix @ theta

    def working(self, theta: Vector) -> Vector:
        """Working coefficients of those of the prepared row."""
        if self.matrix is None or len(self.matrix) < WIDE or not is_arrow(self.matrix):
            return theta if self.matrix is None else np.asarray(np.linalg.solve(self.matrix, theta))
        found = (theta.T / np.diagonal(self.matrix)).T
        found[-1] -= self.matrix[-1, :-1] @ found[:-1] / self.matrix[-1, -1]
        return found


def triangular(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """Rotate working coordinates so that their matrix is lower triangular; return the rotation too.

    Norms, clips and the law of spherical noise do not change, and rows are mapped in half the time.
    """
    rotation, upper = np.linalg.qr(matrix.T)
    return np.ascontiguousarray(upper.T), rotation


def is_arrow(matrix: Matrix) -> bool:
    """Whether all entries outside the diagonal and the last row are 0."""
    return bool(np.count_nonzero(matrix[:-1]) == np.count_nonzero(np.diagonal(matrix)[:-1]))


def is_lower(matrix: Matrix) -> bool:
    """Whether all entries above the diagonal are 0."""
    return not np.triu(matrix, 1).any()


def times_triangular(matrix: Matrix | None, lower: Matrix) -> Matrix:
    """Product with a lower triangular matrix, in d² steps where the first matrix is its diagonal and last row."""
    if matrix is None:
        return lower
    if not is_arrow(matrix):
        return np.asarray(matrix @ lower)
    product = lower * np.diagonal(matrix)[:, None]
    product[-1] = matrix[-1] @ lower
    return product


def penalty_in(plan: Plan, coordinates: Coordinates) -> tuple[RidgePenalty, Ball | Projection, Vector]:
    """Return the plan's penalty and region in these coordinates, and the starting point.

    The start is 0, or the declared prior mean, with the intercept of `public_intercept` in prepared coordinates.
    """
    design = plan.design
    outputs = () if design.outputs == 1 else (design.outputs,)
    start: Vector = np.zeros((design.width, *outputs))
    if design.intercept:
        start[-1] = public_intercept(plan.loss)
    if plan.penalty == Penalty():
        # Nothing is penalised: that needs no matrix of the width squared.
        empty = np.zeros((0, design.width))
        prior_of_none = np.zeros((0, *(1 for _ in outputs)))
        start = coordinates.working(start) if start.any() else start
        return RidgePenalty(0.0, empty, prior_of_none), Ball(None, empty), start
    scale = design.response.scale if isinstance(design.response, Continuous) else 1.0
    to_user = design.to_user()
    to_slopes = to_user[int(design.intercept) :]
    slopes, penalised = (it if coordinates.matrix is None else it @ coordinates.matrix for it in (to_slopes, to_user))
    prior = np.zeros(len(to_slopes))
    if plan.penalty.prior_mean is not None:
        prior = np.asarray(plan.penalty.prior_mean, dtype=np.float64)
        start[: len(prior)] = (prior / np.diagonal(to_slopes)).reshape(-1, *(1 for _ in outputs))
    start = coordinates.working(start) if start.any() else start
    center: Vector | float = 0.0
    if plan.penalty.covers_intercept and design.intercept:
        center = -design.shift().reshape(-1, *(1 for _ in outputs))
        prior = center.ravel() + np.append(0.0, prior)
    else:
        penalised = slopes
    region: Ball | Projection = Ball(plan.penalty.radius, penalised, center)
    if plan.penalty.constraint is not None:
        plan.penalty.constraint.check(len(to_slopes))
        region = Projection(plan.penalty.constraint, slopes)
    # The user's loss is scale^degree times the prepared one, and so is the penalty added to it.
    l2 = plan.penalty.l2 / scale**plan.loss.degree
    return (RidgePenalty(l2, penalised, prior.reshape(-1, *(1 for _ in outputs))), region, region.project(start))


def public_intercept(loss: Loss) -> float:
    """Predictor to start from: 0, or for the gamma loss the middle of its public ends, which 0 may be outside of."""
    return (loss.shape[log_link.LOWEST] + loss.shape[log_link.HIGHEST]) / 2 if loss.code is Code.GAMMA else 0.0


def gradient_bound(plan: Plan) -> float:
    """Bound on a unit's gradient in prepared coordinates, from row norm and slope alone."""
    return plan.design.row_norm * slope_bound(plan.loss, plan.count)


def public_clip(plan: Plan) -> float:
    """Clip for a gradient that cuts nothing while predictions stay within the public range of the response.

    `gradient_bound` where the slope is bounded. The slope of the squared and of other losses without a bound is a
    distance of prediction and response, which then is at most the width of that range: the noise is smaller by a factor
    of about √n / 2, and records that are further off count less.
    """
    if math.isfinite(plan.loss.lipschitz):
        return gradient_bound(plan)
    low, high = response_ends(plan)
    return min(gradient_bound(plan), plan.design.row_norm * (high - low))


def slope_bound(loss: Loss, rows: float) -> float:
    """Bound on the slope of a loss over so many rows.

    The squared loss has none of its own, but at its minimum ‖residuals‖ ≤ ‖y‖ ≤ √n over n rows, so
    that 1 + √n clips nothing there.
    """
    return 1.0 + math.sqrt(rows) if math.isinf(loss.lipschitz) else loss.lipschitz


def response_ends(plan: Plan) -> tuple[float, float]:
    """Public ends of the prepared response."""
    response = plan.design.response
    if isinstance(response, Positive):
        return response.lower, response.upper
    return (0.0, response.upper) if isinstance(response, Count) else (-1.0, 1.0)
