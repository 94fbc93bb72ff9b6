"""How good margins or predictions of test rows are."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.accuracy.table import Kind, Table, Vector

# Beyond this margin a probability is 1 in floats.
LARGEST_MARGIN = 36.0
METRICS: dict[Kind, tuple[str, ...]] = {"classification": ("auc", "log_loss", "accuracy"), "regression": ("r2",)}
WORDS = {"auc": "AUC", "log_loss": "log-loss", "accuracy": "accuracy", "r2": "R²"}
SMALLER_IS_BETTER = frozenset({"log_loss"})
Scores = dict[str, float]


def ranked(metric: str, values: ArrayLike) -> list[int]:
    """Places of the values, the best first."""
    found = np.asarray(values, dtype=float)
    signed = found if metric in SMALLER_IS_BETTER else -found
    return [int(place) for place in np.argsort(signed, kind="stable")]


def loss(y: Vector, margins: Vector) -> float:
    """Mean log(1 + exp(-±margin))."""
    kept = np.clip(margins, -LARGEST_MARGIN, LARGEST_MARGIN)
    return float(np.mean(np.logaddexp(0.0, kept) - y * kept))


def slope(margins: Vector, baseline: Vector) -> float:
    """Least-squares slope of margins on those of the fit without privacy; 1 is unbiased."""
    centred = baseline - baseline.mean()
    spread = float(centred @ centred)
    return float(centred @ margins) / spread if spread > 0 else float("nan")


def score(table: Table, margins: Vector, baseline: Vector | None = None) -> Scores:
    """All metrics of a table's kind, and the slope where there is a baseline."""
    y = np.asarray(table.y_test, dtype=np.float64)
    found: Scores = {}
    if table.kind == "classification":
        found["auc"] = float(roc_auc_score(y, margins))
        found["log_loss"] = loss(y, margins)
        found["accuracy"] = float(np.mean((margins > 0) == (y > 0.5)))
    else:
        found["r2"] = float(r2_score(y, margins))
    if baseline is not None:
        found["slope"] = slope(margins, baseline)
    return found


def trivial(table: Table) -> Scores:
    """Scores of the model that knows only the mean response of the training rows."""
    mean = float(np.mean(table.y_train))
    level = np.log(mean / (1.0 - mean)) if table.kind == "classification" else mean
    return score(table, np.full(len(table.y_test), level))


Orientation = Literal["at least", "at most"]


def orientation(metric: str) -> Orientation:
    """Which side of a mark is good."""
    return "at most" if metric in SMALLER_IS_BETTER else "at least"
