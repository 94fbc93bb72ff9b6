"""The rules of solvers that can have intervals, and of what is said of intervals."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tacit.solvers import rules
from tacit.solvers.block_rules import BLOCKS
from tacit.solvers.far_out_rules import FAR_OUT
from tacit.solvers.fit_statistic_rules import FIT_STATISTICS
from tacit.solvers.label_direction_rules import LABEL_DIRECTION
from tacit.solvers.label_slope_rules import LABEL_SLOPE
from tacit.solvers.level_rules import NEAR_MIDDLE
from tacit.solvers.network_rules import NETWORKS
from tacit.solvers.plenty_rules import PLENTY
from tacit.solvers.public_descent_rules import PUBLIC_DESCENT
from tacit.solvers.rules import COVERAGE, DERIVED, Growth, rule
from tacit.solvers.wide_rules import COLUMNS


@dataclass(frozen=True)
class RoundShares:
    """Parts of μ² of Newton's method, in hundredths."""

    scales: int
    level: int
    moments: int
    rounds: int


@dataclass(frozen=True)
class Shares:
    """Parts of what the one-step solver's pilot leaves of μ², in proportion to one another."""

    scales: int
    level: int
    moments: int
    norms: int
    tail: int
    sandwich: int
    step: int
    fit: int = 0

    @property
    def whole(self) -> int:
        """Their sum."""
        return sum(astuple(self))


@dataclass(frozen=True)
class Start:
    """Standardised and whitened coordinates, from which Newton and fits with intervals begin."""

    study: ClassVar[str] = COVERAGE
    medians: int = rule(12, "counts for the medians of the columns")
    radii: int = rule(6, "counts for their radii")
    octaves: int = rule(12, "octaves below the bounds in which radii are sought")
    held: tuple[float, float] = rule((0.6, 0.98), "ends of the share of n that a radius holds")
    margin: float = rule(2.0, "deviations of noise by which a radius must hold more")
    noises: float = rule(4.0, "deviations of noise between that share and all of n")
    noisy: float = rule(0.1, "noise of a count, of n, from which bisection is probabilistic")
    constant: float = rule(6.0, "deviations within which counts of every radius lie: one value, but for a few records")
    alone: float = rule(3.0, "deviations of noise elsewhere: a column of one value")
    counted: float = rule(0.1, "three deviations of n where it was counted, as a share of it")
    rare: float = rule(0.05, "share of n elsewhere up to which a column is rare")
    near_zero: int = rule(10, "2^-10 half ranges from the user's zero count as zero")
    rare_length: float = rule(1.5, "length of a rare column's largest value, in clips")
    row_factor: float = rule(math.sqrt(2.0), "norm of standardised rows, over √d")
    ridge: float = rule(0.4, "ridge on the second moments, in noise norms")
    clip: Growth = rule(Growth(1.5, 100.0, 0.25, 1.5, 4.0), "squared norm over d where rows weigh less")


@dataclass(frozen=True)
class Level:
    """Level, scale and dispersion of the response."""

    study: ClassVar[str] = COVERAGE
    least_ones: float = rule(2.0, "records of either class that are assumed, at least")
    least_share: float = rule(0.25, "and not more than this share")
    rare_curvature: float = rule(2.5, "curvature over s(1 - s): rare ones lie far out")
    flattest: float = rule(2.5, "curvature over s(1 - s) from which weights fall, rare labels")
    steepest: Growth = rule(
        Growth(2.5, 100.0, 0.25, 2.5, 25.0), "slope over that at the labels' share from which weights fall, other links"
    )
    ratio: Growth = rule(
        Growth(1.75, 100.0, 0.5, 1.75, 8.0),
        "response over its mean at which a curvature is cut, gamma and overdispersed",
    )
    count_curvature: float = rule(1.5, "curvature over the mean count")
    cut: float = rule(4.0, "counts are cut here for their mean, at least")
    count_noise: float = rule(0.02, "noise of that mean, in counts, up to which they are not cut")
    least_mean: float = rule(0.02, "floor of the mean count")
    squares: float = rule(6.0, "squared residuals of counts are cut here, over max(1, rate)")
    rates: tuple[float, float, float] = rule((0.55, 1.0, 1.6), "rates over their mean, averaged")
    dispersion: float = rule(5.0, "largest dispersion of counts")
    halvings: int = rule(30, "of that range")
    top: Growth = rule(Growth(1.1, 100.0, 0.5, 1.1, 100.0), "rate over mean where weights fall")
    octaves: int = rule(6, "octaves in which the residuals' radius is sought")
    widest: float = rule(4.0, "and below so many times what the pilot's residuals measured")


