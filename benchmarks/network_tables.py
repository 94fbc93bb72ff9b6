"""A network beside the generalised linear model on real tables, at ε = 1: AUC or R² on test rows."""

from __future__ import annotations

import statistics
import time
import warnings
from typing import Any

import torch
from sklearn.metrics import r2_score, roc_auc_score

import tacit
from benchmarks.accuracy import folder
from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.accuracy.table import Table
from benchmarks.record import Figure, write
from tacit.neural import DPClassifier, DPRegressor

TABLES = ("adult", "covertype", "california", "diamonds")
RUNS = 3
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "relation": "zero-out", "bounds": (-1, 1)}


def scores(table: Table, kind: str) -> tuple[float, float]:
    """AUC or R² of one fit on test rows, and its seconds; nothing is chosen by test or private rows."""
    numeric = table.kind == "regression"
    start = time.perf_counter()
    model: Any
    if kind == "network" and numeric:
        model = DPRegressor(**BUDGET, response_bounds=table.y_bounds)
    elif kind == "network":
        model = DPClassifier(**BUDGET, classes=(0, 1))
    elif numeric:
        model = tacit.LinearRegression(**BUDGET, y_bounds=table.y_bounds, row_norm=table.feature_norm)
    else:
        model = tacit.LogisticRegression(**BUDGET, classes=(0, 1), row_norm=table.feature_norm)
    model.fit(table.features, table.y_train)
    seconds = time.perf_counter() - start
    if numeric:
        return float(r2_score(table.y_test, model.predict(table.test_features))), seconds
    return float(roc_auc_score(table.y_test, model.decision_function(table.test_features))), seconds


def run() -> None:
    """Compare both on the tables that are there."""
    if not folder.is_there():
        print("  the tables are not there; set TACIT_DATA")
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    figures: list[Figure] = []
    details: dict[str, object] = {}
    for name in TABLES:
        table = CATALOGUE[name].load()
        found = {kind: [scores(table, kind) for _ in range(RUNS)] for kind in ("linear model", "network")}
        means = {kind: statistics.mean(score for score, _ in runs) for kind, runs in found.items()}
        details[name] = {
            kind: {"scores": [s for s, _ in runs], "seconds": [t for _, t in runs]} for kind, runs in found.items()
        }
        what = "R²" if table.kind == "regression" else "AUC"
        print(
            f"  {name}: {what} of the linear model {means['linear model']:.4f}, of the network {means['network']:.4f}"
        )
        gain = means["network"] - means["linear model"]
        figures.append(
            Figure(f"{name}: {what} of the network less the linear model's", gain, what, "told", reached=True)
        )
    write("network_tables", figures, details)
