"""The rules of solvers that can have intervals, and of what is said of intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tacit.solvers import rules
from tacit.solvers.rules import COVERAGE, Growth, rule


@dataclass(frozen=True)
class StartShares:
    """Parts of μ² before and after the estimate, in hundredths."""

    scales: int
    level: int
    moments: int
    sandwich: int


@dataclass(frozen=True)
class Shares(StartShares):
    """All parts of μ² of the one-step solver, in hundredths."""

    residuals: int
    pilot: int
    step: int


@dataclass(frozen=True)
class Start:
    """Standardised and whitened coordinates, from which all solvers with intervals begin."""

    study: ClassVar[str] = COVERAGE
    medians: int = rule(12, "counts for the medians of the columns")
    radii: int = rule(6, "counts for their radii")
    octaves: int = rule(12, "octaves below the bounds in which radii are sought")
    held: tuple[float, float] = rule((0.6, 0.98), "ends of the share of n that a radius holds")
    noises: float = rule(4.0, "deviations of noise between that share and all of n")
    noisy: float = rule(0.1, "noise of a count, of n, from which bisection is probabilistic")
    alone: float = rule(3.0, "deviations of noise elsewhere: a column of one value")
    counted: float = rule(0.1, "three deviations of n where it was counted, as a share of it")
    rare: float = rule(0.05, "share of n elsewhere up to which a column is rare")
    near_zero: int = rule(10, "2^-10 half ranges from the user's zero count as zero")
    rare_length: float = rule(1.5, "length of a rare column's largest value, in clips")
    row_factor: float = rule(math.sqrt(2.0), "norm of standardised rows, over √d")
    ridge: float = rule(0.4, "ridge on the second moments, in noise norms")
    clip: Growth = rule(
        Growth(1.5, 100.0, 0.25, 1.5, 4.0), "squared norm over d where rows weigh less"
    )


@dataclass(frozen=True)
class Level:
    """Level, scale and dispersion of the response."""

    study: ClassVar[str] = COVERAGE
    least_ones: float = rule(2.0, "records of either class that are assumed, at least")
    least_share: float = rule(0.25, "and not more than this share")
    rare_curvature: float = rule(2.5, "curvature over s(1 - s): rare ones lie far out")
    count_curvature: float = rule(1.5, "curvature over the mean count")
    cut: float = rule(4.0, "counts are cut here for their mean, at least")
    count_noise: float = rule(0.02, "noise of that mean, in counts, up to which they are not cut")
    least_mean: float = rule(0.02, "floor of the mean count")
    squares: float = rule(6.0, "squared residuals of counts are cut here, over max(1, rate)")
    rates: tuple[float, float, float] = rule((0.55, 1.0, 1.6), "rates over their mean, averaged")
    dispersion: float = rule(5.0, "largest dispersion of counts")
    halvings: int = rule(30, "of that range")
    difference: float = rule(0.05, "of dispersions, for a derivative")
    nearby: float = rule(0.02, "of logarithms of rates, for a derivative")
    descended: float = rule(0.81, "curvature over mean that the pilot's noise goes by")
    top: Growth = rule(Growth(1.0, 100.0, 1 / 9, 1.0, 1.6), "rate over mean where weights fall")
    octaves: int = rule(6, "octaves in which the residuals' radius is sought")
    widest: float = rule(2.0, "and below so many thresholds of the first score")


@dataclass(frozen=True)
class OneStep:
    """A pilot and one Newton step."""

    study: ClassVar[str] = COVERAGE
    logistic: Shares = rule(Shares(5, 2, 10, 30, 0, 20, 33), "two labels")
    numbers: Shares = rule(Shares(5, 0, 10, 30, 2, 20, 33), "least squares and Huber's loss")
    counts: Shares = rule(Shares(5, 1, 10, 28, 6, 18, 32), "counts")
    residual_rounds: int = rule(6, "counts for the radius of the residuals")
    steps: tuple[float, float] = rule((10.0, 10.0), "pilot steps: 10·log10(signal) - 10")
    step_ends: tuple[int, int] = rule((8, 30), "fewest and most of them")
    momentum: tuple[int, float, float] = rule((6, 20.0, 0.5), "clip((steps - 6) / 20, 0, 0.5)")
    averaged: float = rule(0.6, "share of the pilot's iterates that is averaged")
    longest: float = rule(3.0, "longest step, in spreads of the response")
    far_labels: float = rule(8.0, "error bound of a step, in standard errors, that is told")
    far_counts: float = rule(4.0, "the same for counts")
    floor: float = rule(2.0, "curvatures below so many noise deviations are raised to it")
    curvature: float = rule(0.05, "assumed curvature in whitened directions, for the forecast")


@dataclass(frozen=True)
class Newton:
    """Rounds of noisy Newton steps, majorised Newton steps, or descent."""

    study: ClassVar[str] = "docs/newton.md, on simulated designs"
    enough: float = rule(100.0, "signal from which Newton's last steps are full ones")
    much: float = rule(1000.0, "signal from which two are")
    damping: float = rule(0.5, "size of the other Newton steps")
    curvature_share: Fraction = rule(Fraction(1, 4), "of the rounds' budget, for curvatures")
    small_share: Fraction = rule(Fraction(1, 10), "the same below that signal")
    rounds: int = rule(16, "Newton's rounds below that signal")
    newton: tuple[int, int, int, int] = rule((1, 2, 6, 20), "1 + 2·log10(signal), within 6 and 20")
    majorised: tuple[int, int, int, int] = rule((6, 4, 10, 20), "6 + 4·log10(signal), 10 to 20")
    descent: tuple[int, int, int, int] = rule((0, 20, 30, 60), "20·log10(signal), 30 to 60")
    shortest: float = rule(0.3, "step of descent, at least; signal / 100 else, up to 1")
    longest: tuple[float, float] = rule((1.0, 2.0), "longest declared step, Newton and descent")
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
    steepest: float = rule(2.0, "eigenvalues of M^½PM^½ are cut here: no error grows")


@dataclass(frozen=True)
class Perturbation:
    """Objective perturbation."""

    study: ClassVar[str] = "docs/objective_perturbation.md; derived for ‖θ‖ = 5"
    shares: StartShares = rule(StartShares(5, 2, 10, 30), "of what is not the minimum's")
    cover: Fraction = rule(Fraction(1, 200), "share of the noise that hides the computation")
    norm: float = rule(5.0, "assumed norm of the minimiser, for the ridge")
    ratios: tuple[float, float, int] = rule((0.005, 1.09, 61), "parts of ε tried for the ridge")
    largest: float = rule(500.0, "largest ε: loss distributions are computed to about 690")


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
    wide: float = rule(30.0, "n·μ over d^1.5 from which it was: more than that signal if d > 11")
    noise: float = rule(1.0, "relative noise of the curvature up to which they are nominal")
    small_noise: float = rule(0.5, "and up to which it is left out of the degrees of freedom")
    rare_class: float = rule(25.0, "signal times the smaller class's share, for the intercept")
    rare_count: float = rule(100.0, "signal times the mean count, for the intercept")
    counted: float = rule(0.1, "share of the declared records that weights must come to")
    dispersion: float = rule(0.2, "dispersion of counts beyond which more signal is needed")
    dispersed: float = rule(200.0, "that signal")


START, LEVEL, ONE_STEP, NEWTON = Start(), Level(), OneStep(), Newton()
PERTURBATION, DOUBLE_NOISE, RELIABILITY = Perturbation(), DoubleNoise(), Reliability()
GROUPS: tuple[Any, ...] = (
    rules.TABLES, rules.WARNINGS, rules.COUNTING, rules.BOUNDS, rules.WHITENING, rules.DESCENT,
    rules.LABELS, rules.NEWTON_POLISH, rules.RESPONSE, rules.STAGED, rules.CORRECTIONS, rules.MEAN,
    rules.INTERCEPT_ONLY, START, LEVEL, ONE_STEP, NEWTON, PERTURBATION, DOUBLE_NOISE, RELIABILITY,
)  # fmt: skip
"""All groups of rules, as docs/solvers.md lists them."""
