"""Rules of statistics of a finished fit, in the form of `rules.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.solvers.rules import DERIVED, rule


@dataclass(frozen=True)
class FitStatistics:
    """The deviance of a finished fit, where it is asked for."""

    study: ClassVar[str] = DERIVED
    cap: float = rule(12.0, "a record's deviance is clipped here: its label has a chance of e^-6")
    squared: float = rule(1.0, "and a squared residual here, in squared half ranges of the response")
    unexplained: float = rule(0.05, "assumed mean squared residual in these units; other deviances are about 1")
    noise: float = rule(0.02, "wanted noise of the mean, as a share of it")
    share: tuple[float, float] = rule((0.01, 0.1), "ends of the share that this takes")


FIT_STATISTICS = FitStatistics()
