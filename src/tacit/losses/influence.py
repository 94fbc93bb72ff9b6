"""Bounds on one record's influence, self-concordance and efficiency of the losses.

With row weights w = min(1, (C / ‖x‖)²) (Mallows), one record's score and curvature are bounded by

    B   = sup ‖w a x‖    = C sup |a|,     a the slope
    B_H = sup ‖w h x x'‖ = C² sup h,      h the curvature

and its influence M⁻¹ w a x on the estimate by B / λ_min(M). docs/losses.md has the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import integrate, special

from tacit.errors import SettingError
from tacit.losses.huber_constants import expected_square
from tacit.losses.loss import Code, Loss
from tacit.validate import positive


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
        raise SettingError(
            f"The {loss.name} loss has no bound on its slope, hence on an influence."
        )
    return Influence(loss.lipschitz * C, loss.smoothness * C**2)


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
    half, _ = integrate.quad(lambda r: function(r) * math.exp(-r * r / 2), 0.0, 40.0)
    return 2 * float(half) / math.sqrt(2 * math.pi)
