"""The mean of the rows, by one sum: in prepared coordinates, or in whitened ones.

With rows (u, 1), whitening resolves columns that are narrow inside their bounds, so that the noise
on the mean follows the spread of the data and not the width of the bounds.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.gate import Gate
from tacit.contract.plan import Plan
from tacit.contract.query import GradientSum, SecondMoments
from tacit.design.attached_columns import Beside
from tacit.losses import squared_distance as distance
from tacit.solvers.coordinates import Coordinates
from tacit.solvers.whitening import whiten

SMALLEST_SHARE = 1e-6
"""Floor of the sum of the weights, as a share of n times the largest."""


def take_mean(gate: Gate, plan: Plan) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the mean of the prepared rows (u, 1), and their mean second moments if looked at."""
    width = plan.design.width
    coordinates, clip = Coordinates(None, float(width)), plan.design.unit_norm
    if plan.whitening is not None:
        coordinates = whiten(gate, plan, plan.whitening)
        clip = (plan.stages[0].clip_factor or 1.0) * math.sqrt(coordinates.dimension)
    elif not plan.private:
        seen = gate.ask(SecondMoments(plan.design.unit_norm)).value / plan.count
        coordinates = Coordinates(None, float(width), seen)
    query = GradientSum(np.zeros(width), clip, coordinates.matrix, loss=distance.LOSS)
    mean = np.asarray(-gate.ask(query).value / plan.count)
    if coordinates.matrix is not None:
        mean = np.asarray(np.linalg.solve(coordinates.matrix.T, mean), dtype=np.float64)
    beside, moments = plan.design.beside, coordinates.moments
    # The constant's mean is the share of n that the weights, the rows of units, or the unknown n
    # come to; looks that shrink units with many rows have their own.
    if beside != Beside() or not plan.relation.n_is_public:
        share = max(float(mean[-1]), SMALLEST_SHARE)
        if moments is not None:
            own = share if beside.unit is None else float(moments[-1, -1])
            moments = moments / max(own, SMALLEST_SHARE)
        return mean / share, moments
    return mean, moments
