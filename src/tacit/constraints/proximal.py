"""Proximal steps of an L2 penalty, and the nearest point of a ball or region of slopes.

    argmin over t of ½‖t - theta‖² + penalty(B t)   or   with   B t in the set

B maps theta to the user's slopes. All is public: iterations may depend on the values.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.region import Region

ROUNDS = 2000
TOLERANCE = 1e-10
SMALLEST_PULL = 1e-290
"""Below it, l2 · step changes nothing, and its inverse overflows."""

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class RidgePenalty:
    """(l2 / 2)·‖B theta - prior‖², `matrix` is B. It sees no record, so its gradient needs neither clip nor noise."""

    l2: float
    matrix: NDArray[np.float64]
    prior: NDArray[np.float64]

    def proximal(self, theta: NDArray[np.float64], step: float) -> NDArray[np.float64]:
        """Return the argmin over t of ½‖t - theta‖² + step·penalty(t)."""
        if not step * self.l2 > SMALLEST_PULL:
            return theta
        # The matrix inversion lemma: well conditioned for every l2.
        B = self.matrix
        system = np.eye(len(B)) / (step * self.l2) + B @ B.T
        return np.asarray(theta + B.T @ np.linalg.solve(system, self.prior - B @ theta))

    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the slope of the penalty."""
        return self.l2 * self.matrix.T @ (self.matrix @ theta - self.prior)

    def curvature(self) -> NDArray[np.float64]:
        """Return the second derivative of the penalty."""
        return self.l2 * self.matrix.T @ self.matrix


@dataclass(frozen=True)
class Ball:
    """The slopes with ‖B theta - center‖ ≤ radius, an ellipsoid in theta; None constrains nothing.

    A center other than 0 needs a square B with an inverse.
    """

    radius: float | None
    matrix: NDArray[np.float64]
    center: Vector | float = 0.0

    def distance(self, theta: Vector) -> float:
        """Return ‖B theta - center‖."""
        return float(np.linalg.norm(self.matrix @ theta - self.center))

    def project(self, theta: Vector) -> Vector:
        """Return (I + λ B'B)⁻¹ theta with the λ ≥ 0 that puts it on the boundary, by bisection."""
        if self.radius is None or self.distance(theta) <= self.radius:
            return theta
        if np.any(self.center):
            origin = np.linalg.solve(self.matrix, np.broadcast_to(self.center, theta.shape))
            return np.asarray(origin + Ball(self.radius, self.matrix).project(theta - origin))
        values, vectors = np.linalg.eigh(self.matrix.T @ self.matrix)
        # With several classes theta has one column each; the ball bounds all slopes together.
        values = np.maximum(values, 0.0).reshape(-1, *(1,) * (theta.ndim - 1))
        rotated = vectors.T @ theta

        def point(multiplier: float) -> Vector:
            return np.asarray(rotated / (1.0 + multiplier * values))

        def is_outside(multiplier: float) -> bool:
            return bool(np.sqrt(np.sum(values * point(multiplier) ** 2)) > self.radius)

        low, high = 0.0, 1.0
        while is_outside(high):
            high *= 4.0
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if is_outside(middle) else (low, middle)
        return np.asarray(vectors @ point(high))


@dataclass(frozen=True)
class Projection:
    """The slopes in a region; None constrains nothing."""

    region: Region | None
    matrix: NDArray[np.float64]

    def project(self, theta: Vector) -> Vector:
        """Return the nearest point by ADMM; its slopes lie in the region up to rounding."""
        if self.region is None:
            return theta
        if theta.ndim > 1:
            return np.column_stack([self.project(column) for column in theta.T])
        B = self.matrix
        inside = self.region.nearest(B @ theta)
        if np.array_equal(inside, B @ theta):
            return theta
        weight, inverse = self._admm
        point, pull = theta, np.zeros(len(B))
        scale = 1.0 + float(np.linalg.norm(B @ theta))
        for _ in range(ROUNDS):
            point = inverse @ (theta + weight * B.T @ (inside - pull))
            moved = self.region.nearest(B @ point + pull)
            pull = pull + B @ point - moved
            gap = max(np.linalg.norm(B @ point - moved), np.linalg.norm(moved - inside))
            inside = moved
            if gap <= TOLERANCE * scale:
                break
        # The shortest move in theta that puts the slopes exactly into the region.
        return np.asarray(point + np.linalg.lstsq(B, inside - B @ point, rcond=None)[0])

    @cached_property
    def _admm(self) -> tuple[float, Vector]:
        """The weight of the quadratic term, and the inverse of the system it leads to."""
        B = self.matrix
        weight = len(B) / max(float(np.sum(B * B)), 1e-300)
        system = np.eye(B.shape[1]) + weight * B.T @ B
        return weight, np.asarray(np.linalg.inv(system), dtype=np.float64)
