"""How far one record can move a bounded-influence M-estimator, and how its curvature may change.

An M-estimator with row weights w = min(1, (C / ‖x‖)²) (Mallows) solves Σ w a x = 0, a the loss's
slope. One record's pull on the mean score and on its derivative is bounded by

    B   = sup ‖w a x‖    = C sup |a|
    B_H = sup ‖w h x x'‖ = C² sup h

since ‖w x‖ ≤ C and w‖x‖² ≤ C², and its influence M⁻¹ w a x by B / λ_min(M):

| loss | B | B_H |
|---|---|---|
| Huber, threshold c | c C | C² |
| smooth Huber, threshold c | c C | C² |
| logistic | C | C² / 4 |
| bounded Poisson, top rate t, dispersion α | at most ½(K + √(t + α t² + K²)) C | h_max C² |

with K = 2 max(1, √t), and h_max the largest curvature of its table. The weights depend on the
features alone, so they leave the mean score at zero wherever it is zero given the features.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy import integrate, special

from tacit.errors import SettingError
from tacit.losses.loss import Code, Loss
from tacit.losses.scale_consistency import expected_square

DENSITY = math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class Influence:
    """Bounds on one record's score and on its curvature, weights included: B and B_H."""

    score: float
    curvature: float

    def on_estimate(self, least_curvature: float) -> float:
        """Bound on the influence function, λ_min(M) being the least curvature (Hampel's γ*)."""
        if not least_curvature > 0:
            raise SettingError("The least curvature must be above 0.")
        return self.score / least_curvature


@dataclass(frozen=True)
class SelfConcordance:
    """The loss obeys |ρ'''| ≤ constant · (ρ'')^(power / 2) in its margin.

    Power 3 is Nesterov's; power 2 that of the logistic loss. Along x the constant grows by ‖x‖ at
    power 2 and not at all at power 3.
    """

    constant: float
    power: int


def influence(loss: Loss, row_bound: float) -> Influence:
    """B and B_H under row weights min(1, (C / ‖x‖)²), C = row_bound.

    Examples
    --------
    >>> from tacit.losses import huber
    >>> influence(huber.loss(1.345), row_bound=2.0)
    Influence(score=2.69, curvature=4.0)
    """
    if not row_bound > 0 or not math.isfinite(row_bound):
        raise SettingError("row_bound must be positive and finite.")
    if not math.isfinite(loss.lipschitz):
        raise SettingError(
            f"The {loss.name} loss has no bound on its slope, hence on an influence."
        )
    return Influence(loss.lipschitz * row_bound, loss.smoothness * row_bound**2)


def self_concordance(loss: Loss) -> SelfConcordance | None:
    """Constant and power; None for a loss whose curvature jumps.

    Logistic: ρ''' = ρ''(1 - 2p). Poisson: ρ''' = ρ''. Smooth Huber, q = √(1 + 4(r / c)²):
    (ρ''')² / (ρ'')³ = (2 / c²)(4 - 3 / q² - 1 / q³), which grows to 8 / c².

    Examples
    --------
    >>> from tacit.losses import logistic
    >>> self_concordance(logistic.LOSS)
    SelfConcordance(constant=1.0, power=2)
    """
    match loss.code:
        case Code.LOGISTIC | Code.POISSON:
            return SelfConcordance(1.0, 2)
        case Code.SMOOTH_HUBER:
            return SelfConcordance(math.sqrt(8.0) / loss.shape[0], 3)
        case Code.SQUARED:
            return SelfConcordance(0.0, 3)
    return None


def smooth_expected_square(threshold: float) -> float:
    """E ψ(Z)² of the smooth score, by quadrature; that of Huber is κ(c), `expected_square`."""
    c = _threshold(threshold)
    return _normal_mean(lambda r: _smooth_slope(r, c) ** 2)


def efficiency(threshold: float, *, smooth: bool = False) -> float:
    """Variance of the mean over that of the M-estimator, under normal errors: (E ψ')² / E ψ².

    Examples
    --------
    >>> round(efficiency(1.345), 3)
    0.95
    """
    c = _threshold(threshold)
    if smooth:
        # E ψ'(Z) = E Z ψ(Z), by parts.
        bent = _normal_mean(lambda r: r * _smooth_slope(r, c))
        return bent**2 / smooth_expected_square(c)
    return float(special.erf(c / math.sqrt(2))) ** 2 / expected_square(c)


def _smooth_slope(residual: float, c: float) -> float:
    v = residual / c
    return c * 2 * v / (1 + math.sqrt(1 + 4 * v * v))


def _normal_mean(of: Callable[[float], float]) -> float:
    found, _ = integrate.quad(lambda r: of(r) * math.exp(-r * r / 2) / DENSITY, 0.0, 40.0)
    return 2 * float(found)


def _threshold(threshold: float) -> float:
    if not threshold > 0:
        raise SettingError("A threshold is above 0.")
    return min(float(threshold), 1e6)
