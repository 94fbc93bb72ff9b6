"""Parameters of queries, checked: finite, moderate, and positive where they must be."""

from __future__ import annotations

from dataclasses import fields
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.losses.loss import Code

PART = 4
"""Where a subsample is enough, one record in so many is read."""
LARGEST = 1e100
"""Parameters beyond this are refused: margins must stay finite whatever the records are."""
_CLIPS = frozenset({"clip", "row_bound", "cap", "damping", "ridge"})
_FINITE = frozenset({"theta", "matrix", "gradient", "lowest", "highest", "start", "mean"})


class CheckedQuery:
    """Refuses parameters that could make a margin overflow: the clips, and what is in `_FINITE`."""

    asks_for_slopes: ClassVar[bool] = False
    """Whether slopes are all that is asked for of a loss."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            name, value = field.name, getattr(self, field.name)
            if name in _CLIPS and not 1 / LARGEST <= value <= LARGEST:
                raise SettingError("A clip must be positive, finite and of moderate size.")
            if name == "loss" and value.code is Code.OWN and not self.asks_for_slopes:
                raise SettingError("Of an own loss only slopes can be asked for: nothing bounds its curvature.")
            if name == "every" and value not in {1, PART}:
                raise SettingError(f"All records are read, or one in {PART}.")
            if name in _FINITE and value is not None and not _is_moderate(value):
                raise SettingError("A query's parameters must be finite and of moderate size.")


def _is_moderate(value: float | NDArray[np.float64]) -> bool:
    """Whether all numbers are finite and moderate; a wide matrix is not copied for that."""
    if np.size(value) == 0:
        return True
    return bool(np.min(value) >= -LARGEST and np.max(value) <= LARGEST)
