"""Pairs with bounded loss: Laplace, randomised response, the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld.pairs.pair import (
    NO_ATOMS,
    UNIT,
    Direction,
    Floats,
    require_non_negative,
    require_probability,
)


@dataclass(frozen=True, slots=True)
class LaplacePair:
    r"""Scalar Laplace noise of scale sensitivity over epsilon.

    .. math:: \delta(t) = 1 - e^{(t - \varepsilon)/2}, \quad |t| \le \varepsilon

    Guarantee
    ---------
    - The profile is exact, with half of the mass of P at the largest loss.

    Parameters
    ----------
    epsilon
        Sensitivity over scale, at least 0.

    Examples
    --------
    >>> LaplacePair(1.0).lattice
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        require_non_negative("epsilon", self.epsilon)

    @property
    def symmetric(self) -> bool:
        """Both directions have the same loss."""
        return True

    @property
    def lattice(self) -> float:
        """The atoms are plus and minus epsilon."""
        return self.epsilon

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails of the losses strictly between the atoms."""
        del direction
        below = 0.5 * (self.epsilon - np.clip(points, -self.epsilon, self.epsilon))
        other = 0.5 * (np.exp(below - self.epsilon) - math.exp(-self.epsilon))
        return -0.5 * np.expm1(-below), np.where(
            below < 1.0, 0.5 * math.exp(-self.epsilon) * np.expm1(np.minimum(below, 1.0)), other
        )

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the two ends, where the output lies beyond both centres."""
        del direction
        e = self.epsilon
        return np.array([-e, e]), np.array([0.5 * math.exp(-e), 0.5])

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """Two roundings of the argument."""
        del largest
        return 8.0 * UNIT * self.epsilon


@dataclass(frozen=True, slots=True)
class RandomisedResponse:
    r"""Leaky randomised response, the worst of all :math:`(\varepsilon, \delta)` mechanisms.

    .. math:: P[Y = \infty] = \delta, \quad
        P[Y = \pm\varepsilon] = (1 - \delta)\, \frac{1}{1 + e^{\mp\varepsilon}}

    Guarantee
    ---------
    - Dominates every mechanism that is (epsilon, delta)-private, and is one.

    Parameters
    ----------
    epsilon, delta
        At least 0; in [0, 1].

    Examples
    --------
    >>> RandomisedResponse(1.0, 1e-6).infinite("remove")
    1e-06
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        require_non_negative("epsilon", self.epsilon)
        require_probability("delta", self.delta)

    @property
    def symmetric(self) -> bool:
        """Both directions have the same loss."""
        return True

    @property
    def lattice(self) -> float:
        """The atoms are plus and minus epsilon."""
        return self.epsilon

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Nothing but atoms."""
        del direction
        return np.zeros_like(points), np.zeros_like(points)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the lie and the truth."""
        del direction
        small = math.exp(-self.epsilon)
        finite = (1.0 - self.delta) / (1.0 + small)
        return np.array([-self.epsilon, self.epsilon]), np.array([small * finite, finite])

    def infinite(self, direction: Direction) -> float:
        """Return the probability of the leak."""
        del direction
        return self.delta

    def loss_error(self, largest: float) -> float:
        """The losses are given exactly."""
        del largest
        return 0.0


@dataclass(frozen=True, slots=True)
class ExponentialPair:
    r"""All mechanisms of bounded range eta: the exponential mechanism.

    .. math:: \delta(t) = \frac{(1 - e^{(t - \eta)/2})^2}{1 - e^{-\eta}}, \quad |t| \le \eta

    This is the supremum over all two-point pairs with losses :math:`\tau` and
    :math:`\tau - \eta`, hence itself the profile of a dominating pair.

    Guarantee
    ---------
    - Never below the profile of any two-point pair of range eta, and attained at every epsilon.

    Parameters
    ----------
    eta
        Range of the loss: epsilon of the exponential mechanism with weights
        ``exp(epsilon u / (2 sensitivity))``.

    References
    ----------
    Dong, Durfee and Rogers (2020), "Optimal differential privacy composition for exponential
    mechanisms", section 4.

    Examples
    --------
    >>> ExponentialPair(1.0).symmetric
    True
    """

    eta: float

    def __post_init__(self) -> None:
        require_non_negative("eta", self.eta)

    @property
    def symmetric(self) -> bool:
        """Both directions have the same profile."""
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
        """Return both tails of a loss with density proportional to exp(y / 2)."""
        del direction
        if self.eta == 0.0:
            return np.zeros_like(points), np.zeros_like(points)
        whole = -math.expm1(-self.eta)
        below = 0.5 * (self.eta - np.clip(points, -self.eta, self.eta))
        other = np.exp(below - self.eta) - math.exp(-self.eta)
        near = math.exp(-self.eta) * np.expm1(np.minimum(below, 1.0))
        return -np.expm1(-below) / whole, np.where(below < 1.0, near, other) / whole

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Without range the loss is 0."""
        del direction
        return NO_ATOMS if self.eta > 0.0 else (np.zeros(1), np.ones(1))

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """Two roundings of the argument."""
        del largest
        return 8.0 * UNIT * self.eta
