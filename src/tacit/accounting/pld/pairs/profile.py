"""A pair known by its profile alone: connect the dots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tacit.accounting.arguments import Floats
from tacit.accounting.pld.pairs.pair import ClosedForm, Direction, require_probability


@dataclass(frozen=True, slots=True)
class Profile(ClosedForm):
    r"""Any mechanism with a known profile :math:`\delta(\varepsilon)` for all real epsilon.

    As a function of :math:`x = e^\varepsilon` a profile is convex, falls from 1 at 0 and is at
    least :math:`1 - x`. The chords through its values on a grid lie above it and are the profile of
    a pair whose losses are on the grid.

    Guarantee
    ---------
    - The upper version dominates the profile on and between the points of any grid.

    Parameters
    ----------
    delta_of_epsilon
        Takes an array of real numbers, negative ones included, and returns an array. Must be the
        hockey-stick divergence of one pair, or an upper bound of one that is itself convex in
        exp(epsilon).
    limit
        Its limit at infinity.

    Reference: Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), Theorem 3.
    """

    delta_of_epsilon: Callable[[Floats], Floats]
    limit: float = 0.0

    def __post_init__(self) -> None:
        require_probability("limit", self.limit)

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
