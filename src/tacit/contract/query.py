"""Queries: public descriptions of the sums over records that a solver may ask for.

A query names no sensitivity. Its price is fixed by the reserved plan, and the mechanism enforces
the integer bound that the price assumes (`contract.sensitivity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.losses import logistic
from tacit.losses.loss import Code, Loss

PART = 4
"""Where a subsample is enough, one record in so many is read."""
LARGEST = 1e100
"""Parameters beyond this are refused: margins must stay finite whatever the records are."""


class Weights(StrEnum):
    """What multiplies z z' in a second moment; each lies in [0, 1]."""

    NONE = "none"
    CURVATURE = "curvature"
    SCORE = "score"


class QueryKind(StrEnum):
    """The shapes of private sums; each has its own sensitivity theorem."""

    GRADIENT = "gradient"
    SECOND_MOMENTS = "second-moments"
    COUNTS = "counts"
    SANDWICH = "sandwich"
    MINIMUM = "perturbed-minimum"
    DIRECTION = "damped-direction"

    @property
    def is_sum(self) -> bool:
        """Whether an answer is one sum over the records plus noise: partial sums then add up."""
        return self not in {QueryKind.MINIMUM, QueryKind.DIRECTION}


@dataclass(frozen=True)
class GradientSum:
    """Sum over records of loss'(z·theta, y) z, each term clipped to norm `clip`.

    z = matrix' u, where u is the prepared row and `matrix` the working coordinates (None: z = u).
    For several classes theta is (width, class), and a term and the answer are z (p - e_y)'.
    With `downweighted` a term is first multiplied by min(1, (r / ‖z‖)²), r = clip / lipschitz. That
    weight depends on the features alone, so the model stays consistent.
    With `balanced` (logistic loss) the weight is min(1, clip / (‖z‖ max(p, 1 - p))), the same for
    both labels of a row, so that no label is favoured.
    With `every` > 1 a secret subsample is read, as in `SecondMoments`.
    """

    theta: NDArray[np.float64]
    clip: float
    matrix: NDArray[np.float64] | None = None
    downweighted: bool = False
    loss: Loss = logistic.LOSS
    balanced: bool = False
    every: int = 1

    def __post_init__(self) -> None:
        _check(self.clip, self.theta, self.matrix, every=self.every)


@dataclass(frozen=True)
class SecondMoments:
    """Sum over records of w z z', z shrunk to norm `row_bound`.

    w = 1, or at `theta` the loss's curvature over its upper bound, or the squared slope over its
    upper bound times min(1, (row_bound / ‖z‖)²): the second moment of a downweighted score.
    With `every` > 1 a secret Bernoulli(1/every) subsample is read. The sum and its noise are
    divided by the sampling rate, so they estimate the full sum. No amplification is claimed.
    """

    row_bound: float
    matrix: NDArray[np.float64] | None = None
    theta: NDArray[np.float64] | None = None
    weights: Weights = Weights.NONE
    loss: Loss = logistic.LOSS
    every: int = 1

    def __post_init__(self) -> None:
        _check(self.row_bound, self.theta, self.matrix, every=self.every)
        if self.weights is Weights.SCORE and not np.isfinite(self.loss.lipschitz):
            raise SettingError("A loss without a bound on its slope has no bounded score.")
        if (self.weights is Weights.NONE) != (self.theta is None):
            raise SettingError("Weights of second moments need a theta, and a theta weights.")


