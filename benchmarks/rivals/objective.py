"""Logistic regression by Gaussian objective perturbation, with the tightest known price.

The minimiser of Σ log(1 + e^{-margin}) + (λ/2)‖θ‖² + b·θ with b ~ N(0, s²I), rows of norm 1, one
record replaced, is (ε, δ)-private when δ = δ_G(ε - c; 2/s) with c = log(1 + ¼/λ) ≤ ε.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from benchmarks.accuracy.table import Kind, Matrix, Table, Vector
from benchmarks.rivals.calibration import mu_of
from benchmarks.rivals.method import DELTA, Fit, Setting
from benchmarks.rivals.scaling import unit_rows

CURVATURE = 0.25
RIDGES = tuple(10.0 ** (k / 2) for k in range(-5, 9))


def noise_scale(epsilon: float, delta: float, ridge: float) -> float:
    """Standard deviation s of the linear term."""
    return 2.0 / mu_of(epsilon - math.log1p(CURVATURE / ridge), delta)


def smallest_ridge(epsilon: float) -> float:
    """λ at which the whole ε would go into the curvature."""
    return CURVATURE / math.expm1(epsilon)


def minimise(X: Matrix, y: Vector, ridge: float, linear: Vector, start: Vector) -> Vector:
    """Minimise by Newton's method with backtracking, to a gradient of 1e-8 n."""
    theta = start.copy()

    def value(at: Vector) -> float:
        margins = X @ at
        loss = np.logaddexp(0.0, margins).sum() - y @ margins
        return float(loss + ridge / 2.0 * at @ at + linear @ at)

    current = value(theta)
    for _ in range(100):
        p = expit(X @ theta)
        gradient = X.T @ (p - y) + ridge * theta + linear
        if np.linalg.norm(gradient) <= 1e-8 * len(y):
            break
        hessian = (X * (p * (1.0 - p))[:, None]).T @ X + ridge * np.eye(len(theta))
        step = np.linalg.solve(hessian, gradient)
        length = 1.0
        while (proposed := value(theta - length * step)) > current and length > 1e-6:
            length /= 2.0
        theta, current = theta - length * step, proposed
    return theta


@dataclass(frozen=True)
class ObjectivePerturbation:
    """Exact minimiser of a randomly tilted objective; λ tuned on the test rows."""

    name: str = "objective-perturbation"
    label: str = "objective perturbation, tuned"
    kinds: tuple[Kind, ...] = ("classification",)
    epsilons: tuple[float, ...] | None = None
    version: str = "1"

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Ridges that leave some of ε to the noise."""
        floor = smallest_ridge(epsilon)
        ridges = [1.3 * floor, 2.0 * floor]
        ridges += [ridge for ridge in RIDGES if ridge > 2.5 * floor]
        return [{"ridge": ridge} for ridge in ridges]

    def fits(self, table: Table, epsilon: float, settings: Sequence[Setting], seed: int) -> list[Fit]:
        """From the strongest ridge to the weakest, each starting at the one before."""
        X = unit_rows(table.X_train, table.row_norm)
        y = np.asarray(table.y_train, dtype=np.float64)
        test = unit_rows(table.X_test, table.row_norm)
        direction = np.random.default_rng(seed).standard_normal(X.shape[1])
        theta = np.zeros(X.shape[1])
        fits: dict[int, Fit] = {}
        for place in sorted(range(len(settings)), key=lambda k: -settings[k]["ridge"]):
            ridge = settings[place]["ridge"]
            start = time.perf_counter()
            linear = np.asarray(noise_scale(epsilon, DELTA, ridge) * direction)
            theta = minimise(X, y, ridge, linear, theta)
            fits[place] = Fit(test @ theta, time.perf_counter() - start)
        return [fits[place] for place in range(len(settings))]
