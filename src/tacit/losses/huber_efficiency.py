"""The threshold of the smooth Huber loss at which sampling error and privacy noise are least.

With the score ψ_c of errors Z ~ N(0, 1), h(c) = E ψ_c'(Z) and a(c) = E ψ_c(Z)², the variance of a
coefficient is proportional to (a(c) + ν c²) / h(c)². Here ν c² is the variance of the noise that
protects a score within ±c. Without noise a large c is best. With noise alone c / h(c) counts: it
falls from 2.29 at c = 1.345 to √(π/2) = 1.25 as c → 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SMALLEST, STEPS = 0.3, 40
"""Smallest threshold as a share of the largest, and how many thresholds are compared."""
_ERRORS = np.linspace(-8.0, 8.0, 1601)
_LAW = np.exp(-(_ERRORS**2) / 2) / np.exp(-(_ERRORS**2) / 2).sum()


def expected_curvature(threshold: float) -> float:
    """Return h(c), the mean curvature of the smooth Huber loss under normal errors.

    Examples
    --------
    >>> round(expected_curvature(1.345), 4)
    0.5889
    """
    return float(_LAW @ (2.0 / (_root(threshold) * (1.0 + _root(threshold)))))


def variance(threshold: float, noise: float) -> float:
    """Return (a(c) + ν c²) / h(c)²."""
    score = 2.0 * _ERRORS / (1.0 + _root(threshold))
    return (float(_LAW @ score**2) + noise * threshold**2) / expected_curvature(threshold) ** 2


def best_threshold(noise: float, largest: float) -> float:
    """Return the c between 0.3 and 1 times the largest at which the variance is least."""
    thresholds = largest * np.linspace(1.0, SMALLEST, STEPS)
    return min((float(c) for c in thresholds), key=lambda c: variance(c, noise))


def _root(threshold: float) -> NDArray[np.float64]:
    return np.asarray(np.sqrt(1.0 + 4.0 * (_ERRORS / threshold) ** 2))