@dataclass(frozen=True)
class ColumnCounts:
    """For each listed column of the stored record, how many records lie in (lower, upper].

    Column j < width is the j-th prepared feature, column `width` the prepared response. Comparisons
    need no bound on the values.
    """

    columns: tuple[int, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def __post_init__(self) -> None:
        if not self.columns or any(
            len(ends) != len(self.columns) or np.isnan(ends).any()
            for ends in (self.lower, self.upper)
        ):
            raise SettingError("Every counted column needs a lower and an upper end.")

    @property
    def size(self) -> int:
        """Number of counts."""
        return len(self.columns)


class Measure(StrEnum):
    """What is summed of a residual y - p, as a number within 0 and 1.

    size: min(|y - p| / cap, 1); within: whether start < y - p ≤ start + cap; share: how far y - p
    lies between start and start + cap; dispersion: min((y - p)² / (max(1, p)·cap), 1); tilt: how
    far (y - p)(p - start) lies between -cap and cap; square: min((y - p)² / cap², 1).
    """

    SIZE = "size"
    WITHIN = "within"
    SHARE = "share"
    DISPERSION = "dispersion"
    TILT = "tilt"
    SQUARE = "square"


@dataclass(frozen=True)
class ResidualSize:
    """Sum over records of a measure of the residual y - p: how far predictions are off.

    The prediction p is z·theta clipped into the public [lowest, highest], or the exponential of
    that. With `every` > 1 a secret subsample is read, as in `SecondMoments`.
    """

    theta: NDArray[np.float64]
    cap: float
    matrix: NDArray[np.float64] | None = None
    lowest: float = -1.0
    highest: float = 1.0
    measure: Measure = Measure.SIZE
    start: float = 0.0
    exponential: bool = False
    every: int = 1

    def __post_init__(self) -> None:
        ends = np.array([self.lowest, self.highest, self.start])
        _check(self.cap, self.theta, self.matrix, ends, every=self.every)


@dataclass(frozen=True)
class CurvatureAndScore:
    """Two second moments at once: sums over records of w h z z' and of w² a² z z'.

    w = min(1, (row_bound / ‖z‖)²) is the weight of a downweighted row; h and a are the curvature
    and the slope at `theta`, each over its upper bound. A record's pair of matrices is bounded
    jointly, by `loss.joint`, so both together cost little more than one.
    """

    theta: NDArray[np.float64]
    row_bound: float
    matrix: NDArray[np.float64] | None
    loss: Loss

    def __post_init__(self) -> None:
        _check(self.row_bound, self.theta, self.matrix)
        if not np.isfinite(self.loss.lipschitz):
            raise SettingError("A loss without a bound on its slope has no bounded score.")


@dataclass(frozen=True)
class PerturbedMinimum:
    """The minimiser of Σ w loss(z·theta, y) + (l2 / 2)‖theta‖² + b·theta, b Gaussian.

    w = min(1, (clip / ‖z‖)²) bounds a record's gradient by `clip` and its curvature by clip² / 4.
    l2 and the scale of b follow from the price; every coordinate is penalised.
    """

    clip: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = logistic.LOSS

    def __post_init__(self) -> None:
        _check(self.clip, self.matrix)
        if self.loss.code is not Code.LOGISTIC:
            raise SettingError("The objective is perturbed for the logistic loss only.")


@dataclass(frozen=True)
class DampedDirection:
    """(Σ w h z z' + damping·I)⁻¹ gradient, h the curvature at `theta`: a Newton direction.

    w = min(1, (row_bound / ‖z‖)²). `gradient` was released before, and the noise grows with it.
    """

    theta: NDArray[np.float64]
    gradient: NDArray[np.float64]
    damping: float
    row_bound: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = logistic.LOSS

    def __post_init__(self) -> None:
        _check(self.row_bound, self.theta, self.gradient, self.matrix)
        _check(self.damping)


@dataclass(frozen=True)
class CurvatureTrace:
    """The trace of Σ w h z z', h the curvature at `theta` and w = min(1, (row_bound / ‖z‖)²)."""

    theta: NDArray[np.float64]
    row_bound: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = logistic.LOSS

    def __post_init__(self) -> None:
        _check(self.row_bound, self.theta, self.matrix)


Sum = GradientSum | SecondMoments | CurvatureAndScore | ColumnCounts | ResidualSize | CurvatureTrace
Query = Sum | PerturbedMinimum | DampedDirection
KIND_OF: Mapping[type, QueryKind] = {
    GradientSum: QueryKind.GRADIENT,
    SecondMoments: QueryKind.SECOND_MOMENTS,
    CurvatureAndScore: QueryKind.SANDWICH,
    ColumnCounts: QueryKind.COUNTS,
    ResidualSize: QueryKind.COUNTS,
    CurvatureTrace: QueryKind.COUNTS,
    PerturbedMinimum: QueryKind.MINIMUM,
    DampedDirection: QueryKind.DIRECTION,
}
"""The kind of a query goes by its exact type: a subclass is no query."""


@dataclass(frozen=True)
class Answer:
    """A noised sum and the standard deviation of the noise on one of its coordinates."""

    value: NDArray[np.float64]
    noise_scale: float


def _check(bound: float, *arrays: NDArray[np.float64] | None, every: int = 1) -> None:
    """Refuse parameters that could make a margin overflow."""
    for array in arrays:
        if array is not None and not (np.abs(array) <= LARGEST).all():
            raise SettingError("A query's parameters must be finite and of moderate size.")
    if not 1 / LARGEST <= bound <= LARGEST:
        raise SettingError("A clip must be positive, finite and of moderate size.")
    if every not in {1, PART}:
        raise SettingError(f"All records are read, or one in {PART}.")
