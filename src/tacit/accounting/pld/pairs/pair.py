r"""What the discretiser needs to know of a dominating pair, and the pair of a known profile.

The privacy loss of a pair (P, Q) is :math:`Y = \log(dP/dQ)` under P, and

.. math:: \delta(\varepsilon) = P[Y > \varepsilon] - e^{\varepsilon} Q[Y > \varepsilon].

Its distribution has a smooth part, given by both tails; atoms; and the mass at infinity.
Proofs: ``proofs/accounting/pld/pairs/``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

import numpy as np

from tacit.accounting.argument_checks import Floats
from tacit.errors import SettingError

Direction: TypeAlias = Literal["remove", "add"]
DIRECTIONS: tuple[Direction, Direction] = ("remove", "add")
NO_ATOMS: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
NO_LOSS: tuple[Floats, Floats] = (np.zeros(1), np.ones(1))
UNIT = 2.0**-53


# Fields of one name mean the same in every pair.
_NON_NEGATIVE = ("epsilon", "eta", "mu", "mu_replace", "sigma", "c", "c_add")
_PROBABILITIES = ("rate", "delta", "limit")


class Pair(ABC):
    """A dominating pair, seen from each of the two directions.

    By default it is symmetric, in closed form, without smooth part, atoms and infinite loss.

    Guarantee
    ---------
    - A computed tail is the exact tail at a loss at most `loss_error` away, up to the relative
      error `tail_error`; both tails belong to the same event.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            name, value = field.name, getattr(self, field.name)
            if name in _NON_NEGATIVE and value is not None and not 0.0 <= value < math.inf:
                raise SettingError(f"{name} is {value!r}; expected a finite number of at least 0")
            if name in _PROBABILITIES and not 0.0 <= value <= 1.0:
                raise SettingError(f"{name} is {value!r}; expected a number from 0 to 1")

    @property
    def symmetric(self) -> bool:
        """Whether both directions have the same distribution of the loss."""
        return True

    @property
    def lattice(self) -> float:
        """Spacing of a lattice that holds all atoms, or 0 if there is none."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """Whether the tail of Q is an exact slope of the profile, not that of a chord."""
        return True

    def smooth(self, _: Direction, points: Floats, /) -> tuple[Floats, Floats]:
        """Return P[Y > point] and Q[Y > point] of the part without atoms."""
        return np.zeros_like(points), np.zeros_like(points)

    def atoms(self, _: Direction, /) -> tuple[Floats, Floats]:
        """Return the losses that have positive probability, and their probabilities under P."""
        return NO_ATOMS

    def infinite(self, _: Direction, /) -> float:
        """Return the probability under P of an infinite loss."""
        return 0.0

    @abstractmethod
    def loss_error(self, largest: float, /) -> float:
        """Bound the error of the loss at which tails are computed, for losses up to largest."""


def tail_error(tail: Floats) -> Floats:
    r"""Bound the absolute error of a tail probability S by :math:`2^{-53} S (16 - 8 \log S)`.

    Guarantee
    ---------
    - Above the error against 60 digits of every tail of this package.
    """
    return UNIT * tail * (16.0 - 8.0 * np.log(np.maximum(tail, 1e-300)))


@dataclass(frozen=True, slots=True)
class Profile(Pair):
    r"""Any mechanism with a known profile :math:`\delta(\varepsilon)` for all real epsilon.

    The chords through its values on a grid are the profile of a pair whose losses are on the grid.
    `delta_of_epsilon` takes an array of real numbers and returns the divergences of one pair, or an
    upper bound of them that is itself convex in exp(epsilon); `limit` is its limit at infinity.

    Guarantee
    ---------
    - The upper version dominates the profile on and between the points of any grid.
    """

    delta_of_epsilon: Callable[[Floats], Floats]
    limit: float = 0.0

    @property
    def knows_slopes(self) -> bool:
        """The tail of Q below is the slope of a chord."""
        return False

    def smooth(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return the tails of the pair whose losses are the points themselves."""
        values = np.clip(self.delta_of_epsilon(points) - self.limit, 0.0, 1.0)
        powers = np.exp(points)
        slopes = np.zeros_like(values)
        slopes[:-1] = (values[:-1] - values[1:]) / (powers[1:] - powers[:-1])
        return values + powers * slopes, slopes

    def infinite(self, _: Direction) -> float:
        """Return the limit of the profile."""
        return self.limit

    def loss_error(self, _: float) -> float:
        """The values are taken at the points themselves."""
        return 0.0
