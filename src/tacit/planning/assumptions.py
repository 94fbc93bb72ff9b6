"""What a forecast assumes of a table that nobody has read: sizes of effects, spreads of columns, shares of levels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.display import Displayed
from tacit.errors import SettingError
from tacit.validate import between, positive, whole

ASYMMETRIC = 1e-6
"""Relative difference from its transpose at which a matrix is no matrix of second moments."""


@dataclass(frozen=True)
class Assumptions(Displayed):
    """Public guesses about a table; each can be replaced by what is known.

    Parameters
    ----------
    spread
        Deviation of a numeric column, in half its declared range.
    effect
        Deviation of the true linear predictor: log odds of labels, log rates of counts (half of it).
    share
        Share of the second label; of several labels all are equally likely.
    explained
        R² of a numeric response.
    response_spread
        Deviation of a numeric response, in half its declared range.
    moments
        Mean second moments of (1, columns, response) in the user's units, if they have been released: a matrix of the
        design's columns and two more rows, from a noised release or public knowledge. It replaces all of the above.
    seed
        Of the simulated rows and noise. A forecast is a function of its arguments.
    """

    spread: float = 0.3
    effect: float = 1.5
    share: float = 0.3
    explained: float = 0.5
    response_spread: float = 0.3
    moments: NDArray[np.float64] | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("spread", "effect", "response_spread"):
            positive(name, getattr(self, name))
        for name in ("share", "explained"):
            between(name, getattr(self, name), 0, 1)
        whole("seed", self.seed, 0)
        if self.moments is not None:
            found = np.asarray(self.moments, dtype=np.float64)
            if found.ndim != 2 or found.shape[0] != found.shape[1] or not np.isfinite(found).all():
                raise SettingError("moments must be a square matrix of finite numbers.")
            if np.abs(found - found.T).max() > ASYMMETRIC * np.abs(found).max():
                raise SettingError("moments must be symmetric: means of products of (1, columns, response).")
            object.__setattr__(self, "moments", (found + found.T) / 2)

    def moments_of(self, design: Design) -> NDArray[np.float64] | None:
        """Released second moments, which must be those of this design."""
        size = len(design.columns) + 2
        if self.moments is not None and len(self.moments) != size:
            asked = f"(1, {len(design.columns)} columns, response)"
            raise SettingError(f"moments must be {size} × {size}, of {asked}; got {len(self.moments)} rows.")
        return self.moments

    def __str__(self) -> str:
        """Say what a forecast rests on."""
        if self.moments is not None:
            return "the table has the second moments given"
        return (
            f"columns have a deviation of {self.spread:g} half ranges, the linear predictor one of {self.effect:g}, "
            f"labels a share of {self.share:g}, numeric responses an R² of {self.explained:g}"
        )
