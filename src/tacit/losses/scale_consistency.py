"""Consistency constant of Huber's scale estimate under normal errors.

    κ(c) = E min(Z², c²) = (2Φ(c) - 1) - 2c φ(c) + 2c²(1 - Φ(c)),   Z standard normal

The scale s of residuals r solves mean min(r²/s², c²) = κ(c). If the errors have the standard
deviation ρ·s instead, the mean is ρ²κ(c/ρ). It rises in ρ from 0 to c², so it determines ρ.
"""

from __future__ import annotations

import math

HALVINGS = 40


def expected_square(threshold: float) -> float:
    """Return κ(c) = E min(Z², c²).

    Examples
    --------
    >>> round(expected_square(1.345), 7)
    0.7101645
    """
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
