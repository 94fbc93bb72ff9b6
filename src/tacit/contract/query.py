"""Queries: public descriptions of the sums that a solver may ask for, and the gate that answers.

A query names no sensitivity. Its price is fixed by the reserved plan, and the mechanism enforces
the integer bound that the price assumes (`contract.sensitivity`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.contract import selection_query as selecting
from tacit.contract.block_query import AnyBlockQuery, BlockDepth, BlockMean, BlockMedian, VoteChecks, VoteCounts
from tacit.contract.checked_query import CheckedQuery
from tacit.contract.column_query import ColumnMoments
from tacit.contract.deviance_query import DevianceSum
from tacit.contract.grouped_query import ChannelMoments, GroupedQuery, GroupSum, MappedGradient
from tacit.contract.network_query import NetworkGradient
from tacit.contract.perturbable_loss import missing_for_perturbation
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.losses.loss import Code, Loss


class Weights(StrEnum):
    """What multiplies z z' in a second moment; each lies in [0, 1]."""

    NONE = "none"
    CURVATURE = "curvature"
    SCORE = "score"


class QueryKind(StrEnum):
    """The shapes of private answers; each has its sensitivity theorem."""

    GRADIENT = "gradient"
    BATCH_GRADIENT = "batch-gradient"
    NETWORK_GRADIENT = "network-gradient"
    SECOND_MOMENTS = "second-moments"
    COLUMN_MOMENTS = "column-moments"
    COUNTS = "counts"
    SANDWICH = "sandwich"
    MEANS = "means"
    GROUP_MEANS = "group-means"
    MINIMUM = "perturbed-minimum"
    DIRECTION = "damped-direction"
    NOISY_MINIMUM = "noisy-minimum"
    SELECTION = "selection"
    SIGNED_SELECTION = "signed-selection"
    POSTERIOR = "posterior-draw"
    BLOCK_MEAN = "block-mean"
    BLOCK_MEDIAN = "block-median"
    BLOCK_DEPTH = "block-depth"
    VOTE_CHECKS = "vote-checks"
    VOTE_COUNTS = "vote-counts"


@dataclass(frozen=True)
class GradientSum(CheckedQuery):
    """Sum over records of loss'(z·theta, y) z, each term clipped to norm `clip`.

    z = matrix' u, where u is the prepared row and `matrix` the working coordinates (None: z = u). For several classes
    theta is (width, class), and a term and the answer are z (p - e_y)'. With `downweighted` a term is first multiplied
    by min(1, (r / ‖z‖)²), r = clip / lipschitz. That weight depends on the features alone, so the model stays
    consistent. With `balanced` (logistic loss) the weight is min(1, clip / (‖z‖ max(p, 1 - p))), the same for both
    labels of a row, so that no label is favoured. With `every` > 1 a secret subsample is read, as in `SecondMoments`.
    With `shortened` the weight of a downweighted row is min(1, r / ‖z‖, r²·smoothness / (h‖z‖²)), h its curvature:
    as large as the bounds r on a gradient and r²·smoothness on a curvature let it be.
    """

    asks_for_slopes: ClassVar[bool] = True
    theta: NDArray[np.float64]
    clip: float
    matrix: NDArray[np.float64] | None = None
    downweighted: bool = False
    loss: Loss = classification.LOGISTIC
    balanced: bool = False
    every: int = 1
    shortened: bool = False


@dataclass(frozen=True)
class BatchGradientSum(GradientSum):
    """The same sum over a secret batch of records, drawn for this answer alone as its price says (`contract.batches`).

    Sum and noise are divided by the rate of the batches, so they estimate the full sum: over the number of records, the
    divisor is the expected size of a batch, and never the actual one.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.every != 1:
            raise SettingError("A batch is drawn from all records, not from the subsample.")


@dataclass(frozen=True)
class SecondMoments(CheckedQuery):
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
        # Plain numbers of its own: what is counted is then what its size says.
        object.__setattr__(self, "columns", tuple(int(column) for column in self.columns))
        for name in ("lower", "upper"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
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
    far (y - p)(p - start) lies between -cap and cap; square: min((y - p)² / cap², 1); fourth: that squared; cross:
    min((y - p)²(y - start)² / cap⁴, 1); log-loss: min(l / cap, 1) for l = log(1 + e^p) - y p; squared log-loss: that
    squared; label tilt: how far (y - q)·a lies between -cap and cap, q the logistic function of p and a = p - start
    shortened until |a|·max(q, 1 - q) ≤ cap, which is the same for both labels.
    """

    SIZE = "size"
    WITHIN = "within"
    SHARE = "share"
    DISPERSION = "dispersion"
    TILT = "tilt"
    SQUARE = "square"
    FOURTH = "fourth"
    CROSS = "cross"
    LOG_LOSS = "log-loss"
    SQUARED_LOG_LOSS = "squared log-loss"
    LABEL_TILT = "label tilt"


