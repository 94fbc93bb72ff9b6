r"""Envelopes of posteriors exp(-f), for losses whose third derivative is at most M times their second.

f(θ) = k Σ ρ(z·θ, y) + (λ/2)‖θ‖² with ‖z‖ ≤ C, δ = θ - θ₀, s² = δ'∇²f(θ₀)δ and x = M C r / √λ. For s ≤ r

    ψ(-x) s²  ≤  f(θ) - f(θ₀) - ∇f(θ₀)·δ  ≤  ψ(x) s²,      ψ(x) = (e^x - x - 1) / x²,

and beyond r the lower bound goes on as a line, because f is convex. So with a = ψ(-x), γ ≥ √(∇f'(∇²f)⁻¹∇f) and
b = a r - γ the density is at most exp(-E(s)) times its value at θ₀,

    E(s) = a s² - γ r  for s ≤ r,      b s  beyond.

Proposals from exp(-E) are accepted with probability at least `least_acceptance`, for every table: it rests on M, C, λ
and the number of coefficients alone. Derivation: proofs/mechanisms/posterior_draw.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from tacit.errors import SettingError
from tacit.losses.constants import self_concordance
from tacit.losses.loss import Loss

Floats = NDArray[np.float64]
FLATNESS = 2.0**-10
"""Largest γ at which a point is near enough to the minimum."""
DOUBT = 30 * math.log(2.0)
"""A batch of proposals has none that is accepted with probability at most e^-this."""
RADII = tuple(0.5 * 1.1**k for k in range(45))
"""Radii that are tried, in units of s."""
_HALVINGS = 60


def bending(loss: Loss) -> float:
    """M with |ρ'''| ≤ M ρ''. For a power of 3 it follows from ρ'' ≤ smoothness."""
    found = self_concordance(loss)
    if found is None:
        raise SettingError(f"The curvature of the {loss.name} loss jumps.")
    return found.constant * (1.0 if found.power == 2 else math.sqrt(loss.smoothness))


def psi(x: float) -> float:
    """Return (e^x - x - 1) / x², by its series near 0."""
    if abs(x) < 1e-3:
        return 0.5 + x / 6.0 + x * x / 24.0
    return (math.expm1(x) - x) / (x * x)


@dataclass(frozen=True)
class Envelope:
    """E(s) in d coordinates; `curve` is a, `line` is b, `tilt` is γ."""

    size: int
    radius: float
    curve: float
    tilt: float

    @classmethod
    def of(cls, size: int, radius: float, x: float, tilt: float) -> Envelope:
        """The envelope where margins change by at most x / M within the radius."""
        return cls(size, radius, psi(-x), tilt)

    @property
    def line(self) -> float:
        """Slope beyond the radius."""
        return self.curve * self.radius - self.tilt

    @property
    def log_masses(self) -> tuple[float, float]:
        """Logarithms of ∫ s^(d-1) e^-E within the radius and beyond it."""
        half, whole = self.size / 2, float(self.size)
        inside = special.gammainc(half, self.curve * self.radius**2)
        beyond = special.gammaincc(whole, self.line * self.radius)
        near = (
            math.log(inside) + math.lgamma(half) - half * math.log(self.curve) - math.log(2) + self.tilt * self.radius
        )
        far = -math.inf
        if beyond > 0.0:
            far = math.log(beyond) + math.lgamma(whole) - whole * math.log(self.line)
        return near, far

    @property
    def inside(self) -> float:
        """Probability that a proposal lies within the radius."""
        near, far = self.log_masses
        return 1.0 / (1.0 + math.exp(far - near)) if far - near < 700.0 else 0.0

    def norms(self, place: Floats, level: Floats) -> Floats:
        """Norms s of proposals, density ∝ s^(d-1) e^-E(s), from two uniform numbers each."""
        half, whole = self.size / 2, float(self.size)
        most = special.gammainc(half, self.curve * self.radius**2)
        near = np.sqrt(special.gammaincinv(half, level * most) / self.curve)
        rest = special.gammaincc(whole, self.line * self.radius)
        far = special.gammainccinv(whole, level * rest) / self.line
        norms = np.where(place <= self.inside, np.minimum(near, self.radius), np.maximum(far, self.radius))
        return np.asarray(norms)

    def heights(self, s: Floats) -> Floats:
        """E(s)."""
        return np.where(s <= self.radius, self.curve * s * s - self.tilt * self.radius, self.line * s)


def least_acceptance(size: int, radius: float, x: float) -> float:
    """Least probability that a proposal is accepted, whatever the table; 0 where the line does not rise."""
    envelope = Envelope.of(size, radius, x, FLATNESS)
    if envelope.line <= 0.0 or x > 300.0:
        return 0.0
    # At least this much of the posterior lies within the radius, where its exponent is at most ψ(x)s² + γr.
    steep, half = psi(x), size / 2
    kept = math.log(special.gammainc(half, steep * radius**2)) + math.lgamma(half)
    kept -= half * math.log(steep) + math.log(2) + FLATNESS * radius
    near, far = envelope.log_masses
    most = max(near, far)
    return math.exp(kept - most - math.log(math.exp(near - most) + math.exp(far - most)))


def proposals_for(acceptance: float) -> int:
    """How many proposals have one that is accepted, but for a probability of 2^-30."""
    return math.ceil(DOUBT / acceptance)


@lru_cache(maxsize=64)
def smallest_ridge(size: int, proposals: int) -> tuple[float, float]:
    """The least √λ / (M C) at which so many proposals are enough, with its radius."""

    def best(root: float) -> tuple[float, float]:
        return max((least_acceptance(size, radius, radius / root), radius) for radius in RADII)

    low, high = 1e-3, 1e4
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        enough = best(middle)[0] * proposals >= DOUBT
        low, high = (low, middle) if enough else (middle, high)
    return high, best(high)[1]
