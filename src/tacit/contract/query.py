"""Queries: public descriptions of the sums that a solver may ask for, and the gate that answers.

A query names no sensitivity. Its price is fixed by the reserved plan, and the mechanism enforces
the integer bound that the price assumes (`contract.sensitivity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.losses.loss import Code, Loss

PART = 4
"""Where a subsample is enough, one record in so many is read."""
LARGEST = 1e100
"""Parameters beyond this are refused: margins must stay finite whatever the records are."""
_CLIPS = frozenset({"clip", "row_bound", "cap", "damping"})
_FINITE = frozenset({"theta", "matrix", "gradient", "lowest", "highest", "start", "mean"})


class Weights(StrEnum):
    """What multiplies z z' in a second moment; each lies in [0, 1]."""

    NONE = "none"
    CURVATURE = "curvature"
    SCORE = "score"


class QueryKind(StrEnum):
    """The shapes of private answers, sums but the last two; each has its sensitivity theorem."""

    GRADIENT = "gradient"
    SECOND_MOMENTS = "second-moments"
    COUNTS = "counts"
    SANDWICH = "sandwich"
    MINIMUM = "perturbed-minimum"
    DIRECTION = "damped-direction"


class _Bounded:
    """Refuses parameters that could make a margin overflow: the clips, and what is in `_FINITE`."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            name, value = field.name, getattr(self, field.name)
            if name in _CLIPS and not 1 / LARGEST <= value <= LARGEST:
                raise SettingError("A clip must be positive, finite and of moderate size.")
            if name == "every" and value not in {1, PART}:
                raise SettingError(f"All records are read, or one in {PART}.")
            if name in _FINITE and value is not None and not (np.abs(value) <= LARGEST).all():
                raise SettingError("A query's parameters must be finite and of moderate size.")


@dataclass(frozen=True)
class GradientSum(_Bounded):
    """Sum over records of loss'(z·theta, y) z, each term clipped to norm `clip`.

    z = matrix' u, where u is the prepared row and `matrix` the working coordinates (None: z = u). For several classes
    theta is (width, class), and a term and the answer are z (p - e_y)'. With `downweighted` a term is first multiplied
    by min(1, (r / ‖z‖)²), r = clip / lipschitz. That weight depends on the features alone, so the model stays
    consistent. With `balanced` (logistic loss) the weight is min(1, clip / (‖z‖ max(p, 1 - p))), the same for both
    labels of a row, so that no label is favoured. With `every` > 1 a secret subsample is read, as in `SecondMoments`.
    """

    theta: NDArray[np.float64]
    clip: float
    matrix: NDArray[np.float64] | None = None
    downweighted: bool = False
    loss: Loss = classification.LOGISTIC
    balanced: bool = False
    every: int = 1


@dataclass(frozen=True)
class SecondMoments(_Bounded):
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
    loss: Loss = classification.LOGISTIC
    every: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
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
        ends = (self.lower, self.upper)
        if not self.columns or any(len(it) != len(self.columns) or np.isnan(it).any() for it in ends):
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
class ResidualSize(_Bounded):
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


@dataclass(frozen=True)
class CurvatureAndScore(_Bounded):
    """Two second moments at once: sums over records of w h z z' and of w² a² z z'.

    w = min(1, (row_bound / ‖z‖)²) is the weight of a downweighted row; h and a are the curvature and the slope at
    `theta`, each over its upper bound. A record's pair of matrices is bounded jointly, by `joint`, so both together
    cost little more than one. With a `score_share` ρ the score is that of a gradient clipped to norm
    row_bound·lipschitz, as `GradientSum` clips: a is shortened where w|a|‖z‖ is longer, and h is 0 there. The score is
    then asked for with ρ times the weight of the curvature, and its noise is 1 / ρ times as large. For several classes
    theta is (width, class), and h and a² are matrices, diag p - p p' over ½ and (p - e_y)(p - e_y)' over 2, ⊗ z z'.
    """

    theta: NDArray[np.float64]
    row_bound: float
    matrix: NDArray[np.float64] | None
    loss: Loss
    score_share: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isfinite(self.loss.lipschitz):
            raise SettingError("A loss without a bound on its slope has no bounded score.")
        if self.score_share is not None and not 0.0 < self.score_share <= 1.0:
            raise SettingError("The share of the score must lie in (0, 1].")
        if (self.theta.ndim > 1) != (self.loss.code is Code.SOFTMAX) or (self.theta.ndim > 1 and self.score_share):
            raise SettingError("Several classes go with the softmax loss, and with no share of the score.")

    @property
    def joint(self) -> float:
        """Bound on (curvature / its bound)² + (score / its bound)² of a record, score as asked."""
        return self.loss.joint if self.score_share is None else 1.0 + self.score_share**2


@dataclass(frozen=True)
class GradientNorm(_Bounded):
    """Sum over records of a measure of the norm g = w|a|‖z‖ of a downweighted gradient.

    w = min(1, (row_bound / ‖z‖)²), a the slope at `theta`. The measure is one of `Measure`'s, with
    g in the place of the residual: within, or share. With `shortened` rows keep more of their weight,
    w = min(1, row_bound / ‖z‖): their residuals show, however long they are.
    """

    theta: NDArray[np.float64]
    row_bound: float
    cap: float
    matrix: NDArray[np.float64] | None
    loss: Loss
    measure: Measure = Measure.WITHIN
    start: float = 0.0
    shortened: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.measure not in {Measure.WITHIN, Measure.SHARE}:
            raise SettingError("Norms are counted within ends, or as shares of the way there.")


@dataclass(frozen=True)
class PerturbedMinimum(_Bounded):
    """The minimiser of Σ w loss(z·theta, y) + (l2 / 2)‖theta‖² + b·theta, b Gaussian.

    w = min(1, (clip / ‖z‖)²) bounds a record's gradient by `clip` and its curvature by clip² / 4.
    l2 and the scale of b follow from the price; every coordinate is penalised.
    """

    clip: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = classification.LOGISTIC

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss.code is not Code.LOGISTIC:
            raise SettingError("The objective is perturbed for the logistic loss only.")


@dataclass(frozen=True)
class DampedDirection(_Bounded):
    """(Σ w h z z' + damping·I)⁻¹ gradient, h the curvature at `theta`: a Newton direction.

    w = min(1, (row_bound / ‖z‖)²). `gradient` was released before, and the noise grows with it.
    """

    theta: NDArray[np.float64]
    gradient: NDArray[np.float64]
    damping: float
    row_bound: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = classification.LOGISTIC


@dataclass(frozen=True)
class CurvatureTrace(_Bounded):
    """The trace of Σ w h z z', h the curvature at `theta` and w = min(1, (row_bound / ‖z‖)²)."""

    theta: NDArray[np.float64]
    row_bound: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = classification.LOGISTIC


@dataclass(frozen=True)
class GroupSum:
    """Sum over records of their rows x (channel, position) of one group, each of norm at most 1."""

    group: int


@dataclass(frozen=True)
class ChannelMoments(_Bounded):
    """Sum over records of (x - mean)(x - mean)', pooled over positions, for one group of channels.

    Of each record's matrix the diagonal blocks between `ends` are kept, together shrunk to Frobenius norm `clip`.
    """

    group: int
    mean: NDArray[np.float64]
    ends: tuple[int, ...]
    clip: float


@dataclass(frozen=True)
class MappedGradient(_Bounded):
    """Sum over records of z (p - e_y)' of a softmax model, z the row that `channel_map` makes, of norm at most 1.

    Every term is shrunk to norm `clip`. theta is (width, class), rounded to a public lattice before it is used.
    """

    theta: NDArray[np.float64]
    clip: float
    channel_map: ChannelMap


GroupedQuery = GroupSum | ChannelMoments | MappedGradient
"""Queries of a store of grouped integer rows."""
Sum = GradientSum | SecondMoments | CurvatureAndScore | ColumnCounts | ResidualSize | GradientNorm | CurvatureTrace
TableQuery = Sum | PerturbedMinimum | DampedDirection
"""Queries of a store of records."""
Query = TableQuery | GroupedQuery
KIND_OF: Mapping[type, QueryKind] = {
    GradientSum: QueryKind.GRADIENT,
    SecondMoments: QueryKind.SECOND_MOMENTS,
    CurvatureAndScore: QueryKind.SANDWICH,
    ColumnCounts: QueryKind.COUNTS,
    ResidualSize: QueryKind.COUNTS,
    GradientNorm: QueryKind.COUNTS,
    CurvatureTrace: QueryKind.COUNTS,
    PerturbedMinimum: QueryKind.MINIMUM,
    DampedDirection: QueryKind.DIRECTION,
    GroupSum: QueryKind.GRADIENT,
    ChannelMoments: QueryKind.SECOND_MOMENTS,
    MappedGradient: QueryKind.GRADIENT,
}
"""The kind of a query goes by its exact type: a subclass is no query."""


@dataclass(frozen=True)
class Answer:
    """A noised sum and the standard deviation of the noise on one of its coordinates."""

    value: NDArray[np.float64]
    noise_scale: float


class Gate(Protocol):
    """Stands between a solver, which is public, and the mechanisms, which hold the records."""

    def ask(self, query: Query) -> Answer:
        """Return the noised answer to a query of the reserved plan."""


class Progress(Protocol):
    """Called with (done, total, label) after each public step; told nothing about the records."""

    def __call__(self, done: int, total: int, label: str) -> None:
        """Take note of a finished step."""
