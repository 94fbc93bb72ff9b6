"""The L2 penalty (l2 / 2)·‖B theta - prior‖² and its proximal step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SMALLEST_PULL = 1e-290
"""Below it, l2 · step changes nothing, and its inverse overflows."""


@dataclass(frozen=True)
class Ridge:
    """A quadratic penalty around a declared prior mean.

    `matrix` is B, from theta to the user's slopes. The penalty sees no record, so its gradient
    needs neither clip nor noise. The proximal step is stable for every l2.
    """

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
