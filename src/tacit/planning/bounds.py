"""Upper bounds on the excess loss of noisy gradient descent.

Smooth convex loss (smoothness β), n·gradient noised with a budget of μ over T steps, η ≤ 1/β,
s = ηT, c = sensitivity / (n μ), ‖θ*‖ ≤ R. From

    E‖θ_{t+1} - θ*‖² ≤ E‖θ_t - θ*‖² - 2η E(f(θ_{t+1}) - f*) + (1 + ηβ) η² d c² T,

summed over the iterates that are averaged:

    average of all     R² / (2s) + (1 + ηβ)/2 · s d c²
    second half        R² / s    + (1 + ηβ)   · s d c²

The last iterate has no such bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Noise:
    """Noise of the mean gradient per unit of budget, c = sensitivity / (n μ), in each direction."""

    per_unit: float
    width: int


def excess_bound(
    noise: Noise, *, radius: float, time: float, step_size: float, smoothness: float, output: str
) -> float | None:
    """Return the bound for an output, or None where none is proven."""
    if output == "last":
        return None
    spread = (1 + step_size * smoothness) / 2 * time * noise.width * noise.per_unit**2
    average = radius**2 / (2 * time) + spread
    return average if output == "average" else 2 * average


def best_time(noise: Noise, radius: float) -> float:
    """Return the s = ηT that minimises R² / (2s) + s d c²."""
    return radius / (noise.per_unit * math.sqrt(2 * noise.width))
