"""The precision to which a perturbed minimum is computed, from public numbers alone.

The objective, with rows divided by the clip so that a record's gradient is at most 1 and its
curvature at most h (1/4 for the logistic loss),

    J(φ) = Σ w loss(z·φ, y) + (λ/2)‖φ‖² + b·φ,      λ = h / ratio,   b = bits of noise / bound

has its minimiser within `radius` of 0. Its gradient, computed in integers, is off by at most E. A
point is accepted where the gradient's norm is at most 4 E. Everything is rounded up, with slack.
Proof: proofs/mechanisms/objective_perturbation.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.contract.sensitivity import MinimumPrice
from tacit.losses.loss import Loss

FARTHEST = 40
"""Linear noise is clipped at so many deviations; the mass beyond is below 10^-347."""
GRADIENT_BOUND = 2**49
"""Integer bound of a record's gradient while the minimiser is sought."""
ACCEPTED = 4
"""A point is accepted where the integer gradient is at most this times its own error."""
_UNIT_ROUND_OFF = 2.0**-53
_SLACK = 1 + 2.0**-30


def ridge_of(price: MinimumPrice, clip: float, loss: Loss) -> float:
    """The ridge on every coordinate, at least clip²·smoothness / ratio.

    Guarantee
    ---------
    - clip²·smoothness / ridge is at most the price's ratio, in exact rationals.
    """
    least = Fraction(clip) ** 2 * Fraction(loss.smoothness) / price.ratio
    ridge = float(least)
    return ridge if Fraction(ridge) >= least else math.nextafter(ridge, math.inf)


@dataclass(frozen=True)
class Accuracy:
    """Bounds in the coordinates φ = clip·theta, with gradients over the clip.

    `radius` bounds the minimiser and every accepted point, `error` the error of a gradient that is
    computed within it, `tolerance` what is accepted, and `drift` how far an accepted point can be
    from the exact minimiser of the unrounded noise.
    """

    radius: float
    error: float
    tolerance: float
    drift: float

    @classmethod
    def of(cls, price: MinimumPrice, *, records: int, width: int, smoothness: float) -> Accuracy:
        """Bounds for so many records of so many columns, all of them public."""
        u, root = _UNIT_ROUND_OFF, math.sqrt(width)
        ridge = smoothness / float(price.ratio) / _SLACK
        noise = 2.0**price.bits / price.bound
        pull = FARTHEST * noise * root * _SLACK
        # J(φ) ≤ J(0) ≤ n log 2 gives (λ/2)‖φ‖² ≤ n log 2 + ‖b‖‖φ‖.
        radius = (pull + math.sqrt(pull**2 + 2 * ridge * records * math.log(2))) / ridge * _SLACK
        one = (
            smoothness * (width + 12) * u * radius
            + (2 * width + 64) * u
            + root / (2 * GRADIENT_BOUND) * (1 + 2.0**-20)
        )
        # Eight units of width and the last term: points are rounded to floats on the way.
        error = (records * one + 12 * u * radius * ridge * _SLACK**2) * _SLACK
        lattice = root / (2 * price.bound)
        drift = ((ACCEPTED + 1) * error + lattice) / ridge * _SLACK
        return cls(radius, error, ACCEPTED * error, drift)

    def step(self, price: MinimumPrice, width: int) -> float:
        """Lattice on which φ is released: integers of one minimiser are drift.bound apart at most.

        Guarantee
        ---------
        - 2·drift / step + √width ≤ price.drift.bound.
        """
        left = price.drift.bound - math.sqrt(width) * _SLACK
        return 2 * self.drift / left * _SLACK
