"""Every threshold and share by which a fit is planned and run: one table of rules.

A group is a frozen dataclass with one instance, one line a rule: its value and the reason for it.
`study` says where the group was chosen and on which tables. `python -m tools.rules` prints all of
them into docs/solvers.md, and `python -m tools.mutate_rules` shows that golden cases hold them.

Names: n records, d coefficients, μ the budget, signal = n·μ/d. Shares are of μ². A noise norm is
the spectral norm √(2d)·s of a symmetric noise matrix with standard deviation s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeVar

T = TypeVar("T")

SIMULATED = "simulated designs and the tables not held out in benchmarks/results/accuracy.md"
COVERAGE = "coverage of intervals on simulated designs (docs/inference.md)"
DERIVED = "derived; no table was used"


def rule(value: T, reason: str) -> T:
    """Return a field with a value and the reason for it."""
    made: T = field(default=value, metadata={"reason": reason})
    return made


@dataclass(frozen=True)
class Growth:
    """factor·(signal / unit)^power, within [low, high]."""

    factor: float
    unit: float
    power: float
    low: float
    high: float

    def at(self, signal: float) -> float:
        """Value at a signal."""
        return between(self.factor * (signal / self.unit) ** self.power, self.low, self.high)


def between(value: float, low: float, high: float) -> float:
    """Return the value, limited to [low, high]."""
    return min(max(value, low), high)


@dataclass(frozen=True)
class Tables:
    """Large tables and passes over them."""

    study: ClassVar[str] = "time on one core; no table"
    large: float = rule(1e7, "n·d from which passes are capped by default")
    passes_of_large: int = rule(30, "cap on passes over a large table: about a minute")
    passes: int = rule(1000, "cap on passes over other tables")
    answers_of_newton: int = rule(38, "cap on the answers of Newton over a large table; counts are cheap")
    noise_norm: float = rule(0.25, "second moments are subsampled below it, as share of n read")
    step_noise: float = rule(0.1, "first steps are subsampled below this noise, in residual sizes")
    records_a_column: float = rule(1000.0, "records read for each column, at least: sampling error")


@dataclass(frozen=True)
class Warnings:
    """When a user is warned before something is spent."""

    study: ClassVar[str] = SIMULATED
    smallest: float = rule(15.0, "n·μ/√d below which even the best fit is mostly noise")
    intervals: float = rule(25.0, "signal below which intervals mean nothing and are not offered")
    wide: float = rule(14.0, "signal over √d below which noise hides what a curvature tells: likewise")
    count_noise: float = rule(1 / 16, "noise of a count, of n, beyond which bounds are often wrong")


@dataclass(frozen=True)
class Counting:
    """The noisy count of the records, or of their weights."""

    study: ClassVar[str] = DERIVED
    noise: float = rule(0.03, "wanted noise of the count, as a share of n: steps move with it")
    share: tuple[float, float] = rule((0.01, 0.25), "ends of the share that this takes")


@dataclass(frozen=True)
class Bounds:
    """Private bounds by noisy counts."""

    study: ClassVar[str] = "docs/private_bounds.md, on simulated columns"
    share: float = rule(0.1, "usual share: it costs the fit 5% more noise")
    largest_share: float = rule(0.25, "share where counts would else be too noisy")
    smallest_noise: float = rule(0.004, "noise of a count, of n, below which no more is spent")
    margin: float = rule(0.99, "of the noise that is warned of: a plan just within does not warn")
    digits: int = rule(32, "binary digits of a grid value after its first")
    octaves: int = rule(64, "octaves of the grid above 1, and below")
    radii: int = rule(4, "radii tried in an octave")
    half_width: float = rule(32.0, "bounds in deviations from the median; skewed columns need it")
    noises: float = rule(5.0, "deviations of noise between the wanted share of n and all of n")
    held: tuple[float, float] = rule((0.6, 0.98), "ends of the share of n that a radius holds")
    single: float = rule(9.0, "deviations of noise elsewhere, up to which a column has one value")

    @property
    def farthest(self) -> int:
        """Place of the largest grid value."""
        return 2 * self.octaves << self.digits

    @property
    def location_rounds(self) -> int:
        """One for the number of records, and one for each halving of the places ±farthest."""
        return 1 + self.farthest.bit_length()

    @property
    def scale_rounds(self) -> int:
        """The number of records again, the records on the median, the halvings of the radii."""
        return 2 + (self.octaves * self.radii).bit_length()


@dataclass(frozen=True)
class InterceptOnly:
    """Where slopes would be noise, the level of the response alone is released."""

    study: ClassVar[str] = SIMULATED
    signal: float = rule(4.0, "signal below which slopes of numbers and counts are noise")
    n_mu: float = rule(80.0, "n·μ below which slopes of numbers are noise for any d")
    labels: float = rule(1.0, "signal below which slopes raised the log-loss of two labels")
    counts_pay: float = rule(25.0, "n·μ below which counts tell no quantile or robust center: one mean of the range")
    means_pay: float = rule(40.0, "n·μ below which a mean near the median gains nothing: one mean of the range")
    counts_share: Fraction = rule(Fraction(3, 5), "of a quantile or Huber's center: share for median and scale")
    shares: tuple[Fraction, Fraction] = rule(
        (Fraction(1, 5), Fraction(11, 20)), "of a mean: for median and scale, and for the mean of the range"
    )
    apart: float = rule(2.0, "deviations between the means of the range and near the median: a tail was cut")
    pull: Growth = rule(
        Growth(1.5, 12.0, -0.5, 0.5, 2.5), "noise variances by which a squared distance from the middle shrinks"
    )
    quantile_sizes: float = rule(6.0, "mean sizes from the median within which a quantile lies")
    mean_sizes: float = rule(2.0, "the mean is of values within so many mean sizes, at least")
    mean_noise: float = rule(20.0, "and within 1/(20σ), σ the noise of a count as a share of n")
    smallest_rate: float = rule(1 / 200, "floor of a mean count, over where it was cut")


@dataclass(frozen=True)
class Descent:
    """Gradient descent in the coordinates of the public bounds."""

    study: ClassVar[str] = DERIVED
    radius: float = rule(10.0, "assumed norm of the best coefficients for rows of norm 1")
    margins: float = rule(3.0, "assumed root mean square of the true margins, for the forecast")
    noise_kept: float = rule(0.25, "gradient² over noise² at which steps end, where no smoothness is known")
    agreement: float = rule(0.01, "how far below a stated μ a hand-set noise may cost; never above")


@dataclass(frozen=True)
class Labels:
    """Descent in whitened coordinates, for labels."""

    study: ClassVar[str] = SIMULATED
    momentum: float = rule(0.5, "of most fits")
    burn_in: int = rule(6, "iterates that are never averaged")
    steps_of_large: int = rule(12, "most steps over a large table")
    few_columns: float = rule(256.0, "columns up to which three queries of second moments pay")
    few_signal: float = rule(20.0, "signal below which wider tables have one such query")
    one_query: Fraction = rule(Fraction(10, 100), "share of the one query")
    one_ridge: float = rule(0.3, "its ridge, in noise norms")
    two_signal: float = rule(100.0, "signal from which a large table has two queries, not three")
    two_queries: Fraction = rule(Fraction(6, 100), "share of each of two")
    three_queries: Fraction = rule(Fraction(4, 100), "share of each of three")
    ridge: float = rule(0.08, "ridge in noise norms, times √d")
    ridge_ends: tuple[float, float] = rule((0.6, 0.85), "ends of that ridge")
    row_factor: Growth = rule(Growth(0.25, 1.0, 1 / 3, 1.0, 2.0), "norm of rows after the first query")
    clip: Growth = rule(Growth(0.35, 10.0, 0.25, 0.3, 2.0), "clip of two labels, over √d_eff")
    step: tuple[float, float] = rule((3.0, 2.1), "step length max(3, 2.1 / clip)")
    steps: tuple[float, float, float] = rule((8.0, 10.0, 60.0), "8·max(√(signal/10), signal/60)")
    most_steps: float = rule(9.0, "in eights")
    class_clip: Growth = rule(Growth(0.5, 10.0, 0.25, 0.4, 2.5), "clip of K classes, signal / √K")
    class_step: tuple[float, float] = rule((2.0, 1.6), "step length max(2, 1.6 / clip)")
    class_steps: tuple[float, float] = rule((10.0, 10.0), "10·√(signal / 10)")
    most_class_steps: float = rule(6.0, "in tens")
    class_momentum: float = rule(0.8, "where one class is nearly sure, the curvature is small")
    class_signal: float = rule(100.0, "signal / √K from which classes have that momentum")
    hinge_clip: Growth = rule(Growth(0.22, 1.0, 0.3, 0.35, 2.0), "clip of the hinge")
    hinge_steps: tuple[int, int] = rule((20, 30), "steps of the hinge below and above a signal")
    hinge_signal: float = rule(60.0, "that signal")
    start_below: float = rule(5.0, "signal below which the intercept starts at the labels' odds")
    start_records: float = rule(25.0, "noise of 1/25 in the labels' share: (25/n)² of 1")
    start_share: tuple[float, float] = rule((0.05, 0.8), "ends of the share for that")
    uneven_signal: float = rule(250.0, "signal from which uneven labels make for longer steps")
    uneven_share: Fraction = rule(Fraction(1, 100), "share for the labels' odds then")
    longest: float = rule(1.8, "factor of such steps, stable for a curvature of 1/4")
    prior_variance: float = rule(1 / 16, "assumed variance of the labels' share around one half")
    farthest_share: float = rule(0.02, "the labels' share stays so far from 0 and 1")
    margin_variance: float = rule(0.15, "noise variance of margins from which steps shorten")
    curvature: float = rule(0.3, "curvature of a resolved direction, over the clip factor")
    largest_clip: float = rule(0.6, "clip factor up to which that holds")
    counted_power: float = rule(0.25, "clip and steps go by this power of the counted share of n")
    counted_share: float = rule(0.5, "counted share of n below which momentum is the usual one")


@dataclass(frozen=True)
class NewtonPolish:
    """A short descent that Newton steps end, for two labels of a large table."""

    study: ClassVar[str] = "docs/solvers.md, table of uneven labels (n = 210 000, d = 50)"
    signal: float = rule(100.0, "signal from which it is taken")
    curvature_share: Fraction = rule(Fraction(4, 100), "for the curvature where descent ended")
    queries: int = rule(2, "of second moments: a third stretches directions that noise hides")
    query_share: Fraction = rule(Fraction(5, 100), "for each of them")
    steps: int = rule(6, "of descent")
    newton_steps: int = rule(4, "Newton steps")
    averaged: int = rule(2, "last iterates that are averaged")
    descent_share: Fraction = rule(Fraction(3, 10), "of the gradients' budget, for the descent")
    momentum: float = rule(0.7, "of the descent")
    ridge: float = rule(0.6, "on the curvature, in noise norms")
    longest: float = rule(40.0, "longest step in a direction: curvatures are at most 1/4")


@dataclass(frozen=True)
class Pace:
    """Steps of two stages, the averaged share, the step length and the momentum."""

    steps: tuple[int, int]
    averaged: float
    length: float
    momentum: float


@dataclass(frozen=True)
class Staged:
    """Two stages of descent for numbers and counts."""

    study: ClassVar[str] = SIMULATED
    stages: Fraction = rule(Fraction(1, 5), "share of the gradients' budget for the first stage")
    location_share: float = rule(1300.0, "for median and scale: 1300 / (n·μ)²")
    location_ends: tuple[float, float] = rule((0.02, 0.25), "ends of that share")
    narrow: float = rule(64.0, "columns up to which queries and steps are cheap and many")
    narrow_queries: tuple[int, Fraction] = rule((4, Fraction(1, 20)), "number and share, narrow")
    wide_queries: tuple[int, Fraction] = rule((2, Fraction(1, 10)), "number and share, wide")
    clear: float = rule(60.0, "signal from which noise is the smaller concern")
    ridge: float = rule(0.08, "ridge in noise norms, times √d")
    ridge_ends: tuple[float, float] = rule((0.3, 1.5), "ends of that ridge")
    late_ridge: float = rule(0.6, "from the third query on, where the signal is clear")
    steepest: float = rule(1.6, "curvature of a whitened direction that steps can stand")
    row_factor: float = rule(4.0, "largest norm of rows after the first query, over √d_eff")
    row_noise: float = rule(0.3, "noise norm up to which rows may be so long, as a share of n")
    row_factor_of_large: float = rule(2.5, "so that second moments can be subsampled")
    counts: Pace = rule(Pace((8, 16), 0.5, 0.5, 0.4), "pace of counts")
    large_counts: Pace = rule(Pace((4, 6), 0.5, 0.5, 0.4), "pace of counts, large table")
    large_clear: Pace = rule(Pace((2, 4), 0.5, 1.0, 0.5), "large table with a clear signal")
    large_noisy: Pace = rule(Pace((3, 5), 0.4, 1.0, 0.5), "large table without one")
    narrow_pace: Pace = rule(Pace((6, 12), 0.75, 0.7, 0.0), "narrow table")
    wide_pace: Pace = rule(Pace((4, 6), 0.5, 1.0, 0.4), "wide table")
    size_clip: Growth = rule(Growth(0.5, 1.0, 1 / 3, 1.0, 8.0), "clip in mean sizes of the residuals")
    slope_clip: Growth = rule(Growth(0.25, 1.0, 1 / 3, 1.0, 2.5), "clip where slopes are bounded")
    pinball_curvature: float = rule(0.4, "density of a normal variable at its median")
    pinball_density: float = rule(0.25, "least density at a quantile that steps go by")
    first_corner: float = rule(1.0, "corner of the first stage of a quantile, in deviations")
    measuring: tuple[float, float, float] = rule(
        (0.04, 0.08, 0.06), "for measuring residuals: least squares, quantiles, others"
    )
    scale_rounds: int = rule(5, "counts for the radius that holds 70% of the residuals")
    shift_rounds: int = rule(7, "counts for the quantile of the residuals")
    size_cap: float = rule(4.0, "residuals are cut at so many mean sizes of the stage before")
    size_floor: float = rule(40.0, "their mean size is at least the cap over this")
    scale_cap: float = rule(6.0, "the radius is sought within so many deviations")
    scale_octaves: int = rule(6, "and over so many octaves")
    shift_width: float = rule(4.0, "the quantile is sought within so many deviations")
    largest_rate: float = rule(3.0, "logarithms above the mean at which a rate is cut")
    event: float = rule(1.25, "slopes of counts that are fitted: one event, where the mean rate is small")
    event_noise: float = rule(0.1, "and at most so much of n·μ/√d times the mean rate")
    rate_noise: float = rule(12.0, "steps of counts go by a rate of at least so many deviations of a gradient's noise")
    rate_size: float = rule(0.8, "mean size of a count's deviation, over the root of its mean")
    residual: float = rule(0.2, "assumed mean residual in half ranges, for the forecast")
    moments_queries: int = rule(3, "of second moments, for least squares from moments")
    moments_share: Fraction = rule(Fraction(3, 20), "for each of them")
    explained: float = rule(0.5, "assumed R² where moments and stages are compared")
    mean_size: float = rule(0.8, "mean size of a normal variable over its deviation")
    longest: float = rule(0.9, "step size up to which (1 - step)^T is left of the way")


@dataclass(frozen=True)
class Response:
    """Where a response lies and how wide it is, by counts."""

    study: ClassVar[str] = DERIVED
    medians: int = rule(8, "halvings of the range for the median")
    radii: int = rule(5, "halvings of the octaves for the radius")
    held: float = rule(0.7, "share of the records that the radius holds")
    octaves: int = rule(10, "octaves below the range in which it is sought")
    size: float = rule(1.3, "that radius over the mean size, for a normal response")
    deviation: float = rule(1.036, "that radius over the standard deviation: Φ⁻¹(0.85)")
    normal: float = rule(1.25, "standard deviation of a normal variable over its mean size")
    mean_cut: float = rule(6.0, "mean sizes above the median at which a mean is cut")
    least_size: float = rule(0.5, "mean size of counts that this uses, at least")
    mean_floor: float = rule(200.0, "a mean count is at least its range over this")


@dataclass(frozen=True)
class Corrections:
    """What is done to the result of two stages: shrinkage, level and slope."""

    study: ClassVar[str] = "R² on california, diamonds, acs_logsal, cps1988 (docs/solvers.md)"
    full_shrinkage: float = rule(15.0, "signal below which all of the noise's share is taken off")
    smallest_curvature: float = rule(0.3, "of a whitened direction, in the noise's variance")
    growth: float = rule(1.5, "of the blocks of directions that are shrunk together")
    share: Fraction = rule(Fraction(1, 25), "for level and slope")
    cut: Growth = rule(Growth(2.0, 30.0, 2 / 3, 2.0, 60.0), "cut in mean sizes, by n·μ of one number")
    largest_slope: float = rule(3.0, "the slope changes by no more than this factor")
    noise_variances: float = rule(2.0, "squared corrections below so many noise variances are dropped")
    caution: float = rule(2.0, "noise deviations by which the predictions' variance is raised")
    smallest_spread: float = rule(0.05, "deviation of predictions, in residual sizes, at least")


@dataclass(frozen=True)
class Mean:
    """The mean of the rows, in whitened coordinates where that pays."""

    study: ClassVar[str] = DERIVED
    signal: float = rule(30.0, "signal from which second moments resolve the spread")
    queries: int = rule(2, "of second moments")
    share: Fraction = rule(Fraction(1, 5), "for both")
    clip: float = rule(2.0, "of whitened rows, over √d_eff")
    ridge: float = rule(0.08, "ridge in noise norms, times √d")
    ridge_ends: tuple[float, float] = rule((0.3, 1.5), "ends of that ridge")


@dataclass(frozen=True)
class AdaptiveRidge:
    """Least squares from X'X and X'y with AdaSSP's ridge."""

    study: ClassVar[str] = DERIVED
    gram_share: Fraction = rule(Fraction(1, 2), "for X'X, as much as for X'y, as in the published form")
    lift: float = rule(0.5, "least eigenvalue in noise norms: 1.5 of the published λ less the 1 that noise takes off")


