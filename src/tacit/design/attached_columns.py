"""Columns attached to a record beside its features and response: weight, offset, privacy unit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.errors import SettingError
from tacit.validate import positive, whole

LARGEST_OFFSET = 1e6


@dataclass(frozen=True)
class Weighting:
    """A record counts w times: w = min(cell, `maximum`) × the weight of its class.

    Without a column every cell is 1, and without `by_class` the weight of every class is 1.
    Prepared weights are divided by `largest`, so they lie in [0, 1] and never raise a sensitivity.
    """

    column: str | None = None
    maximum: float = 1.0
    by_class: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        positive("The largest weight", self.maximum)
        weights = (1.0,) if self.by_class is None else self.by_class
        if not (all(0 <= weight < math.inf for weight in weights) and max(weights) > 0):
            raise SettingError("Class weights must be finite, not negative, and not all zero.")

    @property
    def largest(self) -> float:
        """The largest weight a record can have, in the user's units."""
        return self.maximum * (1.0 if self.by_class is None else max(self.by_class))


@dataclass(frozen=True)
class Offset:
    """A term of the linear predictor with coefficient 1, clipped into [lower, upper].

    With `exposure` the term is the logarithm of the cell; the bounds are those of the term.
    """

    column: str
    lower: float
    upper: float
    exposure: bool = False

    def __post_init__(self) -> None:
        if not (self.lower < self.upper and max(abs(self.lower), abs(self.upper)) <= LARGEST_OFFSET):
            raise SettingError("Bounds of an offset must be moderate, the lower one first.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, as the only one."""
        return (self.column,)


@dataclass(frozen=True)
class OffsetTerm:
    """`weight` times a cell, or its logarithm, clipped into [lower, upper] before it is weighted."""

    column: str
    weight: float
    lower: float
    upper: float
    exposure: bool = False

    def __post_init__(self) -> None:
        Offset(self.column, self.lower, self.upper, self.exposure)
        if not 0 < abs(self.weight) <= LARGEST_OFFSET:
            raise SettingError("The number that an offset is multiplied by must be moderate, and not 0.")


@dataclass(frozen=True)
class OffsetSum:
    """A sum of weighted terms of the linear predictor."""

    terms: tuple[OffsetTerm, ...]

    def __post_init__(self) -> None:
        if not self.terms or not max(abs(self.lower), abs(self.upper)) <= LARGEST_OFFSET:
            raise SettingError("Bounds of an offset must be moderate, the lower one first.")

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of its terms."""
        return tuple(term.column for term in self.terms)

    @property
    def lower(self) -> float:
        """The smallest sum."""
        return sum(min(term.weight * term.lower, term.weight * term.upper) for term in self.terms)

    @property
    def upper(self) -> float:
        """The largest sum."""
        return sum(max(term.weight * term.lower, term.weight * term.upper) for term in self.terms)

    @property
    def exposure(self) -> bool:
        """Whether a term is a logarithm, so that cells must be above 0."""
        return any(term.exposure for term in self.terms)


AnyOffset = Offset | OffsetSum


@dataclass(frozen=True)
class Unit:
    """The column that names the privacy unit of a record, and the number of records a unit keeps.

    Kept are records with the smallest `order` cells, else with the smallest hash of their content, wherever they stand.
    """

    column: str
    max_rows: int
    order: str | None = None

    def __post_init__(self) -> None:
        whole("max_rows_per_unit", self.max_rows, 1, 10_000)


@dataclass(frozen=True)
class AttachedColumns:
    """All attached columns that are declared."""

    weighting: Weighting | None = None
    offset: AnyOffset | None = None
    unit: Unit | None = None
