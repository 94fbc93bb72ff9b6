"""The pair of an integer released with discrete Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tacit.accounting.pld._signals import GridTooLong
from tacit.accounting.pld.pairs.pair import UNIT, Direction, Floats, require_non_negative
from tacit.errors import SettingError

# Beyond 39 standard deviations a mass is below the smallest float; the loss is then infinite.
_DEEPEST = 39.0
_MOST_ATOMS = 2**21


@dataclass(frozen=True, slots=True)
class DiscreteGaussianPair:
    r"""An integer moved by at most an integer shift, with discrete Gaussian noise.

    .. math:: P[X = x] \propto e^{-x^2 / (2 \sigma^2)}, \quad
        Y = \frac{\Delta^2 - 2 \Delta X}{2 \sigma^2}

    Guarantee
    ---------
    - The profile equals the sum over integers; the mass beyond 39 sigma is kept at infinity.

    Parameters
    ----------
    squared_sensitivity_root
        The shift, a non-negative integer.
    sigma
        Parameter of the noise, above 0 and at most 2^21 / 78.

    Examples
    --------
    >>> DiscreteGaussianPair(squared_sensitivity_root=1, sigma=2.0).lattice
    0.125
    """

    squared_sensitivity_root: int
    sigma: float

    def __post_init__(self) -> None:
        if not isinstance(self.squared_sensitivity_root, int) or self.squared_sensitivity_root < 0:
            raise SettingError(
                "squared_sensitivity_root is not a count; expected an integer of at least 0"
            )
        require_non_negative("sigma", self.sigma)
        if self.sigma == 0.0:
            raise SettingError("sigma is 0; expected a number above 0")
        if 2.0 * _DEEPEST * self.sigma > _MOST_ATOMS:
            raise GridTooLong(
                f"sigma {self.sigma!r} has too many integers within 39 sigma; expected at most "
                f"{_MOST_ATOMS / (2 * _DEEPEST):.0f}. Price the release as a Gaussian one"
            )

    @property
    def symmetric(self) -> bool:
        """Both directions have the same loss."""
        return True

    @property
    def lattice(self) -> float:
        """All losses are multiples of half the step of the loss."""
        step = self.squared_sensitivity_root / self.sigma**2
        return step if self.squared_sensitivity_root % 2 == 0 else 0.5 * step

    @property
    def knows_slopes(self) -> bool:
        """Closed forms."""
        return True

    def smooth(self, direction: Direction, points: Floats) -> tuple[Floats, Floats]:
        """Nothing but atoms."""
        del direction
        return np.zeros_like(points), np.zeros_like(points)

    def atoms(self, direction: Direction) -> tuple[Floats, Floats]:
        """Return the loss of every integer within 39 sigma, in increasing order."""
        del direction
        shift = self.squared_sensitivity_root
        if shift == 0:
            return np.zeros(1), np.ones(1)
        reach = int(_DEEPEST * self.sigma) + 1
        integers = np.arange(reach, -reach - 1, -1, dtype=np.float64)
        weights = np.exp(-0.5 * (integers / self.sigma) ** 2)
        losses = (0.5 * shift - integers) * (shift / self.sigma**2)
        return losses, weights / weights.sum()

    def infinite(self, direction: Direction) -> float:
        """Return a bound of the mass beyond 39 sigma."""
        del direction
        return 1e-300

    def loss_error(self, largest: float) -> float:
        """Four roundings of the loss."""
        return 8.0 * UNIT * largest
