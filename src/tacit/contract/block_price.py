"""Prices of answers about blocks that are no sums: medians, and deep points.

A median is drawn by the exponential mechanism: of score changes of at most 1, at a rate r, its privacy loss has a range
of η = 2r. A deep point is ε-private but for δ (proofs/mechanisms/block_depth.md):

    ε = test + 2·rate + shell,        δ = shell
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.privacy.event import Approximate, BoundedRange, Event, Repeated


@dataclass(frozen=True)
class ChoicePrice:
    """The rate at which scores decide: a choice with score s has weight exp(-rate·s)."""

    rate: Fraction
    bound: ClassVar[int] = 1
    """What one block moves a score by."""
    bits: ClassVar[int] = 0
    """Scores are whole numbers."""

    def event(self, size: int, label: str) -> Event:
        """Event of `size` choices."""
        return Repeated(BoundedRange(2 * self.rate, label), size)


@dataclass(frozen=True)
class DepthPrice:
    """The ε of the stability test, the rate of depths, and the largest share of the outermost shell."""

    test: Fraction
    rate: Fraction
    shell: Fraction
    bound: ClassVar[int] = 1
    """What one block moves a depth and a distance by."""
    bits: ClassVar[int] = 0
    """Both are whole numbers."""

    @property
    def threshold(self) -> int:
        """What the noisy distance must reach: e^(-test·(threshold - 1)) is at most the share of the shell."""
        return math.floor(-math.log(self.shell) / float(self.test) * (1 + 1e-9)) + 2

    def event(self, label: str) -> Event:
        """Event of the test and the point together."""
        return Approximate(self.test + 2 * self.rate + self.shell, self.shell, label)


BlockPrice = ChoicePrice | DepthPrice


def depth_price(epsilon: Fraction, delta: Fraction) -> DepthPrice:
    """Half of ε for the test, the rest for the point.

    Guarantee: the event costs at most (epsilon, delta), in exact rationals.
    """
    shell = min(delta, epsilon / 100)
    test = epsilon / 2
    return DepthPrice(test, (epsilon - test - shell) / 2, shell)
