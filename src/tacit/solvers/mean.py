"""The mean of the rows, by one sum: in prepared coordinates, or in whitened ones.

With rows (u, 1), whitening resolves columns that are narrow inside their bounds, so that the noise
on the mean follows the spread of the data and not the width of the bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.losses import distance
from tacit.problem.gate import Gate
from tacit.problem.plan import Plan
from tacit.problem.query import GradientSum, SecondMoments
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.whitening import whiten

SMALLEST_SHARE = 1e-6
"""Floor of the sum of the weights, as a share of n times the largest."""


FEWEST_ROWS = 0.5
"""Least mean number of a unit's rows that is believed; it is at least 1 unless rows are invalid."""


def take_mean(gate: Gate, plan: Plan) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the mean of the prepared rows (u, 1), and their mean second moments if looked at."""
    width = plan.design.width
    coordinates, clip = Coordinates(None, float(width)), plan.design.unit_norm
    if plan.whitening is not None:
        coordinates = whiten(gate, plan, plan.whitening)
        clip = (plan.stages[0].clip_factor or 1.0) * math.sqrt(coordinates.dimension)
    elif not plan.private:
        seen = gate.ask(SecondMoments(plan.design.unit_norm)).value / plan.records
        coordinates = Coordinates(None, float(width), seen)
    query = GradientSum(np.zeros(width), clip, coordinates.matrix, loss=distance.LOSS)
    mean = np.asarray(-gate.ask(query).value / plan.records)
    if coordinates.matrix is not None:
        mean = np.asarray(np.linalg.solve(coordinates.matrix.T, mean), dtype=np.float64)
    # The constant's mean is the share of n that the weights, or the unknown n, come to.
    if plan.design.beside.weighting is not None or not plan.relation.n_is_public:
        share = max(float(mean[-1]), SMALLEST_SHARE)
        moments = None if coordinates.moments is None else coordinates.moments / share
        return mean / share, moments
    if plan.design.beside.unit is None:
        return mean, coordinates.moments
    return _by_rows(mean, coordinates.moments)


def _by_rows(
    mean: NDArray[np.float64], moments: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Means over units as means over rows: divided by how many rows a unit has on average.

    That number is the last entry, the mean of the constant 1 beside the columns.
    """
    rows = max(float(mean[-1]), FEWEST_ROWS)
    if moments is not None:
        moments = moments / max(float(moments[-1, -1]), FEWEST_ROWS)
    return mean / rows, moments