@dataclass(frozen=True)
class OneStep:
    """The ordinary fit and one Newton step."""

    study: ClassVar[str] = COVERAGE
    labels_pilot: Growth = rule(Growth(0.3, 400.0, -0.3, 0.15, 0.6), "share of the pilot, labels")
    numbers_pilot: Growth = rule(Growth(0.2, 400.0, -0.4, 0.08, 0.6), "share of the pilot, others")
    logistic: Shares = rule(Shares(5, 2, 11, 0, 0, 28, 32), "two labels")
    numbers: Shares = rule(Shares(5, 0, 11, 3, 3, 24, 42, 3), "least squares")
    clear: float = rule(3000.0, "signal from which matrices need less")
    clear_logistic: Shares = rule(Shares(2, 1, 6, 0, 0, 14, 52), "two labels, clear signal")
    clear_numbers: Shares = rule(Shares(2, 0, 6, 2, 2, 12, 60, 4), "least squares and counts")
    robust: Shares = rule(Shares(5, 0, 11, 0, 0, 30, 36), "Huber's loss")
    residuals: int = rule(2, "part for the radius of the residuals, where Huber's threshold is relative to it")
    counts: Shares = rule(Shares(5, 0, 11, 3, 3, 24, 38, 3), "counts")
    near: tuple[int, int] = rule(
        (6, 4), "parts for gradient and curvature of a step before the last, labels and counts"
    )
    near_visible: float = rule(1.3, "noise norms to which that curvature is raised")
    near_signal: float = rule(2000.0, "signal from which there is one: what the pilot leaves out is seen")
    wide: float = rule(32.0, "signal over √d below which the curvature is hard to see")
    wide_sandwich: int = rule(4, "times its share then")
    short_rows: float = rule(0.5, "squared row norm over d up to which columns are as declared")
    scale_noise: float = rule(0.03, "noise of counts, of n, beyond which they tell no scale")
    row_factor: Growth = rule(
        Growth(math.sqrt(2.0), 2000.0, 0.4, math.sqrt(2.0), 6.0), "norm of rows in moments, over √d"
    )
    second_ridge: float = rule(0.2, "ridge of the second query of moments, in noise norms")
    clip: Growth = rule(Growth(1.1, 100.0, 0.5, 1.1, 100.0), "squared norm over d_eff where rows weigh less, labels")
    label_row_norms: tuple[int, int] = rule(
        (2, 3), "parts for a quantile of the norms of rows, and for what lies beyond"
    )
    row_norms: tuple[int, int] = rule((2, 8), "the same without labels: it says whether rows are long")
    row_rounds: int = rule(6, "counts for their quantile")
    row_octaves: int = rule(4, "in which it is sought")
    row_top: float = rule(8.0, "up to so many √d")
    row_cap: float = rule(
        0.5, "excesses of norms of rows are cut at so many quantiles: beyond, few rows have much noise"
    )
    row_noises: float = rule(2.75, "deviations of its noise by which the excess of normal rows must be passed")
    row_scale: float = rule(1.15, "or quantiles of normal rows by which theirs must be: else no row counts as long")
    other_effects: float = rule(0.45, "part by which effects among rows that weigh less may differ, numbers")
    other_log_effects: float = rule(0.5, "the same of effects on the logarithm of a mean")
    row_least: float = rule(0.85, "least clip at that quantile, in usual ones")
    row_most: Growth = rule(Growth(1.0, 120.0, 0.5, 1.0, 2.0), "largest one: with more noise a shift is hardly seen")
    curved_rows: Growth = rule(
        Growth(1.2, 60.0, 0.25, 1.0, 4.0), "curvature that a row may have over that of a usual clip at the top"
    )
    rare_rows: Growth = rule(
        Growth(1.0, 1.0, 0.36, 0.4, 1.0),
        "both ends of that clip, by 4 s(1 - s) of the labels' share: ones have the noise",
    )
    rare_curved: Growth = rule(
        Growth(1.0, 1.0, -0.25, 1.0, 2.2), "that curvature, likewise: what rare ones tell is far out"
    )
    rare_signal: float = rule(140.0, "signal times 4 s(1 - s) from which they are whole: below, noise would hide more")
    seen_curvature: float = rule(35.0, "signal over √d and over the usual clip's curvature, for each of these")
    seen_rows: Growth = rule(
        Growth(3.0, 100.0, 1.0, 0.0, 85.0),
        "squared norm over d that the noise of the curvature allows, by signal over √d",
    )
    numbers_clip: Growth = rule(Growth(2.5, 100.0, 0.4, 1.5, 100.0), "the same for numbers")
    counts_clip: Growth = rule(Growth(1.1, 100.0, 0.45, 1.1, 100.0), "and for counts")
    flat: float = rule(0.0011, "mean size over the range of a response that hardly varies")
    narrow: float = rule(200.0, "deviations of a column in half its declared range: rows far out are not ruled out")
    score_share: float = rule(0.4, "weight of the score beside the curvature: M needs accuracy")
    residual_rounds: int = rule(6, "counts for the radius of the residuals")
    steps_of_large: int = rule(8, "pilot steps over a large table of labels, for time")
    visible: float = rule(1.3, "noise norms from which an eigenvalue of the curvature is seen")
    noisiest: float = rule(0.25, "noise of a step in spreads, beyond which the pilot stays, numbers")
    noisiest_odds: float = rule(0.45, "the same of log odds and log rates, over √curvature")
    noisiest_log: float = rule(0.5, "and at most so much, two labels: rates are exponentials of it")
    longest: float = rule(3.0, "longest step, in spreads of the response")
    least_error: float = rule(0.25, "least part of the step's square that is the pilot's error")
    least_asymmetry: float = rule(0.3, "of the score of two labels: |1 - 2s| at least")
    pseudo_rows: int = rule(1500, "public normal rows for the curvature before it is asked for")
    pseudo_seed: int = rule(1, "of their generator")
    center: float = rule(0.98, "longest mean of those rows: their second moment is 1")
    flattest: float = rule(0.3, "least eigenvalue of that curvature, over their mean")
    farthest: float = rule(1.5, "longest step to where the matrices are asked for")
    curvature: float = rule(0.05, "assumed curvature in whitened directions, for the forecast")


