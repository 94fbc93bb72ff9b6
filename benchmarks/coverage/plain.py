"""The same M-estimators without noise: what intervals are compared with.

Rows have the weights of the private route, w = min(1, C²/‖z‖²), with z = (1, x): the features are
independent and standard, so that whitening changes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.designs import LARGEST_COUNT, Family
from tacit.contract.plan import Plan
from tacit.losses import classification, poisson, regression
from tacit.losses.dispatch import curvatures, slopes
from tacit.losses.loss import Loss
from tacit.solvers.nuisance import top_rate

Matrix = NDArray[np.float64]
ROUNDS, NEAR = 50, 1e-7


@dataclass(frozen=True)
class Sample:
    """Rows with their constant, responses, and the bound beyond which rows are weighed down."""

    Z: Matrix
    y: Matrix
    row_bound: float

    @classmethod
    def of(cls, X: Matrix, y: Matrix, row_bound: float) -> Sample:
        """Weigh rows down that are longer than the bound."""
        return cls(np.column_stack([np.ones(len(X)), X]), y, row_bound)


@dataclass(frozen=True)
class Sums:
    """Sums over a sample: Σ w a z, Σ w h zz' and Σ (w a)² zz'."""

    gradient: Matrix
    curvature: Matrix
    score: Matrix


@numba.njit(nogil=True, cache=True, error_model="numpy")
def _add(Z: Any, y: Any, row_bound: float, code: int, shape: Any, theta: Any, sums: Any) -> None:
    """Add a block's sums; `sums` are stacked as rows: the gradient, curvature, score."""
    width = Z.shape[1]
    margin = Z @ theta
    slope, bend = np.empty(len(y)), np.empty(len(y))
    slopes(code, shape, margin, y, slope)
    curvatures(code, shape, margin, y, bend)
    for i in range(len(y)):
        square = 0.0
        for j in range(width):
            square += Z[i, j] * Z[i, j]
        weight = min(1.0, row_bound * row_bound / square)
        a, h = weight * slope[i], weight * bend[i]
        for j in range(width):
            sums[0, j] += a * Z[i, j]
            first, second = h * Z[i, j], a * a * Z[i, j]
            for k in range(j + 1):
                sums[1 + j, k] += first * Z[i, k]
                sums[1 + width + j, k] += second * Z[i, k]


def sums_of(loss: Loss, sample: Sample, theta: Matrix) -> Sums:
    """Sums at a point, in one pass."""
    width = sample.Z.shape[1]
    sums = np.zeros((1 + 2 * width, width))
    _add(sample.Z, sample.y, sample.row_bound, int(loss.code), np.array(loss.shape), np.ascontiguousarray(theta), sums)
    curvature, score = sums[1 : 1 + width], sums[1 + width :]
    return Sums(sums[0], _symmetric(curvature), _symmetric(score))


def _symmetric(lower: Matrix) -> Matrix:
    return np.asarray(lower + lower.T - np.diag(np.diagonal(lower)))


def loss_of(family: Family, plan: Plan, sample: Sample) -> Loss:
    """The loss of the last step, without a clip."""
    match family:
        case "logistic":
            return classification.LOGISTIC
        case "linear":
            return regression.SQUARED
    mean = float(sample.y.mean())
    return poisson.weighted(mean, top_rate(plan, mean), float(LARGEST_COUNT))


def root(loss: Loss, sample: Sample, start: Matrix, rounds: int = ROUNDS) -> Matrix:
    """Where the weighed score vanishes."""
    theta = start
    for _ in range(rounds):
        sums = sums_of(loss, sample, theta)
        step = np.linalg.solve(sums.curvature, sums.gradient)
        theta = theta - step
        if np.abs(step).max() < NEAR:
            break
    return theta


@dataclass(frozen=True)
class Plain:
    """Estimates with standard errors, and the errors that rows of full weight would have."""

    values: Matrix
    errors: Matrix
    unweighted: Matrix


def fit(family: Family, plan: Plan, sample: Sample, near: Matrix) -> Plain:
    """Fit without noise, from a point near the estimate: its population value.

    Two Newton steps from there leave an error of order n^-2.
    """
    loss = loss_of(family, plan, sample)
    theta = root(loss, sample, near, rounds=2)
    count = len(sample.y)
    errors = []
    for each in (sample, Sample(sample.Z, sample.y, math.inf)):
        sums = sums_of(loss, each, theta)
        inverse = np.linalg.inv(sums.curvature)
        covariance = inverse @ sums.score @ inverse * count / (count - len(theta))
        errors.append(np.sqrt(np.diagonal(covariance)))
    return Plain(theta, *errors)
