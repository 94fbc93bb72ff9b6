"""Pairs made of one Gaussian: the Gaussian mechanism and objective perturbation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from tacit.accounting.pld.pairs.pair import (
    NO_ATOMS,
    UNIT,
    Direction,
    Floats,
    require_non_negative,
)
from tacit.errors import SettingError


@dataclass(frozen=True, slots=True)
class GaussianPair:
    r"""The Gaussian mechanism: :math:`P = N(\mu, 1)`, :math:`Q = N(0, 1)`.

    .. math:: Y \sim N(\mu^2/2, \mu^2)

    Guarantee
    ---------
    - The profile is that of ``tacit.accounting.gaussian.delta``.

    Parameters
    ----------
    mu
        Sensitivity over noise scale, above 0.

    Examples
    --------
    >>> GaussianPair(0.5).symmetric
    True
    """

    mu: float

    def __post_init__(self) -> None:
        require_non_negative("mu", self.mu)

    @property
    def symmetric(self) -> bool:
        """Both directions have the same loss."""
        return True

    @property
    def lattice(self) -> float:
        """No atoms."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails of the loss."""
        del direction
        if self.mu == 0.0:
            return np.zeros_like(points), np.zeros_like(points)
        ratio, half = points / self.mu, 0.5 * self.mu
        return special.ndtr(half - ratio), special.ndtr(-half - ratio)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Without sensitivity the loss is 0."""
        del direction
        return NO_ATOMS if self.mu > 0.0 else (np.zeros(1), np.ones(1))

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """Two roundings of the argument, in units of the loss."""
        return 8.0 * UNIT * (largest + self.mu * self.mu)


@dataclass(frozen=True, slots=True)
class ObjectivePerturbation:
    r"""The loss that dominates a minimiser of a perturbed objective.

    .. math:: Y = c + \max(0, V), \quad V \sim N(\mu^2/2, \mu^2) \qquad\text{(one sign)}

    .. math:: Y = c + \mu^2/2 + |A|, \quad A \sim N(0, \mu^2) \qquad\text{(two signs)}

    Guarantee
    ---------
    - One sign, epsilon at least c: the profile is the Gaussian one at ``epsilon - c``.

    Parameters
    ----------
    c
        Bound of the logarithm of the Jacobian, at least 0.
    mu
        Gradient bound over the scale of the noise in the objective; twice that for replace-one.
    signs
        1 if the derivative of the loss has one sign given the record, else 2.
    c_add
        The same bound in the add direction; 0 under add-remove and zero-out. Default: ``c``.

    Examples
    --------
    >>> ObjectivePerturbation(c=0.1, mu=0.5, signs=1, c_add=0.0).symmetric
    False
    """

    c: float
    mu: float
    signs: Literal[1, 2] = 1
    c_add: float | None = None

    def __post_init__(self) -> None:
        require_non_negative("c", self.c)
        require_non_negative("mu", self.mu)
        if self.c_add is not None:
            require_non_negative("c_add", self.c_add)
        if self.signs not in (1, 2):
            raise SettingError(f"signs is {self.signs!r}; expected 1 or 2")

    @property
    def symmetric(self) -> bool:
        """Whether the Jacobian term is the same both ways."""
        return self.c_add is None or self.c_add == self.c

    @property
    def lattice(self) -> float:
        """The one atom is no lattice."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails of the loss, without the atom at c."""
        c = self._c(direction)
        if self.mu == 0.0:
            return np.zeros_like(points), np.zeros_like(points)
        if self.signs == 1:
            ratio, half = np.maximum(points - c, 0.0) / self.mu, 0.5 * self.mu
            return special.ndtr(half - ratio), np.exp(-c) * special.ndtr(-half - ratio)
        ratio = np.maximum(points - (c + 0.5 * self.mu * self.mu), 0.0) / self.mu
        return 2.0 * special.ndtr(-ratio), 2.0 * np.exp(-c) * special.ndtr(-self.mu - ratio)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the atom at c: all negative V are taken as 0."""
        c = self._c(direction)
        if self.mu == 0.0:
            return np.array([c]), np.ones(1)
        if self.signs == 2:
            return NO_ATOMS
        return np.array([c]), np.array([special.ndtr(-0.5 * self.mu)])

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """Roundings of the shift and of the argument, in units of the loss."""
        return 16.0 * UNIT * (largest + self.c + self.mu * self.mu)

    def _c(self, direction: Direction) -> float:
        return self.c_add if direction == "add" and self.c_add is not None else self.c
