"""Tacit itself, as a user calls it: public facts and a budget, nothing tuned."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import tacit
from benchmarks.accuracy.table import Kind, Table
from benchmarks.rivals.method import DELTA, UNTUNED, Fit, Setting

ESTIMATORS: dict[Kind, str] = {"classification": "LogisticRegression", "regression": "LinearRegression"}


@dataclass(frozen=True)
class Tacit:
    """The estimators of Tacit. With `shrunk` > 1 the bounds are that much wider than the data.

    The noise is that of the operating system, as for a user: the seed is not used.
    """

    name: str = "tacit"
    label: str = "Tacit"
    epsilons: tuple[float, ...] | None = None
    shrunk: float = 1.0
    kinds: tuple[Kind, ...] = ("classification", "regression")
    version: str = tacit.__version__

    def settings(self, table: Table, epsilon: float) -> Sequence[Setting]:  # noqa: ARG002
        """Nothing to tune."""
        return UNTUNED

    def fits(
        self,
        table: Table,
        epsilon: float,
        settings: Sequence[Setting],
        seed: int,  # noqa: ARG002
    ) -> list[Fit]:
        """Fit with fresh noise."""
        return [self._fit(table, epsilon) for _ in settings]

    def _fit(self, table: Table, epsilon: float) -> Fit:
        estimator = getattr(importlib.import_module("tacit"), ESTIMATORS[table.kind])
        facts = {"classes": (0, 1)} if table.kind == "classification" else {"y_bounds": table.y_bounds}
        model = estimator(epsilon=epsilon, delta=DELTA, bounds=(-1, 1), row_norm=table.row_norm, **facts)
        X, test = table.features, table.test_features
        if self.shrunk != 1.0:
            X, test = X / np.float32(self.shrunk), test / np.float32(self.shrunk)
        start = time.perf_counter()
        with warnings.catch_warnings():
            # Repeated fits, and budgets too small for the table, are what is measured here.
            warnings.simplefilter("ignore", UserWarning)
            model.fit(X, table.y_train)
        seconds = time.perf_counter() - start
        if table.kind == "classification":
            return Fit(model.decision_function(test), seconds)
        return Fit(model.predict(test), seconds)
