"""Coefficients of several classes as one vector of contrasts: what all classes share is left out.

Coefficients θ (width, class) that add up to 0 over the classes are θ = Ψ B', with the columns of B
orthogonal to 1 and to each other, B'B = ½ I. For two classes Ψ would be the log odds of the second:
a record's gradient in Ψ is at most ‖z‖ long and its curvature at most ¼ z z', as those of two labels
are, so that rules in units of log odds hold for any number of classes. The vector is Ψ contrast
after contrast, and noise that is white on θ is white on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.contract.plan import Plan
from tacit.contract.query import Answer
from tacit.solvers.coordinates import Matrix, Vector


@dataclass(frozen=True)
class Predictors:
    """One linear predictor, whose coefficients are a vector already, or one a class, with B."""

    basis: Matrix | None = None

    @classmethod
    def of(cls, plan: Plan) -> Predictors:
        """Those of a plan's design, each contrast a class against the mean of those before it."""
        classes = plan.design.outputs
        if classes == 1:
            return cls()
        steps = np.arange(1.0, classes)
        basis = np.triu(np.full((classes, classes - 1), -1.0))
        basis[np.arange(1, classes), np.arange(classes - 1)] = steps
        return cls(basis / np.sqrt(2 * steps * (steps + 1)))

    def flat(self, theta: Vector) -> Vector:
        """The vector of coefficients."""
        return theta if self.basis is None else np.asarray(2 * (theta @ self.basis).T.ravel())

    def shaped(self, flat: Vector) -> Vector:
        """Coefficients as queries take them."""
        if self.basis is None:
            return flat
        return np.asarray(flat.reshape(self.basis.shape[1], -1).T @ self.basis.T)

    def gradient(self, answer: Answer) -> Answer:
        """A gradient by the vector."""
        if self.basis is None:
            return answer
        return Answer((answer.value @ self.basis).T.ravel(), answer.noise_scale / math.sqrt(2.0))

    def matrices(self, answer: Answer) -> Answer:
        """Curvature or score by the vector, or both stacked."""
        if self.basis is None:
            return answer
        wide = np.kron(self.basis, np.eye(answer.value.shape[-1] // len(self.basis)))
        return Answer(wide.T @ answer.value @ wide, answer.noise_scale / 2)

    def to_user(self, matrix: Matrix) -> Matrix:
        """From the vector to the user's coefficients, class after class; `matrix` is that of one class."""
        return matrix if self.basis is None else np.asarray(np.kron(self.basis, matrix), dtype=np.float64)
