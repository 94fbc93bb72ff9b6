"""Constants of Huber's scores under normal errors Z: scale consistency and the best threshold.

Scale: κ(c) = E min(Z², c²) = (2Φ(c) - 1) - 2c φ(c) + 2c²(1 - Φ(c)). The scale s of residuals r
solves mean min(r²/s², c²) = κ(c). If the errors have the standard deviation ρ·s instead, the mean
is ρ²κ(c/ρ). It rises in ρ from 0 to c², so it determines ρ.

Threshold of the smooth loss: with its score ψ_c, h(c) = E ψ_c'(Z) and a(c) = E ψ_c(Z)², the
variance of a coefficient is proportional to (a(c) + ν c²) / h(c)². Here ν c² is the variance of the
noise that protects a score within ±c. Without noise a large c is best. With noise alone c / h(c)
counts: it falls from 2.29 at c = 1.345 to √(π/2) = 1.25 as c → 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

HALVINGS = 40
SMALLEST, STEPS = 0.3, 40
"""Smallest threshold as a share of the largest, and how many thresholds are compared."""
_ERRORS = np.linspace(-8.0, 8.0, 1601)
_LAW = np.exp(-(_ERRORS**2) / 2) / np.exp(-(_ERRORS**2) / 2).sum()


def expected_square(threshold: float) -> float:
    """Return κ(c) = E min(Z², c²)."""
    c = threshold
    outside = math.erfc(c / math.sqrt(2.0))
    density = math.exp(-c * c / 2) / math.sqrt(2 * math.pi)
    inside = math.erf(c / math.sqrt(2.0)) - 2 * c * density
    return max(inside, 0.0) + c * c * outside


def square_slope(threshold: float) -> float:
    """Return the derivative of ρ²κ(c/ρ) in log ρ at ρ = 1: 2 E Z² 1(|Z| < c)."""
    c = threshold
    return 2 * (expected_square(c) - c * c * math.erfc(c / math.sqrt(2.0)))


def explaining_ratio(seen: float, threshold: float, low: float, high: float) -> float:
    """Return the ρ in [low, high] with ρ²κ(c/ρ) = seen, by bisection; any `seen` is allowed."""
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if middle**2 * expected_square(threshold / middle) < seen:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def expected_curvature(threshold: float) -> float:
    """Return h(c), the mean curvature of the smooth Huber loss."""
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