@dataclass(frozen=True)
class Tail:
    """Where gradients without a bound are clipped."""

    study: ClassVar[str] = COVERAGE
    rounds: int = rule(7, "counts for the quantile of the norms")
    octaves: int = rule(16, "below the public bound in which it is sought")
    noises: float = rule(4.0, "deviations of noise between the quantile's share and all of n")
    held: tuple[float, float] = rule((0.82, 0.975), "ends of that share")
    cap: float = rule(2.0, "excesses are cut at so many quantiles")
    caution: float = rule(0.5, "noise deviations that are added to the mean excess")
    safety: float = rule(2.0, "factor on the bias that a clip may have, numbers")
    counts_safety: float = rule(1.6, "the same for counts, whose tails are lighter")
    powers: tuple[float, float] = rule((0.3, 8.0), "ends of the power γ of the tail")
    saturated: float = rule(1.0, "part of the heaviest tail's excess beyond which none is known")
    grid: int = rule(60, "powers tried")
    points: int = rule(1500, "points of the tail's law")
    clips: int = rule(80, "clips tried")
    farthest: float = rule(30.0, "largest clip, in quantiles")
    beyond: tuple[float, float] = rule((2.0, 8.0), "clips, or quantiles, beyond which a shortened row is not fitted")
    loose: float = rule(2000.0, "quantiles below the public bound beyond which it ties no tail, numbers")
    loose_safety: float = rule(2.0, "times the bias then")
    far_out: float = rule(3.0, "deviations of a residual in rows far out, from which these are not fitted")
    wide: float = rule(400.0, "quantiles below the public bound: with a narrow response, spikes are not ruled out")
    narrow: float = rule(0.0028, "deviation of a narrow response over its range")
    loosened: float = rule(4.0, "curvature of rows in a gradient over that in a matrix, two labels")
    few: float = rule(0.25, "least quantile over that of normal errors of the residuals' size: else a few hold the sum")
    unfit_noises: float = rule(
        2.0, "deviations of noise by which there are more than the law of the tail says: no interval"
    )