@dataclass(frozen=True)
class Covariance:
    """Second moments of the rows, the second time in whitened coordinates where these have less noise."""

    study: ClassVar[str] = DERIVED
    first_share: Fraction = rule(Fraction(1, 5), "for the first query, as for a mean")
    row_factor: float = rule(3.0, "length of whitened rows, over √d_eff: few rows are shortened")
    ridge: float = rule(0.08, "ridge in noise norms, times √d, as for a mean")
    ridge_ends: tuple[float, float] = rule((0.3, 1.5), "ends of that ridge")


@dataclass(frozen=True)
class Whitening:
    """Second moments as coordinates."""

    study: ClassVar[str] = DERIVED
    unit_rows: float = rule(
        0.25, "power of a unit's most rows by which clips fall: a mean of k rows has norm 1 to k^-½"
    )
    late: int = rule(2, "queries after which the late ridge applies")


@dataclass(frozen=True)
class Stochastic:
    """Steps over batches."""

    study: ClassVar[str] = "AUC on adult and covertype at ε = 1, 5 seeds (docs/stochastic.md)"
    passes: int = rule(5, "passes by default: further ones gained nothing")
    full_steps: int = rule(
        5, "steps over all records below which a cap excludes them: with 2, the excess loss is 10-fold"
    )
    moments_part: int = rule(3, "at most one pass in so many is for second moments of labels")
    number_part: int = rule(2, "and of numbers: R² of california and diamonds rose by .015 with a second query")
    steps: float = rule(2.0, "steps over those of full descent: a step of a batch has more noise")
    rate_bits: int = rule(6, "binary digits of a planned rate, which is rounded down")
    records_a_coefficient: float = rule(4.0, "records of a batch a coefficient below which steps shorten")
    most_steps: int = rule(10_000, "steps at most, however small the batches that are asked for")
    first_steps: float = rule(1 / 3, "share of the steps of a number's first stage")
    mean_share: Fraction = rule(Fraction(2, 100), "for the mean of a response")
    size_share: Fraction = rule(Fraction(2, 100), "for each mean size of residuals")


