"""What a record holds beside features and response: a weight, an offset, the person it is of.

All are public declarations about columns; the cells stay private.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tacit.errors import SettingError


@dataclass(frozen=True)
class Weighting:
    """A record counts w times, w = cell (capped at `maximum`) × weight of its class.

    Prepared weights are divided by the largest possible one, so they lie in [0, 1]: a weight never
    raises a sensitivity. Without a column every cell is 1; without classes' weights theirs are.
    """

    column: str | None = None
    maximum: float = 1.0
    by_class: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse weights that mean nothing."""
        if not 0 < self.maximum < math.inf:
            raise SettingError("The largest weight must be positive and finite.")
        if self.by_class is not None and not (
            all(0 <= weight < math.inf for weight in self.by_class) and max(self.by_class) > 0
        ):
            raise SettingError("Class weights must be finite, not negative, and not all zero.")

    @property
    def largest(self) -> float:
        """The largest weight a record can have, in the user's units."""
        return self.maximum * (1.0 if self.by_class is None else max(self.by_class))


@dataclass(frozen=True)
class Offset:
    """A term of the linear predictor with coefficient 1, clipped into public bounds.

    With `exposure` the term is the logarithm of the cell; the bounds are those of the term.
    """

    column: str
    lower: float
    upper: float
    exposure: bool = False

    def __post_init__(self) -> None:
        """Refuse bounds that could make a margin overflow."""
        if not (self.lower < self.upper and max(abs(self.lower), abs(self.upper)) <= 1e6):
            raise SettingError("Bounds of an offset must be moderate, the lower one first.")


@dataclass(frozen=True)
class Unit:
    """The column that says whose record it is, and how many records of one person are kept.

    Those with the smallest `order` cells are kept, or, without one, those with the smallest hash
    of their own content: never by their place in the file.
    """

    column: str
    max_rows: int
    order: str | None = None

    def __post_init__(self) -> None:
        """Refuse a number of records that keeps none."""
        if not (isinstance(self.max_rows, int) and 1 <= self.max_rows <= 10_000):
            raise SettingError("max_rows_per_unit must be a whole number from 1 to 10000.")


@dataclass(frozen=True)
class Beside:
    """All that is declared beside features and response."""

    weighting: Weighting | None = None
    offset: Offset | None = None
    unit: Unit | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain data for the stored fit."""
        return {
            name: None if part is None else asdict(part)
            for name, part in (
                ("weighting", self.weighting),
                ("offset", self.offset),
                ("unit", self.unit),
            )
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Beside:
        """Read back what `to_json` wrote."""
        weighting, offset, unit = (data[name] for name in ("weighting", "offset", "unit"))
        if weighting is not None and weighting["by_class"] is not None:
            weighting = {**weighting, "by_class": tuple(weighting["by_class"])}
        return cls(
            None if weighting is None else Weighting(**weighting),
            None if offset is None else Offset(**offset),
            None if unit is None else Unit(**unit),
        )
