"""The L2 penalty (l2 / 2)·‖B theta - prior‖² and its proximal step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALLEST_PULL = 1e-290
"""A penalty times a step below it moves nothing, and has no inverse among floats."""


@dataclass(frozen=True)
class Ridge:
    """A quadratic penalty around a declared prior mean.

    `matrix` is B, from the coordinates of theta to the user's slopes. The penalty sees no record,
    so its gradient needs neither clip nor noise, and the implicit step is stable for every l2.
    """

    l2: float
    matrix: NDArray[np.float64]
    prior: NDArray[np.float64]

    def proximal(self, theta: NDArray[np.float64], step: float) -> NDArray[np.float64]:
        """Return the argmin over t of ½‖t - theta‖² + step·penalty(t)."""
        if not step * self.l2 > SMALLEST_PULL:
            return theta
        # By the matrix inversion lemma, which stays solvable however heavy the penalty is.
        B = self.matrix
        system = np.eye(len(B)) / (step * self.l2) + B @ B.T
        return np.asarray(theta + B.T @ np.linalg.solve(system, self.prior - B @ theta))

    def gradient(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the slope of the penalty."""
        return self.l2 * self.matrix.T @ (self.matrix @ theta - self.prior)

    def curvature(self) -> NDArray[np.float64]:
        """Return the second derivative of the penalty."""
        return self.l2 * self.matrix.T @ self.matrix
