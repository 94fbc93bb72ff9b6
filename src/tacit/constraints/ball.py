"""The ball ‖B theta‖ ≤ radius and the nearest point of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Ball:
    """A ball in the user's slopes; an ellipsoid in the coordinates of theta.

    No radius means no constraint.
    """

    radius: float | None
    matrix: NDArray[np.float64]

    def project(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the nearest point of the ball, in the Euclidean norm of theta.

        The point is (I + λ B'B)⁻¹ theta with the λ ≥ 0 that puts it on the boundary, found by
        bisection between public ends.
        """
        if self.radius is None or np.linalg.norm(self.matrix @ theta) <= self.radius:
            return theta
        values, vectors = np.linalg.eigh(self.matrix.T @ self.matrix)
        # One column of theta a class, where there are several; the ball is of all slopes together.
        values = np.maximum(values, 0.0).reshape(-1, *(1,) * (theta.ndim - 1))
        rotated = vectors.T @ theta

        def point(multiplier: float) -> NDArray[np.float64]:
            return np.asarray(rotated / (1.0 + multiplier * values))

        low, high = 0.0, 1.0
        while np.sqrt(np.sum(values * point(high) ** 2)) > self.radius:
            high *= 4.0
        for _ in range(200):
            middle = (low + high) / 2
            if np.sqrt(np.sum(values * point(middle) ** 2)) > self.radius:
                low = middle
            else:
                high = middle
        return np.asarray(vectors @ point(high))
