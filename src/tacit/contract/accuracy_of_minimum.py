"""How exactly a minimum is computed, from public numbers alone; the lattices on which one is released.

Proof: proofs/mechanisms/certified_minimum.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.accounting.rounding import root_up
from tacit.contract.query import NoisyMinimum
from tacit.contract.sensitivity import GammaPrice, PerturbedPrice, Price, PurePrice, SoftmaxPrice
from tacit.losses.constants import largest_at_zero
from tacit.losses.loss import Code, Loss

FARTHEST = 40
"""Linear noise is clipped at so many deviations; the mass beyond is below 10^-347."""
FARTHEST_EXPONENTIAL = 46
"""Largest exponential that the sampler of Gamma norms draws, rounded up."""
PURE_DRIFT = 2**20
"""Integer bound on how far the computed minimisers of one exact minimiser are apart, at δ = 0."""
GRADIENT_BOUND = 2**49
"""Integer bound of a record's gradient while the minimiser is sought."""
ACCEPTED = 4
"""A point is accepted where the integer gradient is at most this times its own error."""
_SLACK = 1 + 2.0**-30


@dataclass(frozen=True)
class Accuracy:
    """How exactly a perturbed minimum is computed, from public numbers alone.

    The objective, over the loss's Lipschitz constant and with rows divided by the clip, so that a record's gradient is
    at most 1 and its curvature at most h = smoothness / lipschitz (1/4 for the logistic loss),

        J(φ) = Σ w loss(z·φ, y) + (λ/2)‖φ‖² + b·φ,      λ = h / ratio

    has its minimiser within `radius` of 0, as every accepted point. Its gradient, computed in integers, is off by at
    most `error`; a point is accepted where the gradient's norm is at most `tolerance`, four times that. `drift` is how
    far such a point can be from the exact minimiser of the unrounded noise; descent finds one within `steps` steps.
    Coordinates are φ = clip·theta, gradients are over clip·lipschitz, and everything is rounded up, with slack. Proof:
    proofs/mechanisms/certified_minimum.md.
    """

    radius: float
    error: float
    tolerance: float
    drift: float
    steps: int

    @classmethod
    def of(cls, price: PerturbedPrice, loss: Loss, *, records: int, width: int) -> Accuracy:
        """Bounds for so many records of so many columns, all of them public."""
        classes = price.classes if isinstance(price, SoftmaxPrice | PurePrice) else 1
        ridge = loss.smoothness / loss.lipschitz / float(price.ratio) / _SLACK
        root, noise = math.sqrt(width * classes), 2.0**price.bits / price.bound
        if isinstance(price, PurePrice):
            # The sampler's floats are the noise that the proof is about.
            pull, lattice = FARTHEST_EXPONENTIAL * noise * width * classes * _SLACK, 0.0
        else:
            pull, lattice = FARTHEST * noise * root * _SLACK, root / (2 * price.bound)
        return cls.bounds(loss, ridge=ridge, pull=pull, lattice=lattice, records=records, width=width, classes=classes)

    @classmethod
    def bounds(
        cls, loss: Loss, *, ridge: float, pull: float, lattice: float, records: int, width: int, classes: int = 1
    ) -> Accuracy:
        """Bounds for a ridge at least `ridge`, a ‖b‖ at most `pull`, and a b that was moved by at most `lattice`."""
        u, root, smoothness = 2.0**-53, math.sqrt(width * classes), loss.smoothness / loss.lipschitz
        # J(φ) ≤ J(0) ≤ n·most gives (λ/2)‖φ‖² ≤ n·most + ‖b‖‖φ‖.
        most = largest_at_zero(loss, classes) / loss.lipschitz
        radius = (pull + math.sqrt(pull**2 + 2 * ridge * records * most)) / ridge * _SLACK
        rounding = root / (2 * GRADIENT_BOUND) * (1 + 2.0**-20)
        # A sum over the classes and a corner are more roundings than a sigmoid.
        further = 0 if loss.code is Code.LOGISTIC else 4 * classes + 16 * math.ceil(smoothness)
        one = smoothness * (width + 12) * u * radius + (2 * width + 64 + further) * u + rounding
        # Eight units of width and the last term: points are rounded to floats on the way.
        error = (records * one + 12 * u * radius * ridge * _SLACK**2) * _SLACK
        drift = ((ACCEPTED + 1) * error + lattice) / ridge * _SLACK
        steepest = (records * smoothness + ridge) * _SLACK
        # J(0) is at most n·most, and no value is below -‖b‖² / 2λ.
        gap = records * most + pull**2 / (2 * ridge)
        height = max(2 * steepest * gap / (9 * error**2), math.e)
        steps = math.ceil(steepest / (0.6 * ridge) * math.log(height) * _SLACK) + 1
        return cls(radius, error, ACCEPTED * error, drift, steps)

    def step(self, price: PerturbedPrice, width: int) -> float:
        """Lattice on which φ is released: integers of one minimiser are drift.bound apart at most.

        Guarantee: 2·drift / step + √width ≤ price.drift.bound.
        """
        bound = PURE_DRIFT if isinstance(price, PurePrice) else price.drift.bound
        return 2 * self.drift / (bound - math.sqrt(width) * _SLACK) * _SLACK


def minimum_accuracy(query: NoisyMinimum, *, records: int, width: int) -> Accuracy:
    """How exactly a noisy minimum is computed, from public numbers alone."""
    ridge = float(1 / _one_move(query)) / _SLACK
    return Accuracy.bounds(
        query.loss, ridge=ridge, pull=0.0, lattice=0.0, records=records, width=width, classes=query.classes
    )


def minimum_step(query: NoisyMinimum, price: Price | GammaPrice, accuracy: Accuracy, *, width: int) -> Fraction:
    """Lattice on which the theta of a noisy minimum is released.

    Guarantee: (clip·lipschitz / ridge + 2·drift / clip) / step + √(width·classes) ≤ price.bound, in exact rationals.
    """
    left = price.bound - Fraction(root_up(Fraction(width * query.classes)))
    return (_one_move(query) + 2 * Fraction(accuracy.drift)) / left / Fraction(query.clip)


def _one_move(query: NoisyMinimum) -> Fraction:
    """How far one record more or less moves φ = clip·theta at most: clip²·lipschitz / ridge."""
    return Fraction(query.clip) ** 2 * Fraction(query.loss.lipschitz) / Fraction(query.ridge)


def pure_cover_scale(price: PurePrice, size: int) -> Fraction:
    """Scale of discrete Laplace noise on integers at most `PURE_DRIFT` apart in L2: √size·PURE_DRIFT / cover."""
    return Fraction(math.isqrt(size * PURE_DRIFT**2) + 1) / price.cover
