"""Scores of generalised linear models with other links and laws, without privacy, by numpy and scipy alone.

A family is minus its log-likelihood as a function of the linear predictor z and the response y, and the first two
derivatives in z. All are linear in y, so that an expected response may stand for a drawn one.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from benchmarks.coverage.population import Family, Matrix

ALPHA = 1.0
"""The dispersion that `tacit.glm` takes by default, as statsmodels does."""
FARTHEST = 300.0
OTHERS: frozenset[str] = frozenset({"probit", "cloglog", "gamma", "negative-binomial"})


def minus_log_likelihood(family: Family, z: Matrix, y: Matrix) -> Matrix:
    """Up to what does not depend on z."""
    z = np.clip(z, -FARTHEST, FARTHEST)
    match family:
        case "gamma":
            return z + y * np.exp(-z)
        case "negative-binomial":
            return (y + 1 / ALPHA) * np.log1p(ALPHA * np.exp(z)) - y * z
        case "probit":
            return np.asarray(-y * special.log_ndtr(z) - (1 - y) * special.log_ndtr(-z))
    m = np.exp(np.minimum(z, 30.0))
    return np.asarray((1 - y) * m - y * np.log(-np.expm1(-m)))


def derivatives(family: Family, z: Matrix, y: Matrix) -> tuple[Matrix, Matrix]:
    """Minus the first derivative, and the second."""
    z = np.clip(z, -FARTHEST, FARTHEST)
    match family:
        case "gamma":
            ratio = y * np.exp(-z)
            return ratio - 1, ratio
        case "negative-binomial":
            m = np.exp(z)
            return (y - m) / (1 + ALPHA * m), m * (1 + ALPHA * y) / (1 + ALPHA * m) ** 2
        case "probit":
            density = -z * z / 2 - np.log(2 * np.pi) / 2
            one, zero = np.exp(density - special.log_ndtr(z)), np.exp(density - special.log_ndtr(-z))
            return y * one - (1 - y) * zero, y * one * (one + z) + (1 - y) * zero * (zero - z)
    m = np.exp(np.minimum(z, 30.0))
    one = m / np.expm1(m)
    return y * one - (1 - y) * m, y * one * (m / -np.expm1(-m) - 1) + (1 - y) * m


def level(family: Family, mean: float, offset: Matrix | float) -> float:
    """The intercept of a model without slopes."""
    inside = min(max(mean, 1e-4), 1 - 1e-4)
    match family:
        case "probit":
            return float(special.ndtri(inside))
        case "cloglog":
            return float(np.log(-np.log1p(-inside)))
    return float(np.log(max(mean, 1e-4) / np.mean(np.exp(offset))))
