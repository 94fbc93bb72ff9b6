r"""The dominating pair of any symmetric pair on a sample of fixed size, replace-one.

With base pair (P, Q) for replacing one record of the sample and rate q,

.. math:: \delta(\log x) = H_x((1 - q) Q + q P \| Q), \; x \ge 1; \quad
    H_x(P \| (1 - q) P + q Q), \; x < 1:

above 0 the loss of removing from a Poisson sample, below 0 that of adding, and an atom at 0.
Proof: ``proofs/accounting/fixed_size_pair.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld.pairs import Direction, Pair
from tacit.accounting.pld.pairs.pair import UNIT, Floats
from tacit.accounting.poisson_pair import PoissonPair


@dataclass(frozen=True, slots=True)
class FixedSizePair:
    """A symmetric pair without infinite losses, on a sample of fixed size.

    Guarantee
    ---------
    - For epsilon at least 0 the amplified profile of Balle, Barthe and Gaboardi (2018), Theorem 9;
      below 0 it follows by exchanging the neighbours.

    Parameters
    ----------
    base
        A symmetric pair, for replacing one record of the sample.
    rate
        Size of the sample over the number of records, above 0 and below 1.

    Examples
    --------
    >>> from tacit.accounting.pld.pairs import RandomisedResponse
    >>> losses, masses = FixedSizePair(RandomisedResponse(1.0), 0.1).atoms("remove")
    >>> round(float(losses[-1]), 6), round(float(masses.sum()), 12)
    (0.158565, 1.0)
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
    def symmetric(self) -> bool:
        """Replacing is undone by replacing."""
        return True

    @property
    def lattice(self) -> float:
        """The atoms form no lattice."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """As the base does."""
        return self.base.knows_slopes

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails: above 0 as for removing, below 0 as for adding."""
        del direction
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

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the atoms of both sides and what is left, at 0."""
        del direction
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

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """As for Poisson samples."""
        return self._sampled.loss_error(largest)