@dataclass(frozen=True)
class Newton:
    """Rounds of noisy Newton steps, or of majorised Newton steps."""

    study: ClassVar[str] = "docs/newton.md, on simulated designs"
    logistic: RoundShares = rule(RoundShares(5, 2, 10, 83), "shares of two labels")
    numbers: RoundShares = rule(RoundShares(5, 0, 10, 85), "of numbers")
    counts: RoundShares = rule(RoundShares(5, 1, 10, 78), "of counts")
    dispersion: int = rule(6, "hundredths of μ² for the dispersion of counts")
    step: float = rule(3.0, "longest step, in spreads of the response")
    enough: float = rule(100.0, "signal from which Newton's last steps are full ones")
    much: float = rule(1000.0, "signal from which two are")
    damping: float = rule(0.5, "size of the other Newton steps")
    curvature_share: Fraction = rule(Fraction(1, 4), "of the rounds' budget, for curvatures")
    small_share: Fraction = rule(Fraction(1, 10), "the same below that signal")
    rounds: int = rule(16, "Newton's rounds below that signal")
    newton: tuple[int, int, int, int] = rule((1, 2, 6, 20), "1 + 2·log10(signal), within 6 and 20")
    majorised: tuple[int, int, int, int] = rule((6, 4, 10, 20), "6 + 4·log10(signal), 10 to 20")
    longest: float = rule(1.0, "longest declared step")
    majorised_share: int = rule(15, "hundredths of μ² for a curvature that is asked for once")
    even: Fraction = rule(Fraction(2, 5), "of the gradients' price that is split evenly")
    averaged: float = rule(0.5, "share of the iterates behind output tail")
    dispersed: int = rule(2, "counts' dispersion is asked for after 1/2 of the rounds")
    pooled: int = rule(3, "curvatures are averaged after 1/3 of the rounds")
    squares: tuple[float, float] = rule((0.005, 0.25), "ends of the share for squared residuals")
    floor: float = rule(1.5, "curvatures are raised to so many noise norms")
    ridge: float = rule(1.0, "ridge and floor of the curvature that is asked for once")
    varying: float = rule(0.5, "deviation of curvatures from the expected one, as a share of it")
    scale_ends: tuple[float, float] = rule((2.0**-14, 2.0), "of the residuals' scale, half ranges")
    scale_change: tuple[float, float] = rule((1 / 8, 2.0), "of the scale in one round")
    scale_prior: float = rule(0.5, "variance of the logarithm of the first scale")
    scale_drift: float = rule(0.01, "variance that a round adds, as residuals change")


@dataclass(frozen=True)
class Perturbation:
    """Objective perturbation."""

    study: ClassVar[str] = "docs/objective_perturbation.md; derived for ‖θ‖ = 5"
    cover: Fraction = rule(Fraction(1, 200), "share of the noise that hides the computation")
    norm: float = rule(5.0, "assumed norm of the minimiser, for the ridge")
    response_norm: float = rule(1.0, "and that of a response within [-1, 1]")
    ratios: tuple[float, float, int] = rule((0.005, 1.09, 61), "parts of ε tried for the ridge")
    largest: float = rule(500.0, "largest ε: loss distributions are computed to about 690")


@dataclass(frozen=True)
class OutputPerturbation:
    """Output perturbation."""

    study: ClassVar[str] = "docs/perturbation.md, on simulated designs"
    norm: float = rule(10.0, "assumed norm of the best coefficients of labels, for rows of norm 1")
    response_norm: float = rule(1.0, "and of a response within [-1, 1]")
    flattest: float = rule(1e5, "curvature over the ridge: up to it Newton's method ended on all of 27,946 tables")
    bits: int = rule(32, "lattice of noise of Gamma norm: far coarser than its floats")


@dataclass(frozen=True)
class FrankWolfe:
    """Steps to vertices of an l1 ball."""

    study: ClassVar[str] = "docs/selection.md, on simulated designs with 10 of 20,000 slopes"
    seen: float = rule(0.12, "share of n, in clips, by which a score stands out of the selection's noise")
    steps: tuple[int, int] = rule((6, 300), "ends of the number of steps")
    first: float = rule(30.0, "γ = 2 / (t + 2 + this): a longer first step leaps over the slope, and the next one back")
    slope: float = rule(0.4, "clip of slopes, over their bound: less finds more slopes, and bends rare labels")
    halvings: int = rule(5, "of the constant's interval, each of three times: within a 1/32 of it")
    constant: float = rule(0.08, "cost of all halvings over that of the steps")
    response_slope: float = rule(0.2, "and of a response within [-1, 1], most of which lies near its middle")
    level: float = rule(3.0, "bound on the constant of labels: shares from 5% to 95%")
    response_level: float = rule(1.0, "and of a response within [-1, 1]")


@dataclass(frozen=True)
class Exponential:
    """Candidates and posteriors of the exponential mechanism."""

    study: ClassVar[str] = "docs/selection.md, on simulated designs"
    grid: int = rule(3, "coefficients, the constant included, up to which candidates lie on a grid")
    coefficients: int = rule(10, "coefficients up to which a posterior is drawn from by rejection")
    points: float = rule(4e4, "candidates at most")
    work: float = rule(4e8, "candidates times records at most: a few seconds")
    fineness: float = rule(4.0, "points a coefficient, over √n: finer ones are nearer than its standard error")
    fewest: float = rule(512.0, "candidates, however many records there are")
    reach: float = rule(6.0, "largest prepared coefficient of labels on the grid: columns lie in [-1, 1]")
    response_reach: float = rule(1.5, "and of a response within [-1, 1]")
    cap: float = rule(5.0, "clip of a loss, over its largest value at margin 0: a smaller one favours long slopes")
    proposals: int = rule(512, "points proposed at once: the ridge is the least for which they are enough")