@dataclass(frozen=True)
class ResidualSize(CheckedQuery):
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
class CurvatureAndScore(CheckedQuery):
    """Two second moments at once: sums over records of w h z z' and of w² a² z z'.

    w = min(1, (row_bound / ‖z‖)²) is the weight of a downweighted row; h and a are the curvature and the slope at
    `theta`, each over its upper bound. A record's pair of matrices is bounded jointly, by `joint`, so both together
    cost little more than one. With a `score_share` ρ the score is that of a gradient clipped to norm
    row_bound·lipschitz, as `GradientSum` clips: a is shortened where w|a|‖z‖ is longer, and h is 0 there. The score is
    then asked for with ρ times the weight of the curvature, and its noise is 1 / ρ times as large. For several classes
    theta is (width, class), and h and a² are matrices, diag p - p p' over ½ and (p - e_y)(p - e_y)' over 2, ⊗ z z'.
    With `shortened`, which goes with a share of the score, w is that of a shortened `GradientSum`.
    """

    theta: NDArray[np.float64]
    row_bound: float
    matrix: NDArray[np.float64] | None
    loss: Loss
    score_share: float | None = None
    shortened: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shortened and self.score_share is None:
            raise SettingError("Shortened rows go with a share of the score.")
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
class GradientNorm(CheckedQuery):
    """Sum over records of a measure of the norm g = w|a|‖z‖ of a downweighted gradient.

    w = min(1, (row_bound / ‖z‖)²), a the slope at `theta`. The measure is one of `Measure`'s, with
    g in the place of the residual: within, or share. With `shortened` rows keep more of their weight,
    w = min(1, row_bound / ‖z‖): their residuals show, however long they are.
    """

    asks_for_slopes: ClassVar[bool] = True
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
class PerturbedMinimum(CheckedQuery):
    """The minimiser of Σ w loss(z·theta, y) + (l2 / 2)‖theta‖² + b·theta, b Gaussian.

    w = min(1, (clip / ‖z‖)²) bounds a record's gradient by clip·lipschitz and its curvature by clip²·smoothness.
    l2 and the law of b follow from the price; every coordinate is penalised. For several classes theta, as the answer,
    is (width, class).
    """

    clip: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = classification.LOGISTIC
    classes: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if (missing := missing_for_perturbation(self.loss)) is not None:
            raise SettingError(f"The objective is not perturbed for the {self.loss.name} loss: {missing}.")
        if (self.classes > 1) != (self.loss.code is Code.SOFTMAX):
            raise SettingError("Several classes go with the softmax loss.")


@dataclass(frozen=True)
class NoisyMinimum(CheckedQuery):
    """The minimiser of Σ w loss(z·theta, y) + (ridge / 2)‖theta‖², with noise on it.

    w = min(1, (clip / ‖z‖)²) bounds a record's gradient by clip·lipschitz. Every coordinate is penalised, so a record
    moves the minimiser by at most clip·lipschitz / ridge.
    """

    clip: float
    ridge: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = classification.LOGISTIC
    classes: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if (missing := missing_for_perturbation(self.loss)) is not None:
            raise SettingError(f"There is no noisy minimum of the {self.loss.name} loss: {missing}.")
        if (self.classes > 1) != (self.loss.code is Code.SOFTMAX):
            raise SettingError("Several classes go with the softmax loss.")


@dataclass(frozen=True)
class DampedDirection(CheckedQuery):
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
class CurvatureTrace(CheckedQuery):
    """The trace of Σ w h z z', h the curvature at `theta` and w = min(1, (row_bound / ‖z‖)²)."""

    theta: NDArray[np.float64]
    row_bound: float
    matrix: NDArray[np.float64] | None = None
    loss: Loss = classification.LOGISTIC


BLOCK_KINDS = frozenset(kind for kind in QueryKind if kind.startswith(("block-", "vote-")))
"""Kinds of answers about blocks."""
WITHOUT_COORDINATES = (ColumnCounts, ColumnMoments, BoundedSums, GroupSums, selecting.StatisticChoice)
"""Queries of the stored record as it is."""
Moments = SecondMoments | ColumnMoments | CurvatureAndScore
Sum = GradientSum | Moments | ColumnCounts | ResidualSize | GradientNorm | CurvatureTrace
Found = PerturbedMinimum | NoisyMinimum | DampedDirection | selecting.SelectionQuery
TableQuery = Sum | BatchGradientSum | BoundedSums | GroupSums | ScoreHistogram | DevianceSum | Found
"""Queries of a store of records."""
Query = TableQuery | AnyBlockQuery | GroupedQuery | NetworkGradient
KIND_OF: Mapping[type, QueryKind] = {
    GradientSum: QueryKind.GRADIENT,
    BatchGradientSum: QueryKind.BATCH_GRADIENT,
    SecondMoments: QueryKind.SECOND_MOMENTS,
    ColumnMoments: QueryKind.COLUMN_MOMENTS,
    CurvatureAndScore: QueryKind.SANDWICH,
    ColumnCounts: QueryKind.COUNTS,
    ResidualSize: QueryKind.COUNTS,
    GradientNorm: QueryKind.COUNTS,
    CurvatureTrace: QueryKind.COUNTS,
    DevianceSum: QueryKind.COUNTS,
    BoundedSums: QueryKind.MEANS,
    GroupSums: QueryKind.GROUP_MEANS,
    ScoreHistogram: QueryKind.GROUP_MEANS,
    PerturbedMinimum: QueryKind.MINIMUM,
    NoisyMinimum: QueryKind.NOISY_MINIMUM,
    DampedDirection: QueryKind.DIRECTION,
    selecting.CandidateChoice: QueryKind.SELECTION,
    selecting.VertexChoice: QueryKind.SIGNED_SELECTION,
    selecting.StatisticChoice: QueryKind.SIGNED_SELECTION,
    selecting.PosteriorDraw: QueryKind.POSTERIOR,
    selecting.LossDifference: QueryKind.MEANS,
    BlockMean: QueryKind.BLOCK_MEAN,
    BlockMedian: QueryKind.BLOCK_MEDIAN,
    BlockDepth: QueryKind.BLOCK_DEPTH,
    VoteChecks: QueryKind.VOTE_CHECKS,
    VoteCounts: QueryKind.VOTE_COUNTS,
    GroupSum: QueryKind.GRADIENT,
    ChannelMoments: QueryKind.SECOND_MOMENTS,
    MappedGradient: QueryKind.GRADIENT,
    NetworkGradient: QueryKind.NETWORK_GRADIENT,
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
