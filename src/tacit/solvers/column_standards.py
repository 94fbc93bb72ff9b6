"""Columns standardised by their noisy sums: means and spreads first, so that one query of second moments is enough.

An answer has the sums of z and z² of all columns, with noise 2·clip / (n·μ) in each: second moments have √(2d) times
as much on their spectrum, and take d times as long. Each answer is in the standards of the one before.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.contract.column_query import ColumnMoments
from tacit.contract.plan import Plan
from tacit.contract.query import Gate
from tacit.solvers.coordinates import Matrix, Vector
from tacit.solvers.wide_rules import COLUMNS

SMALLEST = 1e-8
"""Least variance in the coordinates of the query before: a column without spread grows by at most 10^4."""


def standardised(gate: Gate, plan: Plan, times: int) -> Matrix:
    """Ask for the sums, and return the matrix T with T'(u, 1) = ((u - center) / scale, 1)."""
    width, intercept = plan.design.width, plan.design.intercept
    features = slice(0, width - 1) if intercept else slice(0, width)
    center, scale = np.zeros(width), np.ones(width)
    for number in range(times):
        # Prepared entries are at most 1; standardised ones have mean squares of 1 and fourth powers of about 3.
        clip = math.sqrt(2 * width) if number == 0 else COLUMNS.clip * math.sqrt(width)
        answer = gate.ask(ColumnMoments(1 / scale, -center / scale, clip))
        noise = answer.noise_scale / plan.count
        mean, variance = spreads(answer.value[:, features] / plan.count, noise, centred=intercept)
        center[features] += scale[features] * mean
        scale[features] *= np.sqrt(variance)
    matrix = np.diag(1 / scale)
    matrix[-1] -= np.where(np.arange(width) < width - 1, center / scale, 0.0)
    return matrix


def spreads(moments: Matrix, noise: float, *, centred: bool) -> tuple[Vector, Vector]:
    """Means and variances of columns, pulled together by as much as the noise explains.

    Means go to 0 and variances to their mean; no variance is below half the noise.
    """
    mean = moments[0] * _kept(float(np.mean(moments[0] ** 2)), noise) if centred else np.zeros(moments.shape[1])
    variance = moments[1] - mean**2
    pooled = max(float(np.mean(variance)), noise / math.sqrt(len(variance)), SMALLEST)
    kept = _kept(float(np.var(variance)), noise)
    spread = kept * np.maximum(variance, COLUMNS.floor * noise) + (1 - kept) * pooled
    return mean, np.maximum(spread, SMALLEST)


def _kept(square: float, noise: float) -> float:
    """Share of a mean square that the noise does not explain."""
    return max(0.0, 1 - noise**2 / square) if square > 0 else 0.0
