"""Queries that select: a vertex, a candidate, a draw from a posterior; and differences of losses at two points."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tacit.contract.checked_query import LARGEST, CheckedQuery
from tacit.design.expression import Statistic
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.losses.loss import Code, Loss

VALUED = frozenset({Code.LOGISTIC, Code.SQUARED, Code.HUBER, Code.HINGE, Code.PINBALL})
"""Losses whose values, and not only slopes, can be asked for."""
BENT = frozenset({Code.LOGISTIC, Code.SMOOTH_HUBER})
"""Losses with |third derivative| ≤ a constant times the second, by which their posteriors are enclosed."""
LARGEST_NUMBER = 2**17
"""Candidates, of which there may be so many."""


class SelectionLaw(StrEnum):
    """How an index is drawn: with probability ∝ exp(-rate·score), or by permute-and-flip.

    The first is report-noisy-max with Gumbel noise, the second report-noisy-max with exponential noise.
    """

    EXPONENTIAL = "exponential"
    PERMUTE_AND_FLIP = "permute-and-flip"


@dataclass(frozen=True)
class VertexChoice(CheckedQuery):
    """The vertex of a region on which the linear form Σ loss'(z·theta, y) z is small: a step of Frank and Wolfe.

    The region is the convex hull of ±radii[j] e_j over the slopes, times [-radii[-1], radii[-1]] for the constant,
    which is the last column; a radius of 0 there keeps the constant at 0. Slopes of the loss are clipped to ±`clip`.
    The answer is (j, sign of the slope, sign of the constant).
    """

    asks_for_slopes: ClassVar[bool] = True
    theta: NDArray[np.float64]
    radii: NDArray[np.float64]
    clip: float
    loss: Loss
    constant: bool
    matrix: None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.radii.shape == self.theta.shape and self.theta.ndim == 1 and len(self.theta) > self.constant
        if not fits or not ((self.radii >= 0.0) & (self.radii <= LARGEST)).all() or not self.radii.any():
            raise SettingError("A vertex needs one radius a coordinate, of at least 0, and one above it.")


@dataclass(frozen=True)
class CandidateChoice(CheckedQuery):
    """The candidate whose sum of losses is small, each loss clipped to [0, `cap`]; the answer is its index.

    `candidates` is (candidate, width). With `zero_one` the loss is whether margin and label differ in sign.
    """

    candidates: NDArray[np.float64]
    cap: float
    loss: Loss = classification.LOGISTIC
    zero_one: bool = False
    matrix: None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = self.candidates.shape
        if len(shape) != 2 or not 1 <= shape[0] <= LARGEST_NUMBER or not (np.abs(self.candidates) <= LARGEST).all():
            raise SettingError(f"Candidates are a finite matrix of 1 to {LARGEST_NUMBER} rows, one a candidate.")
        if not self.zero_one and self.loss.code not in VALUED:
            raise SettingError(f"Values of the {self.loss.name} loss cannot be asked for.")


@dataclass(frozen=True)
class StatisticChoice:
    """The statistic whose sum is large; the answer is its index.

    Each is mapped from its interval to [-1, 1] as for `BoundedSums`, and all intervals are the same.
    """

    statistics: tuple[Statistic, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.statistics) <= LARGEST_NUMBER:
            raise SettingError(f"One of 1 to {LARGEST_NUMBER} statistics is chosen.")
        if len({it.interval for it in self.statistics}) != 1:
            raise SettingError("Statistics that are compared must have the same interval.")


@dataclass(frozen=True)
class PosteriorDraw(CheckedQuery):
    """A draw with density ∝ exp(-k Σ loss(z·theta, y) - (ridge / 2)‖theta‖²), rows z shortened to norm `clip`.

    The factor k follows from the price. `radius` is where the envelope that encloses the density turns from quadratic
    to linear, and `proposals` how many points are proposed at once.
    """

    clip: float
    ridge: float
    radius: float
    proposals: int
    loss: Loss = classification.LOGISTIC
    matrix: None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss.code not in BENT:
            raise SettingError(f"Posteriors of the {self.loss.name} loss are not enclosed: it bends too fast.")
        if not 0.0 < self.radius <= LARGEST or self.proposals < 1:
            raise SettingError("An envelope has a positive radius and at least one proposal.")


@dataclass(frozen=True)
class LossDifference(CheckedQuery):
    """Sum over records of (loss at theta + h·direction - loss at theta - h·direction) / (2h), each clipped to ±`clip`.

    `step` is h.
    """

    asks_for_slopes: ClassVar[bool] = True
    theta: NDArray[np.float64]
    direction: NDArray[np.float64]
    step: float
    clip: float
    loss: Loss
    matrix: None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.direction.shape != self.theta.shape or not (np.abs(self.direction) <= LARGEST).all():
            raise SettingError("A direction is finite and as long as theta.")
        if not 1 / LARGEST <= self.step <= LARGEST:
            raise SettingError("A step must be positive, finite and of moderate size.")


SelectionQuery = VertexChoice | CandidateChoice | StatisticChoice | PosteriorDraw | LossDifference
"""Queries of this file, all of them of a store of records."""
