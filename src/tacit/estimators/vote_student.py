"""A student of noised votes: it smooths them over public rows, and so takes most of their noise off.

The votes for a class, as shares of the teachers, are taken for a Gaussian process over the rows with noise of a known
deviation. Its length and variance maximise the likelihood of the votes. All of this is computed from public rows and
released votes, so it costs nothing.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import euclidean_distances

LENGTHS = (0.25, 0.4, 0.6, 1.0, 1.6)
"""Lengths that are tried, in units of the median distance between rows."""
VARIANCES = (0.02, 0.06, 0.2)
"""Variances of the shares that are tried."""
Floats = NDArray[np.float64]


class VoteStudent(BaseEstimator):
    """A Gaussian process over public rows for each class's share of the votes.

    Parameters
    ----------
    noise
        Standard deviation of the noise of a share.
    """

    def __init__(self, noise: float = 0.1) -> None:
        self.noise = noise

    def fit(self, X: Floats, shares: Floats) -> Self:
        """Fit noised shares (row, class)."""
        self.rows_ = np.asarray(X, dtype=np.float64)
        self.centre_ = 1.0 / shares.shape[1]
        squares = euclidean_distances(self.rows_, squared=True)
        self.unit_ = float(np.median(squares[np.triu_indices(len(squares), 1)])) or 1.0
        target = shares - self.centre_
        best = -np.inf
        for length in LENGTHS:
            kernel = self._kernel(squares, length)
            eigenvalues, vectors = np.linalg.eigh(kernel)
            rotated = vectors.T @ target
            for variance in VARIANCES:
                spread = variance * np.maximum(eigenvalues, 0.0) + self.noise**2 + 1e-9
                fit = -0.5 * ((rotated**2).sum(axis=1) / spread + shares.shape[1] * np.log(spread)).sum()
                if fit > best:
                    best, self.length_ = fit, length
                    self.weights_ = vectors @ (variance * rotated / spread[:, None])
        return self

    def _kernel(self, squares: Floats, length: float) -> Floats:
        return np.asarray(np.exp(-squares / (2 * length**2 * self.unit_)))

    def predict(self, X: Floats) -> NDArray[np.int64]:
        """The class with the largest smoothed share."""
        squares = euclidean_distances(np.asarray(X, dtype=np.float64), self.rows_, squared=True)
        return np.asarray((self._kernel(squares, self.length_) @ self.weights_).argmax(axis=1))
