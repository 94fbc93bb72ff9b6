"""Variance of any linear combination of coefficients where nothing is private: the sandwich HC0.

A combination c of the user's coefficients is a combination u = M⁻¹A'c' of the score, A the map from
working coefficients to the user's. Its variance is u'Q u / n, and its law is normal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.contract.release import Sandwich
from tacit.solvers.coordinates import Matrix, Vector


@dataclass(frozen=True)
class Scatter:
    """Variances of some combinations, by where they come from, and their degrees of freedom."""

    sampling: Vector
    privacy: Vector
    degrees: Vector


@dataclass(frozen=True)
class Covariance:
    """What variances of combinations are made of: columns u of the coefficients, Q and n."""

    directions: Matrix
    score: Matrix
    records: int

    @classmethod
    def of(cls, sandwich: Sandwich, records: int) -> Covariance:
        """Covariance of a fit without noise."""
        # Of many solutions the shortest, so that no design fails.
        directions = np.linalg.lstsq(sandwich.curvature, sandwich.to_user.T, rcond=1e-13)[0]
        return cls(np.asarray(directions, float), sandwich.score, records)

    def scatter(self, combinations: Matrix) -> Scatter:
        """Variances and degrees of freedom of combinations, one a row."""
        U = self.directions @ combinations.T
        sampling = np.einsum("ij,ik,kj->j", U, self.score, U) / self.records
        count = len(combinations)
        return Scatter(np.maximum(sampling, 0.0), np.zeros(count), np.full(count, math.inf))

    def covariance(self, *, sampling_only: bool = False) -> Matrix:
        """Covariance of all coefficients, which is sampling only."""
        del sampling_only
        everyone = np.eye(self.directions.shape[1])
        total = self.joint(everyone)
        np.fill_diagonal(total, self.scatter(everyone).sampling)
        return total

    def joint(self, combinations: Matrix) -> Matrix:
        """Covariance of combinations."""
        U = self.directions @ combinations.T
        total = U.T @ self.score @ U / self.records
        return np.asarray((total + total.T) / 2)


def correlation_axes(joint: Matrix) -> tuple[Vector, Vector, Matrix]:
    """Standard errors, eigenvalues of the correlations, and their eigenvectors, of a covariance or of a stack."""
    scale = np.sqrt(np.maximum(np.diagonal(joint, axis1=-2, axis2=-1), np.finfo(float).tiny))
    values, axes = np.linalg.eigh(joint / (scale[..., :, None] * scale[..., None, :]))
    # Of a singular design a direction may have no variance: it counts as one with hardly any.
    return scale, np.maximum(values, 1e-12), axes
