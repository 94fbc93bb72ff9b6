"""The rules of least squares whose residuals are mostly small: how far out they are clipped and measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.solvers.rules import Growth, rule


@dataclass(frozen=True)
class FarOut:
    """Least squares that no step follows: clips, and the size of a response that most records share."""

    study: ClassVar[str] = "tables with many zeros of benchmarks/small_tables, and simulated ones (docs/solvers.md)"
    clip: Growth = rule(
        Growth(0.15, 1.0, 0.63, 0.0, 4.8), "least clip in mean sizes, by the signal: tails hold much of a slope"
    )
    shared: float = rule(
        0.0025, "size, over the range, below which most records share a value: as finely as the median is known"
    )
    cut: float = rule(1 / 8, "of residuals that are squared then, over the range")
    noises: float = rule(3.0, "noise deviations from which their mean square is believed")


FAR_OUT = FarOut()
