"""The rules of the length of margins: how it is asked for after a descent of two labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.solvers.rules import Growth, rule


@dataclass(frozen=True)
class LabelSlope:
    """The length of the margins of two labels, asked for after the descent."""

    study: ClassVar[str] = "log-loss of the tables marked as seen in benchmarks/small_tables"
    least: float = rule(200.0, "n·μ from which it is asked for: below, its noise hides all but a wrong length of ten")
    share: Growth = rule(Growth(0.1, 1000.0, -1.0, 0.05, 0.1), "for all rounds, by n·μ: the less, the more")
    rounds: int = rule(5, "each comes e^1.2 nearer at most; three stop short of margins a fifth as long")
    cap: float = rule(1.0, "of a record's tilt: nearly separated labels have tilts of 0.3; with 3 noise hides them")
    sizes: float = rule(2.0, "and in root mean squares of the margins, where these are short")
    prior: float = rule(1.0, "assumed deviation of the logarithm of the length")
    longest: float = rule(1.2, "largest change of that logarithm in a round")
    kept: int = rule(4, "last rounds that count together: the first is far from the best length")
    bent: float = rule(0.3, "error of a round's answer as a part of its step: the loss is no parabola in the logarithm")
    smallest: float = rule(0.5, "least root mean square of the margins over the whitened norm, and spread over that")
    sampling_errors: float = rule(3.0, "lengths within so many sampling errors of the tilt are not changed")
    noise_variances: float = rule(0.5, "of the logarithm's variance, taken off its square")


LABEL_SLOPE = LabelSlope()