@dataclass(frozen=True)
class Evaluations:
    """Scores of a released model on private records."""

    study: ClassVar[str] = "coverage of their intervals on simulated populations (docs/evaluation.md)"
    spread_share: Fraction = rule(Fraction(1, 5), "of a log loss or squared error: for its spread, by which errors go")
    level_share: Fraction = rule(Fraction(1, 10), "of R²: for the mean of the response")
    moments_share: Fraction = rule(Fraction(3, 10), "of R²: for three fourth moments")
    odds: float = rule(6.0, "log odds are kept within ±6, probabilities within 0.0025 and 0.9975")
    intervals: int = rule(48, "of log odds, 1/4 wide: ties then move an area by less than 0.001")
    groups: int = rule(8, "of neighbouring intervals, whose shares of labels are the calibration")
    known: float = rule(4.0, "deviations of its noise below which a total tells nothing")


TABLES, WARNINGS, COUNTING, BOUNDS = Tables(), Warnings(), Counting(), Bounds()
INTERCEPT_ONLY, DESCENT, LABELS = InterceptOnly(), Descent(), Labels()
NEWTON_POLISH, STAGED, RESPONSE = NewtonPolish(), Staged(), Response()
CORRECTIONS, MEAN, WHITENING, STOCHASTIC = Corrections(), Mean(), Whitening(), Stochastic()
ADASSP, COVARIANCE, EVALUATION = AdaptiveRidge(), Covariance(), Evaluations()


def least_signal(coefficients: int) -> float:
    """n·μ/d from which intervals of so many coefficients are paid for."""
    return max(WARNINGS.intervals, WARNINGS.wide * math.sqrt(coefficients))
