"""Error bounds of private learning as functions of public facts, with their proofs in docs/theory/bounds.md.

Losses are means over n records. c = Δ / μ is the noise for each unit of budget, with Δ = 2C/n where a record is
replaced and C/n otherwise, C a bound on a record's gradient. T steps at a total of μ have noise c√T each. Bounds hold
for every table; a forecast (`forecast.py`) is what to expect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize, special

from tacit.privacy.relation import Relation
from tacit.validate import positive

SPARE = 0.25
"""κ of T = C²/(κ d c²): the optimisation term is then a quarter of the privacy term, under the root."""
RANK_TOLERANCE = 1e-10
"""Singular values below this part of the largest are taken for 0."""


@dataclass(frozen=True)
class NoisyDescent:
    """Noisy gradient descent: n records, d coordinates (or a public bound on the rank), a total of μ, gradients ≤ C."""

    n: int
    d: int
    mu: float
    gradient: float = 1.0
    relation: Relation = Relation.REPLACE_ONE

    def __post_init__(self) -> None:
        for name in ("n", "d", "mu", "gradient"):
            positive(name, getattr(self, name))

    @property
    def noise(self) -> float:
        """C = Δ / μ, on the scale of the mean loss."""
        factor = 2.0 if self.relation is Relation.REPLACE_ONE else 1.0
        return factor * self.gradient / (self.n * self.mu)

    def lipschitz(self, radius: float, steps: int) -> float:
        """Average iterate of projected descent on a ball (Theorem 1): R √(C²/T + d c²) at the best step size."""
        return radius * math.sqrt(self.gradient**2 / steps + self.d * self.noise**2)

    def lipschitz_step_size(self, radius: float, steps: int) -> float:
        """η = R / (√T √(C² + d c² T))."""
        return radius / math.sqrt(steps * (self.gradient**2 + self.d * self.noise**2 * steps))

    def lipschitz_steps(self, spare: float = SPARE) -> int:
        """T = ⌈C² / (κ d c²)⌉: more steps gain at most κ/2 of the bound."""
        return math.ceil(self.gradient**2 / (spare * self.d * self.noise**2))

    def rank(self, norm: float, steps: int, rank: int) -> float:
        """Unconstrained average for a scalar link: ‖θ*‖_M √(C²/T + c² rank M), M the projector on the span of rows."""
        return norm * math.sqrt(self.gradient**2 / steps + rank * self.noise**2)

    def smooth(self, radius: float, smoothness: float, time: float | None = None) -> float:
        """Average of θ_1 … θ_T for a β-smooth loss: R²/(2s) + (1 + ηβ)/2·s d c², s = ηT and η = s / T ≤ 1/β.

        At the best s = R / (c√(2d)) and η = 1/β it is √2·R c √d.
        """
        s = self.smooth_time(radius) if time is None else time
        steps = self.smooth_steps(radius, smoothness) if time is None else math.ceil(smoothness * s)
        return radius**2 / (2 * s) + (1 + s / steps * smoothness) / 2 * s * self.d * self.noise**2

    def smooth_time(self, radius: float) -> float:
        """The best s = ηT = R / (c √(2d))."""
        return radius / (self.noise * math.sqrt(2 * self.d))

    def smooth_steps(self, radius: float, smoothness: float) -> int:
        """T = ⌈β s⌉: linear in n·μ, where a loss without smoothness needs the square."""
        return math.ceil(smoothness * self.smooth_time(radius))

    def strongly_convex(self, curvature: float, steps: int) -> float:
        """Steps 2/(λ(t + 1)) and weights ∝ t: 2(C² + d c² T) / (λ(T + 1))."""
        return 2 * (self.gradient**2 + self.d * self.noise**2 * steps) / (curvature * (steps + 1))


def records_for(excess: float, *, d: int, mu: float, radius: float, gradient: float = 1.0, spare: float = SPARE) -> int:
    """Least n at which Theorem 1 promises an excess, records replaced: 2 R C √(d(1 + κ)) / (μ α)."""
    return math.ceil(2 * radius * gradient * math.sqrt(d * (1 + spare)) / (mu * excess))


def smooth_records_for(excess: float, *, d: int, mu: float, radius: float, gradient: float = 1.0) -> int:
    """Least n at which the smooth form promises an excess, records replaced: 2√2 R C √d / (μ α)."""
    return math.ceil(2 * math.sqrt(2 * d) * radius * gradient / (mu * excess))


def row_projector(rows: ArrayLike) -> tuple[NDArray[np.float64], int]:
    """The projector M on the span of public rows, and its rank: what `NoisyDescent.rank` measures θ* by."""
    _, values, axes = np.linalg.svd(np.atleast_2d(np.asarray(rows, dtype=np.float64)), full_matrices=False)
    kept = axes[values > RANK_TOLERANCE * values.max(initial=0.0)]
    return kept.T @ kept, len(kept)


def exponential_mechanism(n: int, d: int, epsilon: float, radius: float, gradient: float = 1.0) -> float:
    """Expected excess of density ∝ exp(-ε n L / (2Δ)) on a ball, Δ = 2GR for a replaced record.

    With τ = 4GR / (ε n) the density is ∝ exp(-L/τ), and E L - L* ≤ d τ for convex L (log-concave, by the scaling of a
    convex set towards its minimiser).
    """
    return 4 * gradient * radius * d / (epsilon * n)


def last_iterate_mu(step_mu: float, steps: int, *, step_size: float, curvature: float, smoothness: float) -> float:
    """μ of the last iterate alone, strongly convex and smooth: g₀ √((1 - kᵀ)/(1 + kᵀ) · (1 + k)/(1 - k)), at most g₀√T.

    k = max(|1 - ηm|, |1 - ηM|) must be below 1. Only the last iterate may be released.
    """
    k = max(abs(1 - step_size * curvature), abs(1 - step_size * smoothness))
    if k >= 1.0:
        return step_mu * math.sqrt(steps)
    power = k**steps
    return step_mu * math.sqrt(min((1 - power) / (1 + power) * (1 + k) / (1 - k), steps))


def last_iterate_mu_convex(sensitivity: float, noise: float, steps: int, *, step_size: float, diameter: float) -> float:
    """The same for convex M-smooth losses, η ≤ 2/M, diameter D: the least of (D/η + τΔ)/(σ√τ), τ ≤ T, and √T Δ/σ."""
    best = min(max(1, round(diameter / (step_size * sensitivity))), steps)
    tried = {best, steps, max(1, best - 1), min(best + 1, steps)}
    shifted = min((diameter / step_size + tau * sensitivity) / (noise * math.sqrt(tau)) for tau in tried)
    return min(shifted, sensitivity / noise * math.sqrt(steps))


def stability_gap(epsilon: float, delta: float = 0.0, largest: float = 1.0) -> float:
    """Expected population risk above the empirical one, for losses in [0, B]: B (e^ε - 1 + δ), records replaced.

    Replacing one record changes the expected loss on any point from x to at most e^ε x + δB.
    """
    return largest * (math.expm1(epsilon) + delta)


def divergence_gap(divergence: float, largest: float = 1.0) -> float:
    """The same by a Kullback-Leibler divergence between neighbours: B √(KL / 2) (Pinsker); μ-GDP has KL = μ²/2."""
    return largest * math.sqrt(divergence / 2)


def gaussian_gap(mu: float, largest: float = 1.0) -> float:
    """The same for μ-GDP, exactly: B (2Φ(μ/2) - 1), the largest difference of expectations that μ-GDP allows."""
    return largest * float(2 * special.ndtr(mu / 2) - 1)


def error_split(p: int, n: int, mu: float, steps: int) -> tuple[float, float]:
    """Rates of the statistical and the privacy error of K noisy steps: √(p/n) and √K·p / (μ n), constants left out."""
    return math.sqrt(p / n), math.sqrt(steps) * p / (mu * n)


def minimax_rate(p: int, n: int, epsilon: float, delta: float, deviation: float = 1.0) -> float:
    """Rate below which no (ε, δ)-private estimator goes: σ(√(p/n) + p√log(1/δ) / (nε)), the constant left out."""
    return deviation * (math.sqrt(p / n) + p * math.sqrt(math.log(1 / delta)) / (n * epsilon))


def minimax_mean_error(n: int, mu: float, bound: float = 1.0) -> float:
    """A proven floor for E|estimate - mean| of records in [-B, B], μ-GDP with records replaced: 0.34·B/(nμ).

    Two populations that differ in a share t of their records have means 2Bt apart, and samples of them differ in K
    records, E K = nt. By group privacy the sum of errors of any test is at least 2 E Φ(-Kμ/2) ≥ 2Φ(-ntμ/2), so that the
    larger risk is at least Bt·Φ(-ntμ/2), at best with ntμ/2 = 0.75.
    """
    found = optimize.minimize_scalar(lambda x: -x * special.ndtr(-x), bounds=(0.1, 3.0), method="bounded")
    share = min(2 * float(found.x) / (n * mu), 1.0)
    return float(bound * share * special.ndtr(-n * share * mu / 2))


def descent_iterations(n: int, curvature: float, smoothness: float) -> int:
    """Steps of gradient descent after which what is left of the start is below 1/√n of it: of order log n.

    With η = 1/M a step contracts by 1 - m/M.
    """
    return math.ceil(math.log(n) / (-2 * math.log1p(-curvature / smoothness))) if curvature < smoothness else 1


def newton_region(self_concordance: float) -> float:
    """1/(16γ): below it r = decrement / √(least curvature) more than squares in a full Newton step, 16γr⁺ ≤ (16γr)²."""
    return 1 / (16 * positive("self_concordance", self_concordance))


def newton_contraction(size: float, self_concordance: float) -> float:
    """Bound on r after a full Newton step from r: γ r² e^{γr} where γr ≤ 1, for |f'''[v, v, u]| ≤ γ‖u‖ f''[v, v]."""
    scaled = self_concordance * size
    return size * scaled * math.exp(scaled) if scaled <= 1 else math.inf


def newton_iterations(n: int, self_concordance: float) -> int:
    """Full Newton steps from r = 1/(32γ), inside the region, until r ≤ 1/√n: of order log log n."""
    size, steps = newton_region(self_concordance) / 2, 0
    while size > 1 / math.sqrt(n):
        size, steps = 16 * self_concordance * size**2, steps + 1
    return steps
