"""The rules of a fit of two labels along one direction."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.solvers.rules import Growth, rule


@dataclass(frozen=True)
class LabelDirection:
    """One direction, then two coefficients: two labels of a table of few records."""

    study: ClassVar[str] = (
        "heart and digit_zero of benchmarks/small_tables, and the designs of docs/solvers.md (one direction)"
    )
    signal: float = rule(4.0, "signal below which one direction is better than coordinates of noised second moments")
    clip: float = rule(0.25, "of the gradient, in row norms: rows count alike")
    label_share: Growth = rule(
        Growth(0.1, 60.0, -1.0, 0.1, 0.5), "for the labels' share, by n·μ: a wrong level costs more than no slopes"
    )
    moments_share: Fraction = rule(Fraction(1, 10), "for mean and spread along the direction")
    line_share: Fraction = rule(Fraction(1, 5), "for the steps along it; the rest is for the direction")
    unit: float = rule(2.0, "length of the slopes: columns within [-1, 1] then have a spread of about 1 along them")
    row_bound: float = rule(2.0, "norm of (that product, 1) in second moments")
    shortened: float = rule(0.25, "least share of the constant that shortening leaves")
    least: float = rule(1.0, "least variance along the direction, in noise deviations")
    length: Growth = rule(
        Growth(0.5, 12.0, 1.0, 0.0, 0.5), "deviation of the margins that steps start from, by n·μ/√d: usual ones"
    )
    shortest: float = rule(0.03, "least deviation of the margins: the sign along the direction is known")
    margin_variance: float = rule(0.005, "noise variance of the margins along it from which steps shorten")
    faint_level: float = rule(25.0, "n·μ from which, below a signal of 1, the labels' share is asked for: noise of .1")
    faint_label_share: Fraction = rule(Fraction(3, 20), "for that share; its noise is 1/15 where n·μ is 40")
    faint_moments_share: Fraction = rule(
        Fraction(1, 20), "below a signal of 1, for mean and spread along the direction: margins are short"
    )


LABEL_DIRECTION = LabelDirection()
