"""Weights, units and exposures that `fit` is given as separate arrays, and what each must declare.

The arrays are private and only ever pass through; this module sees which of them were given.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.contract.plan import PublicFact
from tacit.design.attached_columns import AttachedColumns, Offset, Unit, Weighting
from tacit.errors import BoundsError, SettingError
from tacit.estimators.loss_choice import require_positive
from tacit.validate import is_number, is_whole

WEIGHT, UNIT, ORDER, EXPOSURE = "sample_weight", "unit", "order", "exposure"


@dataclass(frozen=True)
class Declared:
    """Public limits of what may stand beside a table."""

    max_weight: float | None = None
    max_rows_per_unit: int | None = None
    exposure_bounds: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Refuse limits that are none."""
        if self.max_weight is not None:
            require_positive("max_weight", self.max_weight)
        rows = self.max_rows_per_unit
        if rows is not None and not is_whole(rows):
            raise SettingError("max_rows_per_unit must be a whole number of at least 1.")

    def require(self, given: Collection[str]) -> None:
        """Refuse arrays whose limit is not declared, and a limit on units that are not given."""
        if WEIGHT in given and self.max_weight is None:
            raise SettingError(
                "sample_weight needs max_weight=…: the largest weight a record may have is public, "
                "and it is never read off the weights. Larger ones count as max_weight."
            )
        if UNIT in given and self.max_rows_per_unit is None:
            raise SettingError(
                "units need max_rows_per_unit=…: how many records of one unit are kept is public."
            )
        if self.max_rows_per_unit is not None and UNIT not in given:
            raise SettingError("max_rows_per_unit needs fit(…, units=…): whose record each one is.")
        if ORDER in given and UNIT not in given:
            raise SettingError("order says which records of a unit are kept: it needs units=…")
        if EXPOSURE in given and self.exposure_bounds is None:
            raise BoundsError(
                "exposure needs exposure_bounds=(lower, upper), which are public and never read "
                "off the exposures. Values outside act as if they stood on them."
            )

    def attached(
        self, columns: Mapping[str, str], class_weights: tuple[float, ...] | None
    ) -> AttachedColumns:
        """Declarations of the columns that were given, by the names they go by."""
        weighting = offset = unit = None
        if WEIGHT in columns or class_weights is not None:
            maximum = float(self.max_weight or 1.0) if WEIGHT in columns else 1.0
            weighting = Weighting(columns.get(WEIGHT), maximum, class_weights)
        if EXPOSURE in columns:
            lower, upper = exposure_ends(self.exposure_bounds)
            offset = Offset(columns[EXPOSURE], math.log(lower), math.log(upper), exposure=True)
        if self.max_rows_per_unit is not None:
            unit = Unit(columns.get(UNIT, UNIT), int(self.max_rows_per_unit), columns.get(ORDER))
        return AttachedColumns(weighting, offset, unit)

    def facts(self, given: Collection[str]) -> list[PublicFact]:
        """What the certificate says of them."""
        facts = []
        if WEIGHT in given:
            capped = {"max_weight": float(self.max_weight or 1.0), "larger weights": "capped"}
            facts.append(PublicFact("sample_weight", capped, "declared"))
        if EXPOSURE in given:
            ends = list(exposure_ends(self.exposure_bounds))
            facts.append(PublicFact("exposure_bounds", ends, "declared"))
        if UNIT in given:
            facts.append(PublicFact("max_rows_per_unit", self.max_rows_per_unit, "declared"))
        return facts

    def warnings(self, given: Collection[str]) -> list[str]:
        """Say that weights are capped, whether or not one is: that would tell of the records."""
        if WEIGHT not in given:
            return []
        return [f"Weights above the declared max_weight={self.max_weight:g} are capped at it."]


def unit_name(given: Mapping[str, Any]) -> str:
    """What the guarantee is for: a row, or the name of the column of units where it has one."""
    if UNIT not in given:
        return "row"
    name = getattr(given[UNIT], "name", None)
    return name if isinstance(name, str) and name.strip() else UNIT


def exposure_ends(bounds: Any) -> tuple[float, float]:
    """Public bounds of an exposure: two positive numbers, the lower one first."""
    try:
        lower, upper = bounds
    except (TypeError, ValueError) as error:
        raise BoundsError("exposure_bounds must be two positive numbers.") from error
    if not (is_number(lower) and is_number(upper) and 0 < lower < upper < math.inf):
        raise BoundsError("exposure_bounds must be two positive numbers, the lower one first.")
    return float(lower), float(upper)


def class_weights(weights: Any, classes: Sequence[Any]) -> tuple[float, ...] | None:
    """Weights of the classes in their order; 1 where a class has none. Fixed by the user alone."""
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        raise SettingError(
            "class_weight must be a dictionary from label to weight. Weights that balance the "
            'classes ("balanced") would be read off the data, which costs budget.'
        )
    plain = {_plain(label): weight for label, weight in weights.items()}
    if not set(plain) <= {_plain(label) for label in classes}:
        raise SettingError("class_weight names a label that is not among the classes.")
    values = [plain.get(_plain(label), 1.0) for label in classes]
    if not all(is_number(value) for value in values):
        raise SettingError("Class weights must be numbers.")
    return tuple(float(value) for value in values)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
