"""The query of how scores of a linear model are spread by label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.contract.checked_query import CheckedQuery
from tacit.errors import SettingError


@dataclass(frozen=True)
class ScoreHistogram(CheckedQuery):
    """How many records of each label have z·theta in each interval of public `edges`; the last feature must be 1.

    Label 1 is a response above 1/2. The answer is (label, interval); an interval holds its upper end. A record adds to
    one cell alone, so any number of cells costs no more than two. An invalid record adds to none.
    """

    theta: NDArray[np.float64]
    edges: NDArray[np.float64]
    matrix: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.theta.ndim != 1:
            raise SettingError("Scores are of one linear predictor.")
        if self.edges.ndim != 1 or not np.isfinite(self.edges).all() or not (np.diff(self.edges) > 0).all():
            raise SettingError("Edges of a histogram are finite and grow.")

    @property
    def size(self) -> int:
        """Number of sums that one record enters."""
        return 1
