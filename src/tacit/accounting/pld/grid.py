r"""The losses of a discretised distribution: multiples of a step, dense where the mass is.

A grid is a set of integers n; its losses are the exact products n h.
Proof: ``proofs/accounting/pld/grid.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError, TacitError

# exp of a loss must stay a normal float.
LARGEST_LOSS = 690.0
# Below this step the split of a cell drowns in the rounding of its two tails.
SMALLEST_STEP = 2.0**-33
_STEP_BITS = 30


class GridTooLong(TacitError, ArithmeticError):
    """A grid fine enough would be too long, or the losses leave the range of floats."""


class BelowRoundOff(TacitError, ArithmeticError):
    """The delta asked for is below what floating-point transforms can certify."""


@dataclass(frozen=True)
class Grid:
    """Losses ``indices * step`` in increasing order.

    Guarantee
    ---------
    - Products are exact for indices of at most 23 bits, or if the step is a power of 2.
    """

    step: float
    indices: NDArray[np.int64]

    @property
    def points(self) -> NDArray[np.float64]:
        """The losses themselves."""
        return self.indices.astype(np.float64) * self.step


def rounded_step(step: float) -> float:
    """Return the largest step of at most 30 bits that is not above the given one.

    Guarantee
    ---------
    - At most a factor of 1 - 2^-29 below the argument.
    """
    if not 0.0 < step < math.inf:
        raise SettingError(f"step is {step!r}; expected a finite number above 0")
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.floor(mantissa * 2.0**_STEP_BITS), exponent - _STEP_BITS)


def dyadic(step: float, *, center: int, low: float, high: float, per_octave: int) -> Grid:
    """Return a grid that is dense around a centre and thins out with the distance from it.

    Guarantee
    ---------
    - Holds a point at or below ``low`` and one at or above ``high``, and the centre between.
    - Points at distance r from the centre are at most ``max(step, r / per_octave)`` apart.
    """
    first, last = math.floor(low / step), math.ceil(high / step)
    center = min(max(center, first), last)
    right = _offsets(last - center, per_octave)
    left = _offsets(center - first, per_octave)
    indices = np.concatenate([center - left[:0:-1], center + right])
    return Grid(step, indices)


def _offsets(farthest: int, per_octave: int) -> NDArray[np.int64]:
    """Distances 0, 1, … that double their spacing every octave, ending with the farthest."""
    pieces = [np.arange(min(2 * per_octave, farthest) + 1, dtype=np.int64)]
    spacing, start = 2, 2 * per_octave
    while start < farthest:
        stop = min(2 * start, farthest)
        pieces.append(np.arange(start + spacing, stop + 1, spacing, dtype=np.int64))
        spacing, start = 2 * spacing, 2 * start
    offsets = np.concatenate(pieces)
    return offsets if offsets[-1] == farthest else np.append(offsets, np.int64(farthest))
