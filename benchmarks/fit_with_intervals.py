"""What intervals cost the coefficients: predictions of fits with them and without, real tables.

For every table of the folder and ε of 0.1, 1 and 3: the mean score of fits without intervals, of
fits with them, and the worst fit with them beside the model that knows the mean response alone.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from dataclasses import dataclass

import numpy as np

from benchmarks.accuracy import folder
from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.accuracy.scores import score, trivial
from benchmarks.accuracy.table import Table
from benchmarks.record import Figure, write
from benchmarks.rivals.method import DELTA
from benchmarks.rivals.ours import ESTIMATORS

EPSILONS, REPEATS = (0.1, 1.0, 3.0), 4
LOG_LOSS, R2, AUC, WORSE = 0.01, 0.02, 0.02, 0.02


@dataclass(frozen=True)
class Cell:
    """Scores of a table at an ε: without intervals, with them, the worst with them, the mean's."""

    table: str
    epsilon: float
    metric: str
    without: float
    with_intervals: float
    worst: float
    mean_alone: float

    @property
    def lost(self) -> float:
        """By how much intervals make the score worse, on average."""
        sign = 1.0 if self.metric == "log_loss" else -1.0
        return sign * (self.with_intervals - self.without)

    @property
    def below_mean(self) -> float:
        """By how much the worst fit is worse than the mean alone."""
        sign = 1.0 if self.metric == "log_loss" else -1.0
        return sign * (self.worst - self.mean_alone)


def scores(table: Table, epsilon: float, *, inference: bool) -> dict[str, float]:
    """Scores of one fit with fresh noise."""
    estimator = getattr(importlib.import_module("tacit"), ESTIMATORS[table.kind])
    facts = {"classes": (0, 1)} if table.kind == "classification" else {"y_bounds": table.y_bounds}
    model = estimator(
        epsilon=epsilon, delta=DELTA, bounds=(-1, 1), row_norm=table.row_norm, inference=inference, **facts
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(table.features, table.y_train)
    test = table.test_features
    labels = table.kind == "classification"
    return score(table, model.decision_function(test) if labels else model.predict(test))


def cells(table: Table, epsilon: float, repeats: int) -> list[Cell]:
    """All metrics of a table at an ε."""
    found = {
        inference: [scores(table, epsilon, inference=inference) for _ in range(repeats)] for inference in (False, True)
    }
    alone = trivial(table)
    metrics = ("log_loss", "auc") if table.kind == "classification" else ("r2",)
    made = []
    for metric in metrics:
        plain, paid = (np.array([each[metric] for each in found[key]]) for key in (False, True))
        worst = float(paid.max() if metric == "log_loss" else paid.min())
        means = float(plain.mean()), float(paid.mean())
        made.append(Cell(table.name, epsilon, metric, *means, worst, alone.get(metric, 0.5)))
    return made


def run(repeats: int = REPEATS) -> None:
    """Measure all tables of the folder, where it is there, and record."""
    if not folder.is_there():
        print("  the folder of tables is not there")
        return
    found: list[Cell] = []
    for name, entry in CATALOGUE.items():
        if entry.group != "bundled":
            table = entry.load()
            for epsilon in EPSILONS:
                found += cells(table, epsilon, repeats)
                print(f"\r  {name} at {epsilon:g}      ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    write("fit_with_intervals", figures(found), {"cells": [vars(cell) for cell in found]})


def figures(found: list[Cell]) -> list[Figure]:
    """The largest losses, against what is asked of them."""
    asked = (
        ("log-loss lost at ε ≥ 1", "log_loss", True, LOG_LOSS),
        ("R² lost at ε ≥ 1", "r2", True, R2),
        ("AUC lost at ε = 0.1", "auc", False, AUC),
    )
    made = []
    for name, metric, large, most in asked:
        chosen = [cell for cell in found if cell.metric == metric and (cell.epsilon >= 1) == large]
        worst = max(cell.lost for cell in chosen)
        made.append(Figure(f"largest {name}", worst, "", f"at most {most:g}", worst <= most))
    worst = max(cell.below_mean for cell in found if cell.metric != "auc")
    name = "worst fit, beyond the mean alone (log-loss or R²)"
    return [*made, Figure(name, worst, "", f"at most {WORSE:g}", worst <= WORSE)]
