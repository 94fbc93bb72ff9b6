"""The rules of a level that is asked for in two: whether the response lies near the middle, then its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.solvers.rules import Growth, rule


@dataclass(frozen=True)
class NearMiddle:
    """How many records lie near the middle of the range, and the mean there or of the whole range. Growth is in n·μ."""

    study: ClassVar[str] = "33 simulated laws of a response, tested on 36 others (benchmarks/results/levels.md)"
    half_width: Growth = rule(Growth(0.3, 5.0, -0.3, 0.22, 0.3), "of what is near, as a share of the range")
    share: Growth = rule(Growth(0.2, 9.0, -0.7, 0.07, 0.25), "for the count; the rest is for the mean")
    held: Growth = rule(Growth(0.5, 12.0, 0.6, 0.3, 0.85), "counted share from which the mean is that near the middle")
    pull: Growth = rule(
        Growth(6.4, 5.0, -0.5, 3.3, 8.0),
        "noise variances by which that mean's squared distance from the middle shrinks",
    )
    whole_pull: Growth = rule(Growth(2.75, 5.0, -2.0, 0.4, 4.5), "and those of a mean of the whole range")


NEAR_MIDDLE = NearMiddle()
