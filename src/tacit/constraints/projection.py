"""The nearest point of a region, in whatever coordinates a solver works.

    argmin over t of ½‖t - theta‖²   with   B t in the region

by alternating between the quadratic and the region (ADMM). B takes theta to the user's slopes.
Everything here is public, so the number of rounds may depend on what it sees.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tacit.constraints.region import Region

ROUNDS = 2000
TOLERANCE = 1e-10

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """The map to the nearest point with slopes in the region; None constrains nothing."""

    region: Region | None
    matrix: NDArray[np.float64]
    _inverse: list[NDArray[np.float64]] = field(default_factory=list, repr=False, compare=False)

    def project(self, theta: Vector) -> Vector:
        """Return the nearest point; its slopes lie in the region up to rounding."""
        if self.region is None:
            return theta
        if theta.ndim > 1:
            return np.column_stack([self.project(column) for column in theta.T])
        B = self.matrix
        inside = self.region.nearest(B @ theta)
        if np.array_equal(inside, B @ theta):
            return theta
        weight = len(B) / max(float(np.sum(B * B)), 1e-300)
        if not self._inverse:
            system = np.eye(B.shape[1]) + weight * B.T @ B
            self._inverse.append(np.asarray(np.linalg.inv(system), dtype=np.float64))
        point, pull = theta, np.zeros(len(B))
        scale = 1.0 + float(np.linalg.norm(B @ theta))
        for _ in range(ROUNDS):
            point = self._inverse[0] @ (theta + weight * B.T @ (inside - pull))
            moved = self.region.nearest(B @ point + pull)
            pull = pull + B @ point - moved
            gap = max(np.linalg.norm(B @ point - moved), np.linalg.norm(moved - inside))
            inside = moved
            if gap <= TOLERANCE * scale:
                break
        # Exactly onto the region, along the shortest way in theta.
        return np.asarray(point + np.linalg.lstsq(B, inside - B @ point, rcond=None)[0])
