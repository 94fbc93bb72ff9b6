"""Simulated features with given means and covariances, in which 0/1 columns of one factor exclude each other."""

from __future__ import annotations

import numpy as np
from scipy import special

from tacit.planning.row_sums import Matrix, Vector

BINARY = 0.02
"""Relative difference of a variance from p(1 - p) up to which a column of mean p is taken for a 0/1 column."""
TOGETHER = 0.1
"""Two 0/1 columns belong to one factor if they are 1 together less than this part of what independence gives."""
ROUNDS, TURNS, LEARNED = 8, 25, 0.8
"""Corrections of the latent correlations, of the offsets of levels, and the part of a difference made up each time."""


def rows_with_moments(mean: Vector, covariance: Matrix, count: int, generator: np.random.Generator) -> Matrix:
    """Features with these means and, roughly, these covariances.

    A latent normal vector is drawn. A numeric column is its entry, scaled. Neighbouring 0/1 columns that exclude each
    other are one factor: the level with the largest entry, by offsets that give every level its share. Where levels
    weaken a correlation, the latent one is raised until the rows have what was given.
    """
    deviation = np.sqrt(np.maximum(np.diag(covariance), 1e-12))
    target = covariance / np.outer(deviation, deviation)
    factors = factors_of(mean, covariance)
    inside = np.eye(len(mean), dtype=bool)
    for levels in factors:
        inside[np.ix_(levels, levels)] = True
    normal, latent = generator.standard_normal((count, len(mean))), target.copy()
    for turn in range(ROUNDS):
        values, axes = np.linalg.eigh((latent + latent.T) / 2)
        root = axes * np.sqrt(np.maximum(values, 1e-6))
        entries = normal @ root.T / np.sqrt((root**2).sum(axis=1))
        features = mean + entries * deviation
        for levels in factors:
            features[:, levels] = _levels(entries[:, levels], mean[levels])
        if turn + 1 < ROUNDS:
            spread = np.maximum(features.std(axis=0), 1e-9)
            found = np.cov(features.T, ddof=0).reshape(target.shape) / np.outer(spread, spread)
            latent = latent + LEARNED * np.where(inside, 0.0, target - found)
    return np.asarray(features)


def factors_of(mean: Vector, covariance: Matrix) -> list[list[int]]:
    """Neighbouring 0/1 columns that exclude each other, as lists of their places."""
    variance, chance = np.diag(covariance), np.clip(mean, 0.0, 1.0)
    binary = np.abs(variance - chance * (1 - chance)) <= BINARY * np.maximum(variance, 1e-12)
    binary &= (mean > 0) & (mean < 1)
    together = covariance + np.outer(mean, mean)
    found: list[list[int]] = []
    for j in np.flatnonzero(binary).tolist():
        last = found[-1] if found else []
        apart = all(together[j, i] <= TOGETHER * mean[i] * mean[j] for i in last)
        if last and last[-1] == j - 1 and apart and mean[last].sum() + mean[j] <= 1 + BINARY:
            last.append(j)
        else:
            found.append([j])
    return found


def _levels(entries: Matrix, shares: Vector) -> Matrix:
    """Indicators of the level with the largest entry plus offset; none of them where the shares leave some."""
    rest = 1.0 - shares.sum()
    if rest > BINARY / 2:
        entries = np.column_stack([entries, np.zeros(len(entries))])
        shares = np.append(shares, rest)
    shares = shares / shares.sum()
    offsets = special.ndtri(np.clip(shares, 1e-6, 1 - 1e-6))
    for _ in range(TURNS):
        found = np.bincount((entries + offsets).argmax(axis=1), minlength=len(shares)) / len(entries)
        offsets = offsets + 0.5 * np.log((shares + 1e-5) / (found + 1e-5))
    chosen = (entries + offsets).argmax(axis=1)
    count = entries.shape[1] - (rest > BINARY / 2)
    return np.asarray(chosen[:, None] == np.arange(count), float)
