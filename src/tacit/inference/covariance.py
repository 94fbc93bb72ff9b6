"""Variance of any linear combination of coefficients, from sampling and from privacy noise.

A combination c of the user's coefficients is a combination u = M⁻¹A'c' of the score, A the map from
working coefficients to the user's. s is the error of each coefficient that is due to an estimated
nuisance parameter. The variance of c, and the degrees of freedom of its estimate, are

    V = σ²‖u‖² + (c·s)² + max(u'Q u, ½ s_Q‖u‖²) / (n - d)
    1/ν = s_Q²‖u‖⁴ / (2 V²(n - d)²) + 1 / (n - d)

and, where the noise of M is not small, 1/ν grows by s_M²(‖u‖²‖b‖² + (u·b)²) / V² with
b = M⁻¹(Q / (n - d) + σ² I)u: the safe degrees. Where many noisy steps were taken, σ² I is M C M
with the covariance C that their noise leaves in the working coefficients. Where nothing is private
V is the sandwich HC0 and ν is infinite. How they were measured: docs/inference.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.contract.release import Release, Sandwich

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Scatter:
    """Variances of some combinations, by where they come from, and their degrees of freedom."""

    sampling: Vector
    privacy: Vector
    degrees: Vector


@dataclass(frozen=True)
class Covariance:
    """What variances of combinations are made of.

    `directions` are the columns u of the coefficients, `nuisance_errors` is s, `spare` is n - d,
    and `safe` says that the noise of the curvature is propagated.
    """

    sandwich: Sandwich
    directions: Matrix
    nuisance_errors: Vector
    spare: float
    private: bool
    safe: bool

    @classmethod
    def of(cls, sandwich: Sandwich, release: Release, *, safe: bool) -> Covariance:
        """Covariance of a release that paid for its sandwich."""
        plan = release.plan
        directions = _solved(sandwich.curvature, sandwich.to_user.T)
        errors = np.broadcast_to(np.asarray(sandwich.nuisance_error, float), (directions.shape[1],))
        spare = max(plan.records - plan.design.width, 1) if plan.private else plan.records
        return cls(sandwich, directions, errors, float(spare), plan.private, safe)

    def scatter(self, combinations: Matrix) -> Scatter:
        """Variances and degrees of freedom of combinations, one a row."""
        sandwich, U = self.sandwich, self.directions @ combinations.T
        lengths = np.einsum("ij,ij->j", U, U)
        sampling = np.einsum("ij,ik,kj->j", U, sandwich.score, U)
        sampling = np.maximum(sampling, sandwich.score_noise * lengths / 2) / self.spare
        privacy = np.einsum("ij,ik,kj->j", U, self._step_part(), U)
        privacy = privacy + np.square(combinations @ self.nuisance_errors)
        if not self.private:
            return Scatter(np.maximum(sampling, 0.0), privacy, np.full(len(lengths), math.inf))
        variance = np.maximum(sampling + privacy, np.finfo(float).tiny)
        relative = sandwich.score_noise * lengths / (variance * self.spare)
        inverse = np.square(relative) / 2 + 1 / self.spare
        if self.safe:
            inverse = inverse + self._curvature_part(U, lengths) / variance**2
        return Scatter(sampling, privacy, 1 / inverse)

    def covariance(self, *, sampling_only: bool = False) -> Matrix:
        """Covariance of all coefficients; its diagonal holds the variances of `scatter`."""
        everyone = np.eye(self.directions.shape[1])
        found = self.scatter(everyone)
        sampling = self.directions.T @ self.sandwich.score @ self.directions / self.spare
        total = sampling if sampling_only else sampling + self._privacy(everyone)
        total = (total + total.T) / 2
        np.fill_diagonal(total, found.sampling + (0.0 if sampling_only else found.privacy))
        return total

    def joint(self, combinations: Matrix) -> Matrix:
        """Covariance of combinations, no direction among them below the floor of `scatter`.

        The floor ½ s_Q‖u‖² is taken in every direction at once: S is raised to at least L, both
        being forms on the combinations, by the eigenvalues of L^-½ S L^-½.
        """
        U = self.directions @ combinations.T
        sampling = U.T @ self.sandwich.score @ U
        if self.sandwich.score_noise > 0:
            least, vectors = np.linalg.eigh(self.sandwich.score_noise / 2 * (U.T @ U))
            root = np.sqrt(np.maximum(least, np.finfo(float).tiny))
            inner = (vectors / root).T @ sampling @ (vectors / root)
            values, axes = np.linalg.eigh((inner + inner.T) / 2)
            back = vectors @ (root[:, None] * axes)
            sampling = (back * np.maximum(values, 1.0)) @ back.T
        total = sampling / self.spare + self._privacy(combinations)
        return np.asarray((total + total.T) / 2)

    def _privacy(self, combinations: Matrix) -> Matrix:
        U, shifts = self.directions @ combinations.T, combinations @ self.nuisance_errors
        return np.asarray(U.T @ self._step_part() @ U + np.outer(shifts, shifts))

    def _step_part(self) -> Matrix:
        """Noise on the gradient of one step that would scatter as the steps that were taken do."""
        sandwich = self.sandwich
        if sandwich.privacy is None:
            return sandwich.step_noise**2 * np.eye(len(sandwich.curvature))
        return np.asarray(sandwich.curvature @ sandwich.privacy @ sandwich.curvature)

    def _curvature_part(self, U: Matrix, lengths: Vector) -> Vector:
        sandwich = self.sandwich
        middle = sandwich.score / self.spare + self._step_part()
        B = _solved(sandwich.curvature, middle @ U)
        products = np.einsum("ij,ij->j", U, B)
        squares = np.einsum("ij,ij->j", B, B)
        return np.asarray(sandwich.curvature_noise**2 * (lengths * squares + products**2))


def relative_noise(sandwich: Sandwich) -> float:
    """√(2d)·s_M over the smallest eigenvalue of M: how much of the curvature is noise."""
    smallest = float(np.linalg.eigvalsh(sandwich.curvature).min())
    noise_norm = math.sqrt(2 * len(sandwich.curvature)) * sandwich.curvature_noise
    if noise_norm == 0.0:
        return 0.0
    return noise_norm / smallest if smallest > 0 else math.inf


def _solved(matrix: Matrix, right: Matrix) -> Matrix:
    """M⁻¹ times a matrix; of many solutions the shortest, so that no design fails."""
    return np.asarray(np.linalg.lstsq(matrix, right, rcond=1e-13)[0], float)
