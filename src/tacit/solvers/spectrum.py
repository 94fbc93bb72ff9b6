"""Eigenvalues of a noisy symmetric matrix: denoised, raised to a floor, with a ridge."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from threadpoolctl import ThreadpoolController

from tacit.solvers.coordinates import Matrix, Vector

MANY = 192
"""Rows from which a decomposition has one thread: with more, BLAS waits for the slowest, on a busy machine for long."""


@functools.cache
def _blas() -> ThreadpoolController:
    """The loaded BLAS libraries; looking for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def one_thread(width: int) -> AbstractContextManager[object]:
    """Linear algebra of wide matrices in one thread."""
    return _blas().limit(limits=1, user_api="blas") if width >= MANY else nullcontext()


@dataclass(frozen=True)
class Spectrum:
    """U v U' of a symmetric matrix: eigenvalues v, and eigenvectors as columns of U."""

    values: Vector
    vectors: Matrix

    @staticmethod
    def of(matrix: Matrix) -> Spectrum:
        """Decompose a matrix."""
        with one_thread(len(matrix)):
            return Spectrum(*np.linalg.eigh(matrix))

    @staticmethod
    def beside_constant(matrix: Matrix, count: float) -> Spectrum:
        """Decompose all but the last row and column; the last direction is that of the constant, of a known value."""
        inner = Spectrum.of(matrix[:-1, :-1])
        vectors = np.zeros_like(matrix)
        vectors[:-1, :-1], vectors[-1, -1] = inner.vectors, 1.0
        return Spectrum(np.append(inner.values, count), vectors)

    def with_values(self, values: Vector) -> Matrix:
        """Return U values U'."""
        return np.asarray((self.vectors * values) @ self.vectors.T)

    def triangular_root(self, values: Vector) -> tuple[Matrix, Matrix]:
        """Lower triangular L with L L' = U values U', and L' U / √values: a rotation of the eigenvectors.

        Cholesky's factor in place of a root and of its triangular form takes a tenth of the time.
        """
        with one_thread(len(values)):
            lower = np.linalg.cholesky(self.with_values(values))
            return np.asarray(lower, dtype=np.float64), np.asarray(lower.T @ (self.vectors / np.sqrt(values)))

    def denoised(self, noise: float) -> Vector:
        """Eigenvalues without symmetric Gaussian noise of a deviation s, not below zero.

        Rotation-invariant shrinkage: v_i - s² Σ_j (v_i - v_j) / ((v_i - v_j)² + 2 s²).
        """
        push = np.empty_like(self.values)
        for number, value in enumerate(self.values):
            gaps = value - self.values
            push[number] = np.sum(gaps / (gaps**2 + 2 * noise**2))
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
