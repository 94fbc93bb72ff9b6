"""Eigenvalues of a noisy symmetric matrix: denoised, raised to a floor, with a ridge."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tacit.solvers.coordinates import Matrix, Vector


@dataclass(frozen=True)
class Spectrum:
    """U v U' of a symmetric matrix: eigenvalues v, and eigenvectors as columns of U."""

    values: Vector
    vectors: Matrix

    @staticmethod
    def of(matrix: Matrix) -> Spectrum:
        """Decompose a matrix."""
        return Spectrum(*np.linalg.eigh(matrix))

    def with_values(self, values: Vector) -> Matrix:
        """Return U values U'."""
        return np.asarray((self.vectors * values) @ self.vectors.T)

    def denoised(self, noise: float) -> Vector:
        """Eigenvalues without symmetric Gaussian noise of a deviation s, not below zero.

        Rotation-invariant shrinkage: v_i - s² Σ_j (v_i - v_j) / ((v_i - v_j)² + 2 s²).
        """
        gaps = self.values[:, None] - self.values[None, :]
        push = np.sum(gaps / (gaps**2 + 2 * noise**2), axis=1)
        return np.asarray(np.maximum(0.0, self.values - noise**2 * push))


def noise_norm(noise: float, width: int, times: float = 1.0) -> float:
    """Return times·√(2d)·s: about the spectral norm of symmetric noise of deviation s."""
    return times * noise * math.sqrt(2 * width)


def whitening(moments: Matrix, ends: Sequence[int], kept: int, ridge: float) -> Matrix:
    """(kept, channel): the top eigenvectors of the blocks between `ends`, each over √(eigenvalue + ridge·mean)."""
    values, vectors = [], []
    for first, last in pairwise(ends):
        found, directions = np.linalg.eigh(moments[first:last, first:last])
        values.append(np.maximum(found, 0.0))
        vectors.append(np.pad(directions, ((first, len(moments) - last), (0, 0))))
    spectrum, basis = np.concatenate(values), np.concatenate(vectors, axis=1)
    top = np.argsort(-spectrum, kind="stable")[:kept]
    least = max(ridge * float(spectrum.mean()), 1e-12)
    return np.ascontiguousarray((basis[:, top] / np.sqrt(spectrum[top] + least)).T)
