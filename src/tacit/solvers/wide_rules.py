"""The rules of wide tables: when columns are standardised by their sums, before one query of second moments."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.solvers.rules import rule


@dataclass(frozen=True)
class Columns:
    """Sums of columns and of their squares, which standardise a wide table."""

    study: ClassVar[str] = "simulated designs of docs/scale.md: independent, autoregressive, factors, unequal scales"
    wide: float = rule(192.0, "columns from which second moments, d times as slow as sums, are asked for once alone")
    queries: int = rule(2, "of sums: the first of the bounds' coordinates, the second of nearly standardised ones")
    share: Fraction = rule(Fraction(1, 8), "of the budget of second moments, for each of them")
    clip: float = rule(2.4, "norm of (z, z²) over √d in the second: independent normal columns have 2")
    ridge: tuple[float, float] = rule(
        (0.9, 1.6), "ridge of labels below and above signal 20, in noise norms: slopes along common factors gain by it"
    )
    ridge_of_two: float = rule(
        1.8, "that of two labels below signal 20: less noise where few directions matter; 2.7 costs real tables"
    )
    ridge_of_numbers: float = rule(
        1.5, "times the ridge of narrow tables, for numbers: halves the error along few directions"
    )
    floor: float = rule(0.5, "least variance of a column, in noise deviations")
    alone: float = rule(1024.0, "columns from which a faint table is standardised alone: eigenvectors take too long")
    faint: float = rule(4.0, "signal below which that is so: second moments would be noise, and steps are short")
    steps: int = rule(64, "integers to the root mean square of an entry, in short rows")
    smallest_curvature: float = rule(
        0.02, "of a direction whose way and noise are followed: a guess, below all that was seen"
    )
    longest: tuple[float, float, float] = rule(
        (1.35, 1.15, 1.2), "largest factor at the end, of numbers, counts and labels: longer ones stretch noise"
    )
    noise: float = rule(
        1.4, "times the noise that the recursion tells, at the end: its blocks had 1.2 to 2 times as much"
    )
    short: float = rule(120.0, "n·μ/d of the second moments up to which rounding to such steps is below the noise")


COLUMNS = Columns()
