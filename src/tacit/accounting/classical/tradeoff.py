r"""What a guarantee means for an attacker: the trade-off between false alarms and detections.

An attacker who must decide from the release whether a person is in the table, and accepts a rate
:math:`\alpha` of false alarms, misses the person at least :math:`f(\alpha)` of the time; the power
is at most :math:`1 - f(\alpha)`.

References: Wasserman and Zhou (2010), Theorem 2.4. Dong, Roth and Su (2022), Propositions 2.3, 2.4
and 2.12.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from scipy import special

from tacit.accounting.arguments import non_negative, probability
from tacit.accounting.rounding import ALLOWANCE
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
    """The trade-off of several pairs (epsilon, delta) that hold for one release: the best of them.

    Guarantee
    ---------
    - At least the trade-off of each pair; equal to that of a single pair.
    - Symmetric, because every pair holds in both orders of the two tables.
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
    """Return the most that an attacker detects at a rate of false alarms, rounded up.

    Guarantee
    ---------
    - At least the rate of false alarms, at most 1, and non-decreasing in that rate.
    """
    alarm = probability("false_alarm", false_alarm)
    power = 1.0 - guarantee.misses_at(alarm)
    return min(max(power * (1.0 + 2.0**-52), alarm), 1.0)
