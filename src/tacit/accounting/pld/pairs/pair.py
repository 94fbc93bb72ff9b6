"""What the discretiser needs of a dominating pair; pairs of a known profile and on samples.

The privacy loss of a pair (P, Q) is Y = log(dP/dQ) under P, and δ(ε) = P[Y > ε] - e^ε Q[Y > ε]. Its distribution has a
smooth part, given by both tails; atoms; and the mass at infinity. Sampling maps a loss Y to log(1 - q + q e^Y). Proofs:
``proofs/accounting/pld/pairs/``.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

import numpy as np

from tacit.accounting.rounding import Floats
from tacit.errors import SettingError, TacitError

Direction: TypeAlias = Literal["remove", "add"]
DIRECTIONS: tuple[Direction, Direction] = ("remove", "add")
NO_ATOMS: tuple[Floats, Floats] = (np.empty(0), np.empty(0))
UNIT = 2.0**-53


class GridTooLong(TacitError, ArithmeticError):
    """A grid fine enough would be too long, or the losses leave the range of floats."""


class BelowRoundOff(TacitError, ArithmeticError):
    """The delta asked for is below what floating-point transforms can certify."""


# Fields of one name mean the same in every pair.
_NON_NEGATIVE = ("epsilon", "eta", "mu", "mu_replace", "sigma", "c", "c_add")
_PROBABILITIES = ("rate", "delta", "limit")
# Where one of these is 0 nothing is released, and the loss is 0.
_SENSITIVITIES = ("eta", "mu", "mu_replace", "rate", "squared_sensitivity_root")


class Pair(ABC):
    """A dominating pair, seen from each of the two directions.

    By default it is symmetric, in closed form, without smooth part, atoms and infinite loss.

    Guarantee: a computed tail is the exact tail at a loss at most `loss_error` away, up to the relative error
    `tail_error`; both tails belong to the same event.
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

    @property
    def empty(self) -> bool:
        """Whether nothing is released."""
        return any(getattr(self, name, None) == 0 for name in _SENSITIVITIES)

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return P[Y > point] and Q[Y > point] of the part without atoms."""
        return (np.zeros_like(points), np.zeros_like(points)) if self.empty else self._tails(direction, points)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the losses that have positive probability, and their probabilities under P."""
        return (np.zeros(1), np.ones(1)) if self.empty else self._atoms(direction)

    def _tails(self, _: Direction, points: Floats, /) -> tuple[Floats, Floats]:
        return np.zeros_like(points), np.zeros_like(points)

    def _atoms(self, _: Direction, /) -> tuple[Floats, Floats]:
        return NO_ATOMS

    def infinite(self, _: Direction, /) -> float:
        """Return the probability under P of an infinite loss."""
        return 0.0

    @abstractmethod
    def loss_error(self, largest: float, /) -> float:
        """Bound the error of the loss at which tails are computed, for losses up to largest."""


def tail_error(tail: Floats) -> Floats:
    """Bound the error of a tail S by 2^-53 S (16 - 8 log S), above that of every tail here against 60 digits."""
    return UNIT * tail * (16.0 - 8.0 * np.log(np.maximum(tail, 1e-300)))


@dataclass(frozen=True, slots=True)
class Profile(Pair):
    r"""Any mechanism with a known profile :math:`\delta(\varepsilon)` for all real epsilon.

    The chords through its values on a grid are the profile of a pair whose losses are on the grid. `delta_of_epsilon`
    takes an array of real numbers and returns the divergences of one pair, or an upper bound of them that is itself
    convex in exp(epsilon); `limit` is its limit at infinity.

    Guarantee: the upper version dominates the profile on and between the points of any grid.
    """

    delta_of_epsilon: Callable[[Floats], Floats]
    limit: float = 0.0

    # The tail of Q below is the slope of a chord.
    knows_slopes = False

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
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


# Closer to rate 1 the inverse of the loss loses too many digits.
LARGEST_RATE = 1.0 - 2.0**-30


@dataclass(frozen=True, slots=True)
class PoissonPair(Pair):
    """A symmetric pair without infinite losses, on a Poisson sample.

    `base` is a symmetric pair for adding or removing a record of the sample; the rate is below 1.

    Guarantee: the profiles of both directions are the amplified ones of Zhu, Dong and Wang (2022), Theorem 11, exact up
    to the recorded rounding.
    """

    base: Pair
    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= LARGEST_RATE:
            raise SettingError(f"rate is {self.rate!r}; expected a number between 0 and 1")
        if not self.base.symmetric or self.base.infinite("remove") > 0.0:
            raise SettingError("the base pair is not symmetric and finite; expected one that is")

    # Adding is not undone by adding.
    symmetric = False

    @property
    def knows_slopes(self) -> bool:
        """As the base does."""
        return self.base.knows_slopes

    def _tails(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        # From the tails of the base at the inverse loss.
        sign = 1.0 if direction == "remove" else -1.0
        with np.errstate(divide="ignore", over="ignore"):
            ratio = np.maximum(np.expm1(sign * points) / self.rate, -1.0)
            edges = sign * np.log1p(ratio)
        first, second = self.base.smooth("remove", edges)
        if direction == "remove":
            return (1.0 - self.rate) * second + self.rate * first, second
        return first, (1.0 - self.rate) * first + self.rate * second

    def _atoms(self, direction: Direction) -> tuple[Floats, Floats]:
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
class FixedSizePair(PoissonPair):
    """A symmetric pair without infinite losses, on a sample of fixed size.

    `base` is a symmetric pair for replacing one record of the sample; the rate is below 1.

    Guarantee: for epsilon at least 0 the amplified profile of Balle, Barthe and Gaboardi (2018), Theorem 9; below 0 it
    follows by exchanging the neighbours.
    """

    # Replacing is undone by replacing.
    symmetric = True

    def _tails(self, _: Direction, points: Floats) -> tuple[Floats, Floats]:
        # Above 0 as for removing, below 0 as for adding.
        one_sided = PoissonPair(self.base, self.rate)
        above, top = (one_sided.smooth("remove", at) for at in (np.maximum(points, 0.0), np.zeros(1)))
        below, start = (one_sided.smooth("add", at) for at in (np.minimum(points, 0.0), np.zeros(1)))
        first, second = (
            np.where(points >= 0.0, up, peak + (down - least))
            for up, peak, down, least in zip(above, top, below, start, strict=True)
        )
        return first, second

    def _atoms(self, _: Direction) -> tuple[Floats, Floats]:
        # Those of both sides, and at 0 what is left.
        (losses, masses), (others, weights) = map(PoissonPair(self.base, self.rate).atoms, DIRECTIONS)
        high, low = losses > 0.0, others < 0.0
        smooth = float(self._tails("remove", np.array([-np.inf]))[0][0])
        rest = 1.0 - smooth - float(masses[high].sum()) - float(weights[low].sum())
        # Raised by its rounding: mass at loss 0 that is not there costs nothing to speak of.
        middle = max(rest, 0.0) + 32.0 * UNIT
        at = np.concatenate([others[low], [0.0], losses[high]])
        return at, np.concatenate([weights[low], [middle], masses[high]])
