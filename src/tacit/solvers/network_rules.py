"""The rules of networks: shapes of a step, and what a training takes unless it is told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.solvers.rules import rule


@dataclass(frozen=True)
class Networks:
    """Training of networks."""

    study: ClassVar[str] = "time on two cores, and tables and images that are public (docs/neural.md)"
    deviations: float = rule(2.0, "slots beyond the expected batch: one batch in 44 is drawn again")
    chunk: int = rule(256, "examples that are computed at a time: their activations stay in the cache")


NETWORKS = Networks()
