"""Constants of losses: bounds on one record's influence, self-concordance, Huber's scores.

Influence: with row weights w = min(1, (C / ‖x‖)²) (Mallows), one record's score and curvature are bounded by

    B   = sup ‖w a x‖    = C sup |a|,     a the slope
    B_H = sup ‖w h x x'‖ = C² sup h,      h the curvature

and its influence M⁻¹ w a x on the estimate by B / λ_min(M). docs/losses.md has the table.

Scale, for normal errors Z: κ(c) = E min(Z², c²) = (2Φ(c) - 1) - 2c φ(c) + 2c²(1 - Φ(c)). The
scale s of residuals r solves mean min(r²/s², c²) = κ(c). If the errors have the standard deviation
ρ·s instead, the mean is ρ²κ(c/ρ). It rises in ρ from 0 to c², so it determines ρ.

Threshold of the smooth loss: with its score ψ_c, h(c) = E ψ_c'(Z) and a(c) = E ψ_c(Z)², the
variance of a coefficient is proportional to (a(c) + ν c²) / h(c)². Here ν c² is the variance of the
noise that protects a score within ±c. Without noise a large c is best. With noise alone c / h(c)
counts: it falls from 2.29 at c = 1.345 to √(π/2) = 1.25 as c → 0.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.errors import SettingError
from tacit.losses.loss import Code, Loss
from tacit.validate import positive

HALVINGS = 40
SMALLEST, STEPS = 0.3, 40
"""Smallest threshold as a share of the largest, and how many thresholds are compared."""
_ERRORS = np.linspace(-8.0, 8.0, 1601)
_LAW = np.exp(-(_ERRORS**2) / 2) / np.exp(-(_ERRORS**2) / 2).sum()


@dataclass(frozen=True)
class Influence:
    """Bounds on one record's score and on its curvature, weights included: B and B_H."""

    score: float
    curvature: float

    def on_estimate(self, least_curvature: float) -> float:
        """Bound on the influence function (Hampel's γ*): B / λ_min(M)."""
        return self.score / positive("least_curvature", least_curvature)


@dataclass(frozen=True)
class SelfConcordance:
    """The loss obeys |ρ'''| ≤ constant · (ρ'')^(power / 2) in its margin."""

    constant: float
    power: int


def influence(loss: Loss, row_bound: float) -> Influence:
    """B and B_H under row weights min(1, (C / ‖x‖)²), C = row_bound."""
    C = positive("row_bound", row_bound)
    if not math.isfinite(loss.lipschitz):
        raise SettingError(f"The {loss.name} loss has no bound on its slope, hence on an influence.")
    return Influence(loss.lipschitz * C, loss.smoothness * C**2)


def largest_at_zero(loss: Loss, classes: int = 1) -> float:
    """Largest value of a loss at margin 0, for responses within [-1, 1] or the labels of its classes."""
    first, second = loss.shape[0], loss.shape[1]
    match loss.code:
        case Code.LOGISTIC:
            return math.log(2)
        case Code.SOFTMAX:
            return math.log(classes)
        case Code.HUBER:
            return 0.5 if first >= 1.0 else first - 0.5 * first * first
        case Code.HINGE:
            return 1.0 if first <= 1.0 else (1.0 + first) ** 2 / (4.0 * first)
        case Code.PINBALL:
            return max(first, 1.0 - first) * (1.0 + second)
    raise SettingError(f"The {loss.name} loss has no known bound at margin 0.")


def self_concordance(loss: Loss) -> SelfConcordance | None:
    """Constant and power, derived in docs/losses.md; None for a loss whose curvature jumps."""
    match loss.code:
        case Code.LOGISTIC | Code.POISSON:
            return SelfConcordance(1.0, 2)
        case Code.SMOOTH_HUBER:
            return SelfConcordance(math.sqrt(8.0) / loss.shape[0], 3)
        case Code.SQUARED:
            return SelfConcordance(0.0, 3)
    return None


def efficiency(threshold: float, *, smooth: bool = False) -> float:
    """Variance of the mean over that of the M-estimator, under normal errors: (E ψ')² / E ψ²."""
    if not threshold > 0:
        raise SettingError("A threshold is above 0.")
    c = min(float(threshold), 1e6)
    if not smooth:
        return float(special.erf(c / math.sqrt(2))) ** 2 / expected_square(c)

    def score(r: float) -> float:
        return 2 * r / (1 + math.sqrt(1 + 4 * (r / c) ** 2))

    # E ψ'(Z) = E Z ψ(Z), by parts.
    return _normal_mean(lambda r: r * score(r)) ** 2 / _normal_mean(lambda r: score(r) ** 2)


def _normal_mean(function: Callable[[float], float]) -> float:
    """E f(Z) of an even function."""
    from scipy import integrate

    half, _ = integrate.quad(lambda r: function(r) * math.exp(-r * r / 2), 0.0, 40.0)
    return 2 * float(half) / math.sqrt(2 * math.pi)


def expected_square(threshold: float) -> float:
    """Return κ(c) = E min(Z², c²)."""
    c = threshold
    density = math.exp(-c * c / 2) / math.sqrt(2 * math.pi)
    inside = math.erf(c / math.sqrt(2.0)) - 2 * c * density
    return max(inside, 0.0) + c * c * math.erfc(c / math.sqrt(2.0))


def square_slope(threshold: float) -> float:
    """Return the derivative of ρ²κ(c/ρ) in log ρ at ρ = 1: 2 E Z² 1(|Z| < c)."""
    c = threshold
    return 2 * (expected_square(c) - c * c * math.erfc(c / math.sqrt(2.0)))


def explaining_ratio(seen: float, threshold: float, low: float, high: float) -> float:
    """Return the ρ in [low, high] with ρ²κ(c/ρ) = seen, by bisection; any `seen` is allowed."""
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        is_below = middle**2 * expected_square(threshold / middle) < seen
        low, high = (middle, high) if is_below else (low, middle)
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
