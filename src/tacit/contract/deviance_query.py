"""The query of the deviance of released coefficients: how far a model is from one that fits every record."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.contract.checked_query import CheckedQuery
from tacit.errors import SettingError
from tacit.losses.deviances import KNOWN
from tacit.losses.loss import Loss

DEVIANCE_SUMS = 2
"""Sums in an answer."""


@dataclass(frozen=True)
class DevianceSum(CheckedQuery):
    """Sum over records of min(d / cap, 1), d the unit deviance of the loss at z·theta (`losses.deviances`).

    A second sum counts the records. Rows of zeros, as invalid ones are, add to neither; a weight multiplies both.
    theta are released coefficients of the prepared row, whatever the coordinates that a fit has settled.
    """

    theta: NDArray[np.float64]
    cap: float
    loss: Loss

    @property
    def size(self) -> int:
        """Number of sums."""
        return DEVIANCE_SUMS

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss.code not in KNOWN or self.theta.ndim > 1:
            raise SettingError(f"The {self.loss.name} loss has no deviance that is asked for.")
