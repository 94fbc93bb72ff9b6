"""Public rules for a cell before the design uses it: clipping, and what stands for a missing value.

Where no substitute is declared, a missing cell or an undeclared label makes the record invalid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.errors import BoundsError


@dataclass(frozen=True)
class NumericCell:
    """A number clipped into [lower, upper]; `missing`, if given, replaces a missing one.

    Guarantee
    ---------
    - The bounds are finite, lower < upper, and `missing` lies within them.
    """

    lower: float
    upper: float
    missing: float | None = None

    def __post_init__(self) -> None:
        if not -math.inf < self.lower < self.upper < math.inf:
            raise BoundsError("The bounds of a cell must be finite, the lower one first.")
        if self.missing is not None and not self.lower <= self.missing <= self.upper:
            raise BoundsError("What stands for a missing cell must lie within the bounds.")


@dataclass(frozen=True)
class LabelCell:
    """Declared levels that replace a missing label and an undeclared one, if given."""

    missing: str | None = None
    other: str | None = None


Cell = NumericCell | LabelCell
