"""What becomes of a cell before the design sees it: public rules, one a column.

A number is clipped into its declared bounds, and a missing one replaced by a declared constant. A
missing or undeclared label is replaced by a declared level. Where no substitute is declared, a
missing cell or an undeclared label makes the record invalid.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tacit.errors import BoundsError


@dataclass(frozen=True)
class NumericCell:
    """A number clipped into [lower, upper]; `missing` stands for a missing one, if given.

    Guarantee
    ---------
    - The bounds are finite, lower < upper, and `missing` lies within them.
    """

    lower: float
    upper: float
    missing: float | None = None

    def __post_init__(self) -> None:
        """Refuse bounds that bound nothing."""
        if not (
            math.isfinite(self.lower) and math.isfinite(self.upper) and self.lower < self.upper
        ):
            raise BoundsError("The bounds of a cell must be finite, the lower one first.")
        if self.missing is not None and not self.lower <= self.missing <= self.upper:
            raise BoundsError("What stands for a missing cell must lie within the bounds.")


@dataclass(frozen=True)
class LabelCell:
    """Declared levels that stand for a missing label and for an undeclared one, if given."""

    missing: str | None = None
    other: str | None = None


Cell = NumericCell | LabelCell


def cell_to_json(cell: Cell) -> dict[str, Any]:
    """Plain data for the stored fit."""
    return asdict(cell)


def cell_from_json(data: Mapping[str, Any]) -> Cell:
    """Read back what `cell_to_json` wrote."""
    missing = data["missing"]
    if "other" in data:
        other = data["other"]
        return LabelCell(
            None if missing is None else str(missing), None if other is None else str(other)
        )
    return NumericCell(
        float(data["lower"]), float(data["upper"]), None if missing is None else float(missing)
    )
