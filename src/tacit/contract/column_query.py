"""The query of every column's mean and spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.contract.checked_query import CheckedQuery
from tacit.errors import SettingError

LARGEST_SCALE = 1e15
"""Scales beyond it are refused: fourth powers of entries of 1e30 stay finite."""


@dataclass(frozen=True)
class ColumnMoments(CheckedQuery):
    """Sums over records of z and of z², column by column: (2, width). The vector (z, z²) is shortened to norm `clip`.

    z = scale·u + shift·u_d for the prepared row u and its constant u_d, so that nothing moves without one. A person's
    vector is the mean over their records.
    """

    scale: NDArray[np.float64]
    shift: NDArray[np.float64]
    clip: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("scale", "shift"):
            # Copies: what was checked is what is asked.
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
            if not (np.abs(getattr(self, name)) <= LARGEST_SCALE).all():
                raise SettingError(f"Scales and shifts must be finite and at most {LARGEST_SCALE:g}.")
