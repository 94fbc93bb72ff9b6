"""Pairs of the Gaussian mechanism on a random sample of the records."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from scipy import special

from tacit.accounting.pld.pairs.pair import (
    NO_ATOMS,
    UNIT,
    Direction,
    Floats,
    require_non_negative,
    require_probability,
)
from tacit.errors import SettingError

# Beyond this loss 1 - q no longer counts beside exp(loss), and the inverse is a straight line.
_LARGE = 40.0

SampledRelation: TypeAlias = Literal["add-remove", "zero-out", "replace-one"]


@dataclass(frozen=True, slots=True)
class PoissonGaussian:
    r"""Gaussian noise on the sum over a sample in which each record is with probability q.

    .. math:: P = (1 - q) N(0, 1) + q N(\mu, 1), \quad Q = N(0, 1) \qquad\text{(remove)}

    and the two exchanged (add). For replace-one both are mixtures and only one direction exists:

    .. math:: P = (1 - q) N(0, 1) + q N(\mu, 1), \quad Q = (1 - q) N(0, 1) + q N(-\mu, 1).

    Guarantee
    ---------
    - The profile of each direction is the exact one, for one release checked against 50 digits.
    - Rate 1 is the Gaussian mechanism (of 2 mu for replace-one), rate 0 releases nothing.

    Parameters
    ----------
    mu
        Bound of one record's norm over the noise scale. The same number for all relations: it is
        the norm that is bounded, not the difference of two records.
    rate
        Probability of a record to be in the sample.
    relation
        The relation of neighbours.

    References
    ----------
    Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via characteristic
    function", Theorem 11. Replace-one: ``proofs/accounting/pld/pairs/sampled.md``.

    Examples
    --------
    >>> PoissonGaussian(mu=1.25, rate=0.01, relation="add-remove").symmetric
    False
    """

    mu: float
    rate: float
    relation: SampledRelation = "add-remove"

    def __post_init__(self) -> None:
        require_non_negative("mu", self.mu)
        require_probability("rate", self.rate)
        if self.relation not in ("add-remove", "zero-out", "replace-one"):
            raise SettingError(
                f"relation is {self.relation!r}; expected add-remove, zero-out or replace-one"
            )

    @property
    def symmetric(self) -> bool:
        """Replacing is undone by replacing, adding is undone by removing."""
        return self.relation == "replace-one" or self._degenerate

    @property
    def lattice(self) -> float:
        """No atoms."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    @property
    def _degenerate(self) -> bool:
        return self.mu == 0.0 or self.rate == 0.0

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails of the loss."""
        if self._degenerate:
            return np.zeros_like(points), np.zeros_like(points)
        if self.relation == "replace-one":
            edge = _symmetric_edge(self.mu, self.rate, points)
            with_plus = _mixture(self.mu, self.rate, -edge)
            return with_plus, _mixture(-self.mu, self.rate, -edge)
        if direction == "remove":
            edge = _mixture_edge(self.mu, self.rate, points)
            return _mixture(self.mu, self.rate, -edge), special.ndtr(-edge)
        edge = _mixture_edge(self.mu, self.rate, -points)
        return special.ndtr(edge), _mixture(-self.mu, self.rate, edge)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Without sensitivity or sample the loss is 0."""
        del direction
        return (np.zeros(1), np.ones(1)) if self._degenerate else NO_ATOMS

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """Backward error of the inverted loss."""
        return _sampled_loss_error(self.mu, self.rate, largest)


