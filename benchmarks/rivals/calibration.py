"""Exact Gaussian calibration in floats: δ(ε) of μ-GDP, and the μ that a budget allows."""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import log_ndtr


def delta_of(epsilon: float, mu: float) -> float:
    """δ = Φ(-ε/μ + μ/2) - e^ε Φ(-ε/μ - μ/2)."""
    first = log_ndtr(-epsilon / mu + mu / 2)
    second = epsilon + log_ndtr(-epsilon / mu - mu / 2)
    return float(math.exp(first) * -math.expm1(min(0.0, second - first)))


def mu_of(epsilon: float, delta: float) -> float:
    """Largest μ with δ(ε) ≤ δ."""
    if epsilon <= 0:
        raise ValueError("mu_of needs a positive epsilon")

    def excess(mu: float) -> float:
        return delta_of(epsilon, mu) - delta

    upper = 1.0
    while excess(upper) < 0:
        upper *= 2
    return float(brentq(excess, 1e-9, upper, xtol=1e-14, rtol=1e-12))
