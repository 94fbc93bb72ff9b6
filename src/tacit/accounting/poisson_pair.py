r"""The dominating pair of any symmetric pair on a Poisson sample, add-remove and zero-out.

With base pair (P, Q), loss :math:`Y = \log(dP/dQ)` and rate q,

.. math:: ((1 - q) Q + q P,\; Q) \text{ (remove)}, \qquad (Q,\; (1 - q) Q + q P) \text{ (add)},

and the new loss is a monotone function of the old one: :math:`\log(1 - q + q e^{Y})`.
Proof: ``proofs/accounting/poisson_pair.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld._signals import GridTooLong
from tacit.accounting.pld.pairs import Direction, Pair
from tacit.accounting.pld.pairs.pair import UNIT, Floats
from tacit.errors import SettingError

# Closer to rate 1 the inverse of the loss loses too many digits.
_LARGEST_RATE = 1.0 - 2.0**-30


@dataclass(frozen=True, slots=True)
class PoissonPair:
    """A symmetric pair without infinite losses, on a Poisson sample.

    Guarantee
    ---------
    - The profiles of both directions are the amplified ones of Zhu, Dong and Wang (2022),
      Theorem 11, exact up to the recorded rounding.

    Parameters
    ----------
    base
        A symmetric pair, for adding or removing a record of the sample.
    rate
        Probability of a record to be in the sample, above 0 and below 1.

    Examples
    --------
    >>> from tacit.accounting.pld.pairs import LaplacePair
    >>> losses, masses = PoissonPair(LaplacePair(1.0), 0.1).atoms("remove")
    >>> round(float(losses[1]), 6)
    0.158565
    """

    base: Pair
    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= _LARGEST_RATE:
            raise SettingError(f"rate is {self.rate!r}; expected a number between 0 and 1")
        if not self.base.symmetric or self.base.infinite("remove") > 0.0:
            raise SettingError("the base pair is not symmetric and finite; expected one that is")

    @property
    def symmetric(self) -> bool:
        """Adding is not undone by adding."""
        return False

    @property
    def lattice(self) -> float:
        """The atoms form no lattice."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """As the base does."""
        return self.base.knows_slopes

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails, from the tails of the base at the inverse loss."""
        sign = 1.0 if direction == "remove" else -1.0
        with np.errstate(divide="ignore", over="ignore"):
            ratio = np.maximum(np.expm1(sign * points) / self.rate, -1.0)
            edges = sign * np.log1p(ratio)
        first, second = self.base.smooth("remove", edges)
        if direction == "remove":
            return (1.0 - self.rate) * second + self.rate * first, second
        return first, (1.0 - self.rate) * first + self.rate * second

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the images of the base's atoms."""
        losses, masses = self.base.atoms("remove")
        if losses.size and float(np.abs(losses).max()) > 690.0:
            raise GridTooLong("losses above 690")
        if direction == "remove":
            mixed = (1.0 - self.rate) * np.exp(-losses) + self.rate
            return np.log1p(self.rate * np.expm1(losses)), masses * mixed
        return -np.log1p(self.rate * np.expm1(-losses)), masses

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """The base's error at the inverse loss, and the rounding of the inverse."""
        reach = largest + math.log(1.0 / self.rate) + 1.0
        odds = self.rate / (1.0 - self.rate)
        return self.base.loss_error(reach) + 32.0 * UNIT * (reach + odds)
