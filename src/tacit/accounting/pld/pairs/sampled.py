r"""The dominating pair of any symmetric pair on a random sample of the records.

Sampling maps a loss Y to :math:`\log(1 - q + q e^{Y})`. A sample of fixed size under replace-one
has above 0 the loss of removing, below 0 that of adding, and an atom at 0.
Proof: ``proofs/accounting/pld/pairs/sampled.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.accounting.argument_checks import Floats
from tacit.accounting.pld.grid import GridTooLong
from tacit.accounting.pld.pairs.pair import UNIT, Direction, Pair
from tacit.errors import SettingError

# Closer to rate 1 the inverse of the loss loses too many digits.
LARGEST_RATE = 1.0 - 2.0**-30


@dataclass(frozen=True, slots=True)
class PoissonPair(Pair):
    """A symmetric pair without infinite losses, on a Poisson sample.

    `base` is a symmetric pair for adding or removing a record of the sample; the rate is below 1.

    Guarantee
    ---------
    - The profiles of both directions are the amplified ones of Zhu, Dong and Wang (2022),
      Theorem 11, exact up to the recorded rounding.
    """

    base: Pair
    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= LARGEST_RATE:
            raise SettingError(f"rate is {self.rate!r}; expected a number between 0 and 1")
        if not self.base.symmetric or self.base.infinite("remove") > 0.0:
            raise SettingError("the base pair is not symmetric and finite; expected one that is")

    @property
    def symmetric(self) -> bool:
        """Adding is not undone by adding."""
        return False

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

    def loss_error(self, largest: float) -> float:
        """The base's error at the inverse loss, and the rounding of the inverse."""
        deepest = largest + math.log(1.0 / self.rate) + 1.0
        odds = self.rate / (1.0 - self.rate)
        return self.base.loss_error(deepest) + 32.0 * UNIT * (deepest + odds)


@dataclass(frozen=True, slots=True)
class FixedSizePair(Pair):
    """A symmetric pair without infinite losses, on a sample of fixed size.

    `base` is a symmetric pair for replacing one record of the sample; the rate is below 1.

    Guarantee
    ---------
    - For epsilon at least 0 the amplified profile of Balle, Barthe and Gaboardi (2018), Theorem 9;
      below 0 it follows by exchanging the neighbours.
    """

    base: Pair
    rate: float

    def __post_init__(self) -> None:
        # Which refuses what it cannot sample.
        PoissonPair(self.base, self.rate)

    @property
    def _sampled(self) -> PoissonPair:
        return PoissonPair(self.base, self.rate)

    @property
    def knows_slopes(self) -> bool:
        """As the base does."""
        return self.base.knows_slopes

    def smooth(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails: above 0 as for removing, below 0 as for adding."""
        zero = np.zeros(1)
        above = self._sampled.smooth("remove", np.maximum(points, 0.0))
        top = self._sampled.smooth("remove", zero)
        below = self._sampled.smooth("add", np.minimum(points, 0.0))
        start = self._sampled.smooth("add", zero)
        first, second = (
            np.where(points >= 0.0, up, peak + (down - least))
            for up, peak, down, least in zip(above, top, below, start, strict=True)
        )
        return first, second

    def atoms(self, _: Direction) -> tuple[Floats, Floats]:
        """Return the atoms of both sides and what is left, at 0."""
        losses, masses = self._sampled.atoms("remove")
        others, weights = self._sampled.atoms("add")
        high, low = losses > 0.0, others < 0.0
        smooth = float(self.smooth("remove", np.array([-np.inf]))[0][0])
        rest = 1.0 - smooth - float(masses[high].sum()) - float(weights[low].sum())
        # Raised by its rounding: mass at loss 0 that is not there costs nothing to speak of.
        middle = max(rest, 0.0) + 32.0 * UNIT
        return (
            np.concatenate([others[low], [0.0], losses[high]]),
            np.concatenate([weights[low], [middle], masses[high]]),
        )

    def loss_error(self, largest: float) -> float:
        """As for Poisson samples."""
        return self._sampled.loss_error(largest)
