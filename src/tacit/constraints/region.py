"""Public constraint regions for the slopes, on the user's scale: box, l1 ball, simplex.

A region projects in the user's coordinates; `constraints.proximal` projects in those of a solver.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.validate import positive

Vector = NDArray[np.float64]


class Region(ABC):
    """A closed convex set of slope vectors."""

    @abstractmethod
    def nearest(self, slopes: Vector) -> Vector:
        """Return the nearest point of the region, in the Euclidean norm."""

    def check(self, count: int) -> None:
        """Refuse a number of slopes that the region does not fit."""
        del count


@dataclass(frozen=True)
class Box(Region):
    """lower ≤ slope ≤ upper, with one pair of ends for all slopes or one per slope.

    Examples
    --------
    >>> Box(0, math.inf).nearest(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    lower: float | Sequence[float] = -math.inf
    upper: float | Sequence[float] = math.inf

    def __post_init__(self) -> None:
        low, high = np.asarray(self.lower, np.float64), np.asarray(self.upper, np.float64)
        if low.ndim > 1 or high.ndim > 1 or not (low <= high).all():
            raise SettingError("Every lower end of a box must be at most its upper end.")
        if (low == math.inf).any() or (high == -math.inf).any():
            raise SettingError("A box must contain finite slopes.")
        # Arrays are abbreviated when printed: two different boxes could look alike.
        for name, ends in (("lower", low), ("upper", high)):
            object.__setattr__(self, name, tuple(ends.tolist()) if ends.ndim else float(ends))

    def nearest(self, slopes: Vector) -> Vector:
        """Clip every slope."""
        return np.asarray(np.clip(slopes, self.lower, self.upper))

    def check(self, count: int) -> None:
        """Refuse ends for another number of slopes."""
        for ends in (np.asarray(self.lower), np.asarray(self.upper)):
            if ends.shape not in {(), (count,)}:
                raise SettingError(f"The ends of a box must be single numbers or {count} each.")


def non_negative() -> Box:
    """No slope below zero."""
    return Box(0.0, math.inf)


@dataclass(frozen=True)
class L1Ball(Region):
    """Σ|slope| ≤ radius: a lasso in its constrained form.

    Examples
    --------
    >>> L1Ball(1.0).nearest(np.array([3.0, 0.5])).tolist()
    [1.0, 0.0]
    """

    radius: float

    def __post_init__(self) -> None:
        positive("The radius of an l1 ball", self.radius)

    def nearest(self, slopes: Vector) -> Vector:
        """Soft-threshold, with the threshold found by sorting."""
        sizes = np.abs(slopes)
        if sizes.sum() <= self.radius:
            return slopes
        return np.asarray(np.sign(slopes) * _onto_simplex(sizes, self.radius))


@dataclass(frozen=True)
class Simplex(Region):
    """No slope below zero, and their sum is `total`.

    Examples
    --------
    >>> Simplex().nearest(np.array([0.5, 0.5, -1.0])).tolist()
    [0.5, 0.5, 0.0]
    """

    total: float = 1.0

    def __post_init__(self) -> None:
        positive("The total of a simplex", self.total)

    def nearest(self, slopes: Vector) -> Vector:
        """Subtract one threshold from all slopes, and clip at zero."""
        return _onto_simplex(slopes, self.total)


def _onto_simplex(values: Vector, total: float) -> Vector:
    """Nearest point with entries ≥ 0 and the given sum."""
    # A shift of all entries does not change the result, and avoids rounding next to large ones.
    shifted = values - values.max()
    falling = np.sort(shifted)[::-1]
    thresholds = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    threshold = thresholds[np.flatnonzero(falling > thresholds)[-1]]
    return np.asarray(np.maximum(shifted - threshold, 0.0))
