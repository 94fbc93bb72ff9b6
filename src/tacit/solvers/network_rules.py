"""The rules of networks: shapes of a step, and what a training takes unless it is told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tacit.solvers.rules import between, rule


@dataclass(frozen=True)
class Networks:
    """Training of networks."""

    study: ClassVar[str] = "time on one core; what tables take by default is usual in the field, and was not tuned"
    deviations: float = rule(2.0, "slots beyond the expected batch: one batch in 44 is drawn again")
    chunk: int = rule(256, "examples that are computed at a time: their activations stay in the cache")
    hidden: int = rule(64, "units of the one hidden layer of a table")
    rate: float = rule(1 / 16, "share of the records in a batch: more records, less noise a step")
    least_batch: int = rule(64, "records of a batch, at least")
    largest_batch: int = rule(4096, "records of a batch, at most: time")
    epochs: float = rule(20.0, "passes over the records")
    clip: float = rule(1.0, "norm of one gradient")
    step_size: float = rule(0.25, "of sgd with momentum 0.9")


NETWORKS = Networks()


@dataclass(frozen=True)
class Training:
    """What a training takes unless it is told otherwise."""

    hidden: tuple[int, ...]
    batch_size: int
    epochs: float
    clip: float
    step_size: float


def constants_for(records: int, epsilon: float) -> Training:
    """The constants of a table with so many records and a budget: public facts alone."""
    del epsilon
    size = between(records * NETWORKS.rate, NETWORKS.least_batch, NETWORKS.largest_batch)
    return Training((NETWORKS.hidden,), min(records, round(size)), NETWORKS.epochs, NETWORKS.clip, NETWORKS.step_size)
