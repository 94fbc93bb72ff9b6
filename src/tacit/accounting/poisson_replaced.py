r"""Pairs of pure noise on a Poisson sample under replace-one.

With the record absent the release has law R, with the old record P, with the new one P', each
epsilon away from R. The worst case is the one in which dP/dR and -dP'/dR grow together:

.. math:: ((1 - q) R + q P,\; (1 - q) R + q P'), \qquad
    \varepsilon^* = \log\frac{1 - q + q e^{\varepsilon}}{1 - q + q e^{-\varepsilon}}

is its largest loss. Proof: ``proofs/accounting/poisson_replaced.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld._signals import GridTooLong
from tacit.accounting.pld.pairs.pair import (
    UNIT,
    Direction,
    Floats,
    require_non_negative,
    require_probability,
)
from tacit.errors import SettingError

_LARGEST_EPSILON = 300.0


@dataclass(frozen=True, slots=True)
class _Replaced:
    """What both pairs share: a base epsilon, a rate, and a loss that is symmetric around 0."""

    epsilon: float
    rate: float

    def __post_init__(self) -> None:
        require_non_negative("epsilon", self.epsilon)
        require_probability("rate", self.rate)
        if self.rate == 0.0:
            raise SettingError("rate is 0; expected a sample that is not always empty")
        if self.epsilon > _LARGEST_EPSILON:
            raise GridTooLong(f"losses above {_LARGEST_EPSILON:.0f}")

    @property
    def symmetric(self) -> bool:
        """Replacing is undone by replacing."""
        return True

    @property
    def lattice(self) -> float:
        """The atoms are 0 and the two ends."""
        return self.largest

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    @property
    def largest(self) -> float:
        """The largest loss."""
        rise = math.log1p(self.rate * math.expm1(self.epsilon))
        lost = -self.rate * math.expm1(-self.epsilon)
        return rise - (math.log1p(-lost) if lost < 0.5 else math.log(self._low))

    @property
    def _low(self) -> float:
        """The least ratio to the law without the record."""
        return (1.0 - self.rate) + self.rate * math.exp(-self.epsilon)

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """The rounding of the largest loss, and of the inverse of the loss."""
        del largest
        return 64.0 * UNIT * (1.0 + self.epsilon) * min(1.0, self.largest * 2.0**10)


@dataclass(frozen=True, slots=True)
class ReplacedResponse(_Replaced):
    """Any epsilon-private release of the sample.

    Guarantee
    ---------
    - Dominates every such release, and is one: the loss has three values.

    Parameters
    ----------
    epsilon
        For adding or removing one record of the sample, at most 300.
    rate
        Probability of a record to be in the sample, above 0.

    Examples
    --------
    >>> losses, masses = ReplacedResponse(1.0, 0.1).atoms("remove")
    >>> round(float(losses[2]), 6), round(float(masses.sum()), 12)
    (0.223863, 1.0)
    """

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Nothing but atoms."""
        del direction
        return np.zeros_like(points), np.zeros_like(points)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the two ends and the middle, where both records are less likely than none."""
        del direction
        end = 1.0 / (1.0 + math.exp(self.epsilon))
        high = 1.0 + self.rate * math.expm1(self.epsilon)
        middle = math.tanh(0.5 * self.epsilon) * self._low
        losses = np.array([-self.largest, 0.0, self.largest])
        return losses, np.array([end * self._low, middle, end * high])


@dataclass(frozen=True, slots=True)
class ReplacedLaplace(_Replaced):
    r"""Laplace noise on a sum over the sample.

    .. math:: (1 - q)\,\mathrm{Lap}(0) + q\,\mathrm{Lap}(\pm\varepsilon), \text{ scale } 1

    Guarantee
    ---------
    - The profile is exact for a number, and dominates that of a vector.

    Parameters
    ----------
    epsilon
        Sensitivity for adding or removing one record of the sample over scale, at most 300.
    rate
        Probability of a record to be in the sample, above 0.

    Examples
    --------
    >>> round(float(ReplacedLaplace(1.0, 0.1).atoms("remove")[0][1]), 6)
    0.223863
    """

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails of the losses strictly between the ends."""
        del direction
        e, size = self.epsilon, np.minimum(np.abs(points), self.largest)
        # Where the output is y of [0, e] the loss is log((1 - q + q e^(2y - e)) / low).
        ratio = self._low * math.exp(e) * np.expm1(size) / self.rate
        edge = np.clip(0.5 * np.log1p(ratio), 0.0, e)
        beyond_p, beyond_q = self._between(edge, e)
        inside_p, inside_q = self._between(np.zeros_like(edge), edge)
        above = points >= 0.0
        return (
            np.where(above, beyond_p, beyond_p + inside_p + inside_q),
            np.where(above, beyond_q, beyond_q + inside_q + inside_p),
        )

    def _between(self, start: Floats, end: Floats | float) -> tuple[Floats, Floats]:
        """Masses of the outputs between two numbers of [0, epsilon]."""
        e, width = self.epsilon, end - start
        falling = -0.5 * np.exp(-start) * np.expm1(-width)
        rising = -0.5 * np.exp(end - e) * np.expm1(-width)
        rest = 1.0 - self.rate
        return rest * falling + self.rate * rising, (rest + self.rate * math.exp(-e)) * falling

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the two ends, where the output lies beyond both centres."""
        del direction
        small, rest = math.exp(-self.epsilon), 1.0 - self.rate
        masses = [0.5 * small * (rest + self.rate * small), 0.5 * (rest * small + self.rate)]
        return np.array([-self.largest, self.largest]), np.array(masses)