@dataclass(frozen=True, slots=True)
class WithoutReplacementGaussian:
    r"""Gaussian noise on the sum over a sample of fixed size, replace-one.

    .. math:: \delta(\log x) = H_x((1 - q) Q + q P \| Q), \; x \ge 1; \quad
        H_x(P \| (1 - q) P + q Q), \; x < 1

    with :math:`P = N(\mu, 1)` and :math:`Q = N(0, 1)`. The loss has an atom at 0.

    Guarantee
    ---------
    - For epsilon at least 0 this is the amplified profile
      :math:`\delta'(\log(1 + q (e^\varepsilon - 1))) = q\, \delta(\varepsilon)`; below 0 it follows
      from it by exchanging the neighbours.

    Parameters
    ----------
    mu_replace
        Twice the bound of one record's norm, over the noise scale.
    rate
        Size of the sample over the number of records.

    References
    ----------
    Balle, Barthe and Gaboardi (2018), "Privacy amplification by subsampling", Theorem 9.

    Examples
    --------
    >>> WithoutReplacementGaussian(mu_replace=2.0, rate=0.01).symmetric
    True
    """

    mu_replace: float
    rate: float

    def __post_init__(self) -> None:
        require_non_negative("mu_replace", self.mu_replace)
        require_probability("rate", self.rate)

    @property
    def symmetric(self) -> bool:
        """Replacing is undone by replacing."""
        return True

    @property
    def lattice(self) -> float:
        """An atom at 0 lies on every grid."""
        return 0.0

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    @property
    def _atom(self) -> float:
        return (1.0 - self.rate) * math.erf(self.mu_replace / math.sqrt(8.0))

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Return both tails: above 0 as for removing from a sample, below 0 as for adding."""
        del direction
        if self.mu_replace == 0.0 or self.rate == 0.0:
            return np.zeros_like(points), np.zeros_like(points)
        mu, rate, half = self.mu_replace, self.rate, 0.5 * self.mu_replace
        edge = _mixture_edge(mu, rate, np.abs(points))
        # Below 0 the tails are those at 0 plus what lies between: differences of small numbers.
        low, high = float(special.ndtr(-half)), float(special.ndtr(half))
        between = low - special.ndtr(-edge)
        below_p = (1.0 - rate) * low + rate * high + between
        below_q = low + (1.0 - rate) * between + rate * (special.ndtr(edge - mu) - low)
        above = points >= 0.0
        return (
            np.where(above, _mixture(mu, rate, -edge), below_p),
            np.where(above, special.ndtr(-edge), below_q),
        )

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the atom at 0."""
        del direction
        if self.mu_replace == 0.0 or self.rate == 0.0:
            return np.zeros(1), np.ones(1)
        return np.zeros(1), np.array([self._atom])

    def infinite(self, direction: Direction) -> float:
        """No infinite loss."""
        del direction
        return 0.0

    def loss_error(self, largest: float) -> float:
        """Backward error of the inverted loss."""
        return _sampled_loss_error(self.mu_replace, self.rate, largest)


def _mixture(mu: float, rate: float, points: Floats) -> Floats:
    """Return the probability of (1 - q) N(0) + q N(-mu) below the points."""
    shifted: Floats = rate * special.ndtr(points + mu)
    return shifted + (1.0 - rate) * special.ndtr(points) if rate < 1.0 else shifted


def _mixture_edge(mu: float, rate: float, points: Floats) -> Floats:
    """Solve log(1 - q + q exp(mu x - mu^2 / 2)) = point for x; minus infinity if below all."""
    ratio = np.maximum(np.expm1(np.minimum(points, _LARGE)) / rate, -1.0)
    with np.errstate(divide="ignore"):
        logarithm = np.log1p(ratio) + np.maximum(points - _LARGE, 0.0)
    return logarithm / mu + 0.5 * mu


def _symmetric_edge(mu: float, rate: float, points: Floats) -> Floats:
    """Solve log((1 - q + q e^(mu x - m)) / (1 - q + q e^(-mu x - m))) = point, m = mu^2 / 2."""
    if rate >= 1.0:
        return 0.5 * points / mu
    odds = math.log1p(-rate) - math.log(rate) + 0.5 * mu * mu
    half = 0.5 * np.abs(points)
    with np.errstate(divide="ignore"):
        logarithm = odds + half + np.log(-0.5 * np.expm1(-2.0 * half))
    # Past e^30 the inverse hyperbolic sine is the logarithm of twice its argument.
    large = logarithm > 30.0
    moderate = np.arcsinh(np.exp(np.minimum(logarithm, 30.0)))
    inverse = np.where(large, logarithm + math.log(2.0), moderate)
    return np.copysign(half + inverse, points) / mu


def _sampled_loss_error(mu: float, rate: float, largest: float) -> float:
    if rate == 0.0:
        return 0.0
    odds = -math.log(rate) - (math.log1p(-rate) if rate < 1.0 else 0.0)
    return 32.0 * UNIT * (largest * (1.0 + largest + odds + mu * mu) + rate * mu * mu)
