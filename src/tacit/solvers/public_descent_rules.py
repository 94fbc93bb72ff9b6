"""The rules of a descent of two labels in the coordinates of the public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tacit.solvers.rules import Growth, rule


@dataclass(frozen=True)
class PublicDescent:
    """Descent in the coordinates of the public bounds: two labels of a table of few records."""

    study: ClassVar[str] = "heart of benchmarks/small_tables, and the designs of docs/solvers.md (public coordinates)"
    records: float = rule(40.0, "records a column below which it is taken: of more, resolved directions pay")
    least: float = rule(150.0, "n·μ from which it is taken: below, margins stay too short along four columns")
    most: float = rule(600.0, "n·μ up to which it is taken: above, nearly separated labels want longer margins")
    signal: float = rule(8.0, "signal from which it is taken: sixty columns at 5 were better whitened")
    label_share: Growth = rule(Growth(0.1, 60.0, -1.0, 0.05, 0.1), "for the labels' share, by n·μ")
    moments_share: Fraction = rule(Fraction(3, 100), "for second moments, which tell how long the margins are")
    iterations: int = rule(40, "steps, the last half of which is averaged")
    momentum: float = rule(0.9, "small steps with much momentum: noise averages, curvature is small")
    clip: float = rule(0.02, "of a gradient, in row norms: rows count alike however near their margin is")
    margin_noise: float = rule(0.9, "deviation that noise alone may give the margin of the longest row")
    sampling_errors: float = rule(
        1.0, "lengths within so many sampling errors are not changed: such steps end on their way, not at the minimum"
    )


PUBLIC_DESCENT = PublicDescent()