@dataclass(frozen=True)
class ZerothOrder:
    """Differences of losses at two points."""

    study: ClassVar[str] = DERIVED
    spread: float = rule(2.0, "clip of a difference, in deviations of a row's product with a random direction")
    step: float = rule(1e-3, "distance of the two points over the row norm's inverse: its square is the bias")
    seed: int = rule(7, "of the public directions")


@dataclass(frozen=True)
class DoubleNoise:
    """Newton's method with noise on gradient and direction."""

    study: ClassVar[str] = "docs/objective_perturbation.md, on simulated designs"
    rounds: int = rule(10, "of gradient and direction")
    trace: Fraction = rule(Fraction(5, 100), "share of the trace")
    gradients: Fraction = rule(Fraction(57, 100), "share of the gradients")
    directions: Fraction = rule(Fraction(38, 100), "share of the directions")
    farthest: float = rule(100.0, "largest norm of θ, times the row norm: no margin means more")


@dataclass(frozen=True)
class Reliability:
    """What is said of intervals."""

    study: ClassVar[str] = COVERAGE
    signal: float = rule(100.0, "signal from which coverage was measured to be nominal")
    seen: tuple[float, float] = rule((6.0, 2.0), "deviations of its noise in the rarer label's share, likewise")
    hidden: tuple[float, float] = rule((0.1, 0.15), "hidden part over standard errors: conservative, withheld")
    bias: tuple[float, float] = rule((0.45, 1.0), "bias bound of the clip, likewise: without a bias 97% cover at 0.45")
    curvature: float = rule(0.5, "noise of the curvature, likewise: conservative")
    curvature_most: float = rule(4.0, "and withheld")
    second_order: float = rule(0.6, "second-order bias from which intervals are widened")
    second_order_most: float = rule(1.5, "and withheld")
    second_part: float = rule(0.4, "part of it that is added to the standard error")
    far: float = rule(0.8, "error of the pilot in predictor units, from which they are widened")
    far_most: float = rule(1.6, "and withheld")
    faint: float = rule(3.0, "noise norms up to which a curvature this many times below the best is not believed")
    joint_signal: float = rule(400.0, "signal below which joint tests of least squares are conservative: B is noisy")
    joint_bias: float = rule(0.5, "least bias bound that they allow for then, in noise deviations of the gradient")
    joint_part: float = rule(2.0, "part of the squared bound of the whole gradient that is added then")
    joint_floor: float = rule(0.1, "least score variance in a joint test, in noise deviations")
    draws: int = rule(400, "of the law of a joint test")
    seed: int = rule(1, "of their generator")


START, LEVEL, ONE_STEP, TAIL, NEWTON = Start(), Level(), OneStep(), Tail(), Newton()
PERTURBATION, DOUBLE_NOISE, RELIABILITY = Perturbation(), DoubleNoise(), Reliability()
OUTPUT_PERTURBATION, FRANK_WOLFE = OutputPerturbation(), FrankWolfe()
EXPONENTIAL, ZEROTH_ORDER = Exponential(), ZerothOrder()
GROUPS: tuple[Any, ...] = (
    rules.TABLES, rules.WARNINGS, rules.COUNTING, rules.BOUNDS, rules.WHITENING, rules.DESCENT,
    rules.LABELS, rules.NEWTON_POLISH, rules.RESPONSE, rules.STAGED, rules.CORRECTIONS, rules.MEAN,
    rules.ADASSP, rules.COVARIANCE, rules.EVALUATION, rules.INTERCEPT_ONLY, START, LEVEL, ONE_STEP, TAIL, NEWTON,
    PERTURBATION, OUTPUT_PERTURBATION, DOUBLE_NOISE, RELIABILITY, rules.STOCHASTIC, FRANK_WOLFE, EXPONENTIAL,
    ZEROTH_ORDER, BLOCKS, FIT_STATISTICS, COLUMNS, NETWORKS, LABEL_SLOPE, NEAR_MIDDLE, LABEL_DIRECTION, PUBLIC_DESCENT,
    FAR_OUT, PLENTY,
)  # fmt: skip
"""All groups of rules, as docs/solvers.md lists them."""
