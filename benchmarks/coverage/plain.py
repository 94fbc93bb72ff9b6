"""The same M-estimators without noise, in plain numpy: what intervals are compared with.

Rows have the weights of the private route, w = min(1, C²/‖z‖²), with z = (1, x): the features are
independent and standard, so that whitening changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from benchmarks.coverage.designs import Family
from tacit.losses import bounded_poisson, huber, logistic, smooth_huber
from tacit.losses.loss import Code, Loss
from tacit.problem.plan import Plan
from tacit.solvers.levels import LARGEST_SQUARE, count_cap, solve_dispersion, top_rate
from tacit.solvers.placement import DEVIATIONS, LEVEL

Matrix = NDArray[np.float64]
ROUNDS, NEAR = 50, 1e-7


@dataclass(frozen=True)
class Sample:
    """Rows with their constant, responses and row weights."""

    Z: Matrix
    y: Matrix
    weights: Matrix

    @classmethod
    def of(cls, X: Matrix, y: Matrix, row_bound: float) -> Sample:
        """Weigh rows down that are longer than the bound."""
        Z = np.column_stack([np.ones(len(X)), X])
        weights = np.minimum(1.0, row_bound**2 / np.einsum("ij,ij->i", Z, Z))
        return cls(Z, y, weights)

    def moment(self, per_row: Matrix) -> Matrix:
        """Sum of per_row · zz'."""
        return np.asarray((self.Z * per_row[:, None]).T @ self.Z)


def slopes(loss: Loss, z: Matrix, y: Matrix) -> Matrix:
    """First derivatives in the linear predictor."""
    match loss.code:
        case Code.LOGISTIC:
            return np.asarray(special.expit(z) - y)
        case Code.SMOOTH_HUBER:
            v = (z - y) / loss.shape[0]
            return np.asarray(loss.shape[0] * 2 * v / (1 + np.sqrt(1 + 4 * v * v)))
    rates, weights, shift, _ = _tabulated(loss, z)
    reach = bounded_poisson.REACH * np.maximum(1.0, np.sqrt(rates))
    return np.asarray(weights * (np.clip(rates - y, -reach, reach) + shift))


def curvatures(loss: Loss, z: Matrix, y: Matrix) -> Matrix:
    """Second derivatives in the linear predictor."""
    match loss.code:
        case Code.LOGISTIC:
            p = special.expit(z)
            return np.asarray(p * (1 - p))
        case Code.SMOOTH_HUBER:
            q = np.sqrt(1 + 4 * ((z - y) / loss.shape[0]) ** 2)
            return np.asarray(2 / (q * (1 + q)))
    rates, weights, _, bend = _tabulated(loss, z)
    reach = bounded_poisson.REACH * np.maximum(1.0, np.sqrt(rates))
    inside = np.abs(rates - y) < reach
    return np.asarray(np.where(inside, weights * np.maximum(rates + bend, 0.0), 0.0))


def _tabulated(loss: Loss, z: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    first, spacing, top, largest = loss.shape[: bounded_poisson.HEAD]
    points = bounded_poisson.POINTS
    table = np.array(loss.shape[bounded_poisson.HEAD :])
    place = np.clip((z - first) * spacing, 0, points - 1)
    below = np.minimum(place.astype(np.int64), points - 2)
    part = place - below
    rates = largest * np.exp((place - (points - 1)) / spacing)
    shift = table[below] + part * (table[below + 1] - table[below])
    bend = table[points + below] + part * (table[points + below + 1] - table[points + below])
    return rates, np.minimum(1.0, top / rates), shift, bend


def first_loss(family: Family, plan: Plan, sample: Sample, theta: Matrix) -> Loss:
    """The pilot's loss; residuals are those of `theta`."""
    match family:
        case "logistic":
            return logistic.LOSS
        case "linear":
            radius = float(np.quantile(np.abs(sample.Z @ theta - sample.y), LEVEL))
            return smooth_huber.loss(huber.EFFICIENT * radius / DEVIATIONS)
    mean = float(np.minimum(sample.y, count_cap(plan)).mean())
    return bounded_poisson.loss(mean, 0.0, top_rate(plan, mean))


def second_loss(family: Family, plan: Plan, sample: Sample, pilot: Matrix, first: Loss) -> Loss:
    """The last step's loss, from the residuals of the pilot."""
    if family != "poisson":
        return first_loss(family, plan, sample, pilot)
    mean = float(np.minimum(sample.y, count_cap(plan)).mean())
    rates = _tabulated(first, sample.Z @ pilot)[0]
    squares = (sample.y - rates) ** 2 / np.maximum(1.0, rates)
    seen = float(np.minimum(squares, LARGEST_SQUARE).mean())
    return bounded_poisson.loss(mean, solve_dispersion(mean, seen)[0], top_rate(plan, mean))


def newton_step(loss: Loss, sample: Sample, theta: Matrix) -> tuple[Matrix, Matrix]:
    """Sums of gradient and curvature at a point."""
    z = sample.Z @ theta
    gradient = sample.Z.T @ (sample.weights * slopes(loss, z, sample.y))
    return gradient, sample.moment(sample.weights * curvatures(loss, z, sample.y))


def root(loss: Loss, sample: Sample, start: Matrix, rounds: int = ROUNDS) -> Matrix:
    """Where the weighed score vanishes."""
    theta = start
    for _ in range(rounds):
        gradient, curvature = newton_step(loss, sample, theta)
        step = np.linalg.solve(curvature, gradient)
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
    first = first_loss(family, plan, sample, near)
    loss = second_loss(family, plan, sample, near, first)
    theta = root(loss, sample, near, rounds=2)
    z = sample.Z @ theta
    slope, curvature = slopes(loss, z, sample.y), curvatures(loss, z, sample.y)
    errors = []
    for weights in (sample.weights, np.ones(len(z))):
        inverse = np.linalg.inv(sample.moment(weights * curvature))
        covariance = inverse @ sample.moment((weights * slope) ** 2) @ inverse
        errors.append(np.sqrt(np.diagonal(covariance) * len(z) / (len(z) - len(theta))))
    return Plain(theta, *errors)
