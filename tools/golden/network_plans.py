"""Plans of networks on tables: every number that a training takes by a rule."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from tacit.neural import DPClassifier, DPRegressor
from tacit.privacy.budget import Budget
from tacit.solvers.network_descent import NetworkState

Settings = Mapping[str, Any]
SHAPES = ((50, 3), (600, 3), (5000, 10), (40_000, 20), (200_000, 5))
"""Batches of all records, of the least size, of a share of the records, and of the largest."""


@dataclasses.dataclass(frozen=True)
class PlannedNetwork:
    """A network's plan without its program and first weights, which have no short text."""

    model: Any
    max_weight: None = None

    def plan(self, n: int, d: int) -> Any:
        """Plan a training."""
        made = self.model.plan(n, d)
        network = dataclasses.replace(made.solver.network, module=None, loss=None)
        start = NetworkState.at(np.zeros(1))
        return dataclasses.replace(
            made, solver=dataclasses.replace(made.solver, network=network, start=start, observer=None)
        )


def _planned(estimator: Callable[..., Any], **settings: Any) -> PlannedNetwork:
    return PlannedNetwork(estimator(**settings))


MODELS: Mapping[str, tuple[Callable[..., Any], Settings]] = {
    "network of classes": (partial(_planned, DPClassifier), {"classes": (0, 1)}),
    "network of numbers": (partial(_planned, DPRegressor), {"response_bounds": (-1, 1)}),
}


def cases() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Both estimators, as they are, with small physical batches, and where a chunk is just full and just too small."""
    spent = {"budget": Budget(epsilon=2.0, delta=1e-6)}
    for n in (256, 257):
        yield f"network of classes n={n} d=3 all records", "network of classes", n, 3, {**spent, "batch_size": n}
    for n, d in SHAPES:
        yield f"network of classes n={n} d={d}", "network of classes", n, d, spent
        few = {**spent, "physical_batch": 100}
        yield f"network of classes n={n} d={d} physical batch 100", "network of classes", n, d, few
        yield f"network of numbers n={n} d={d}", "network of numbers", n, d, spent
