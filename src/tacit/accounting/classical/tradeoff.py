r"""What a guarantee means for an attacker: the trade-off between false alarms and detections.

An attacker who must decide from the release whether a person is in the table, and accepts a rate
:math:`\alpha` of false alarms, misses the person at least :math:`f(\alpha)` of the time; the power
is at most :math:`1 - f(\alpha)`.

References
----------
Wasserman and Zhou (2010), "A statistical framework for differential privacy", Theorem 2.4.
Dong, Roth and Su (2022), "Gaussian differential privacy", Propositions 2.3, 2.4 and 2.12.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from scipy import special

from tacit.accounting.renyi._arguments import ALLOWANCE, non_negative, probability
from tacit.errors import BudgetError


class TradeOff(Protocol):
    """A lower bound of the misses at each rate of false alarms."""

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""


@dataclass(frozen=True, slots=True)
class Approximate:
    r"""The trade-off of an (epsilon, delta) guarantee.

    .. math:: f(\alpha) = \max\{0,\ 1 - \delta - e^{\varepsilon}\alpha,\
        e^{-\varepsilon}(1 - \delta - \alpha)\}

    Guarantee
    ---------
    - Its own inverse: both orders of the two tables are covered.
    - Rounded down.

    Examples
    --------
    >>> round(Approximate(epsilon=1.0, delta=0.0).misses_at(0.05), 4)
    0.8641
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        non_negative("epsilon", self.epsilon)
        probability("delta", self.delta)

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""
        alarm = probability("false_alarm", false_alarm)
        rest = 1.0 - self.delta
        steep = rest - math.exp(self.epsilon) * alarm if self.epsilon < 700.0 else 0.0
        if alarm == 0.0:
            steep = rest
        flat = math.exp(-self.epsilon) * (rest - alarm)
        # Absolute slack: both are differences of numbers of at most 1 where they matter.
        return max(max(steep, flat) - ALLOWANCE, 0.0)


@dataclass(frozen=True, slots=True)
class Gaussian:
    r"""The trade-off of mu-GDP, :math:`G_\mu(\alpha) = \Phi(\Phi^{-1}(1 - \alpha) - \mu)`.

    Guarantee
    ---------
    - Its own inverse, decreasing and convex.
    - Rounded down.

    Examples
    --------
    >>> round(Gaussian(mu=1.0).misses_at(0.05), 4)
    0.7405
    """

    mu: float

    def __post_init__(self) -> None:
        non_negative("mu", self.mu)

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""
        alarm = probability("false_alarm", false_alarm)
        if math.isinf(self.mu) or alarm >= 1.0:
            return 0.0
        if alarm == 0.0:
            return 1.0
        point = -float(special.ndtri(alarm)) - self.mu
        # The quantile and the difference err by a few units of their size.
        safe = point - 2.0**-44 * (1.0 + abs(point) + self.mu)
        return max(float(special.ndtr(safe)) * (1.0 - ALLOWANCE) - ALLOWANCE, 0.0)


@dataclass(frozen=True, slots=True)
class Profile:
    r"""The trade-off of a whole curve of guarantees, the best of its pairs.

    .. math:: f(\alpha) = \sup_i f_{\varepsilon_i, \delta_i}(\alpha)

    Guarantee
    ---------
    - At least the trade-off of each pair; equal to that of a single pair.
    - Symmetric, because every pair holds in both orders of the two tables.

    Parameters
    ----------
    pairs
        Pairs (epsilon, delta) that all hold for the same release.

    Examples
    --------
    >>> curve = Profile(((0.5, 1e-2), (1.0, 1e-6)))
    >>> curve.misses_at(0.05) >= Approximate(1.0, 1e-6).misses_at(0.05)
    True
    """

    pairs: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        pairs = tuple((float(epsilon), float(delta)) for epsilon, delta in self.pairs)
        if not pairs:
            raise BudgetError("a profile has no pairs; expected at least one (epsilon, delta)")
        for pair in pairs:
            Approximate(*pair)
        object.__setattr__(self, "pairs", pairs)

    def misses_at(self, false_alarm: float) -> float:
        """Return the least rate of misses, rounded down."""
        return max(Approximate(*pair).misses_at(false_alarm) for pair in self.pairs)


def power_at(false_alarm: float, guarantee: TradeOff) -> float:
    r"""Return the most that an attacker detects at a rate of false alarms, rounded up.

    Guarantee
    ---------
    - At least the rate of false alarms, at most 1, and non-decreasing in that rate.

    Parameters
    ----------
    false_alarm
        In [0, 1], for example 0.05.
    guarantee
        `Approximate`, `Gaussian` or `Profile`.

    Examples
    --------
    >>> round(power_at(0.05, Approximate(epsilon=1.0, delta=1e-6)), 4)
    0.1359
    """
    alarm = probability("false_alarm", false_alarm)
    power = 1.0 - guarantee.misses_at(alarm)
    return min(max(power * (1.0 + 2.0**-52), alarm), 1.0)


def inverse_at(misses: float, guarantee: TradeOff) -> float:
    r"""Return the least rate of false alarms that goes with a rate of misses, rounded down.

    .. math:: f^{-1}(\beta) = \inf\{\alpha : f(\alpha) \le \beta\}

    Guarantee
    ---------
    - For the symmetric trade-offs of this module it equals `misses_at` up to rounding.

    Examples
    --------
    >>> round(inverse_at(0.05, Gaussian(mu=1.0)), 4)
    0.7405
    """
    misses = probability("misses", misses)
    if guarantee.misses_at(0.0) <= misses:
        return 0.0
    low, high = 0.0, 1.0
    while high - low > 2.0**-40:
        middle = 0.5 * (low + high)
        if guarantee.misses_at(middle) <= misses:
            high = middle
        else:
            low = middle
    return low


def symmetrised(pairs: Iterable[tuple[float, float]], false_alarm: float) -> float:
    r"""Return the misses that one-sided pairs force in both orders, rounded down.

    A one-sided pair, epsilon of any sign, says :math:`f(\alpha) \ge 1 - \delta -
    e^{\varepsilon}\alpha` for one order of the tables. If the pairs hold for every ordered pair of
    neighbours, both :math:`f` and its inverse bound the misses: the larger of the two is returned.

    Guarantee
    ---------
    - At least the one-sided bound; `Approximate` for one pair with epsilon >= 0.

    Examples
    --------
    >>> round(symmetrised([(1.0, 0.0)], 0.05), 4)
    0.8641
    """
    alarm = probability("false_alarm", false_alarm)
    best = 0.0
    for epsilon, delta in pairs:
        rest = 1.0 - probability("delta", delta)
        ratio = math.exp(max(min(epsilon, 700.0), -700.0))
        best = max(best, rest - ratio * alarm, (rest - alarm) / ratio)
    return max(best - ALLOWANCE, 0.0)
