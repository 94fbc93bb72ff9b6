"""Steps over batches against steps over all records, at ε = 1: AUC, R² and passes on real tables."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

import tacit
from benchmarks.accuracy import folder
from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.accuracy.table import Table
from benchmarks.record import Figure, write

SEEDS = 5
LARGEST_LOSS = 0.005
METHODS: dict[str, dict[str, Any]] = {
    "all records": {},
    "batches": {"solver": "stochastic"},
    "batches, few passes": {"solver": "stochastic", "max_passes": 3},
    "subsets": {"solver": "stochastic", "sampling": "without-replacement"},
    "draws": {"solver": "stochastic", "sampling": "with-replacement"},
}
TABLES = ("adult", "covertype", "california", "diamonds")


def score(table: Table, settings: dict[str, Any], seed: int) -> tuple[float, float, float]:
    """AUC or R² of one fit on test rows, its passes and its seconds."""
    facts: dict[str, Any] = {"classes": (0, 1)}
    kind: type = tacit.LogisticRegression
    if table.kind == "regression":
        facts, kind = {"y_bounds": table.y_bounds}, tacit.LinearRegression
    public = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1), "row_norm": table.feature_norm}
    start = time.perf_counter()
    model = kind(**public, **facts, random_state=seed, **settings).fit(table.features, table.y_train)
    seconds = time.perf_counter() - start
    if table.kind == "regression":
        return r2_score(table.y_test, model.predict(table.test_features)), float(model.plan_.passes), seconds
    found = roc_auc_score(table.y_test, model.decision_function(table.test_features))
    return found, float(model.plan_.passes), seconds


def run() -> None:
    """Compare the methods on the tables that are there."""
    if not folder.is_there():
        print("  the tables are not there; set TACIT_DATA")
        return
    figures, details = [], {}
    for name in TABLES:
        table = CATALOGUE[name].load()
        means: dict[str, float] = {}
        for method, usual in METHODS.items():
            # Of numbers a mean and two sizes of residuals take three passes more.
            further = {"max_passes": 6} if table.kind == "regression" and "max_passes" in usual else {}
            settings = usual | further
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                rows = np.array([score(table, settings, seed) for seed in range(SEEDS)])
            means[method] = float(rows[:, 0].mean())
            error = float(rows[:, 0].std(ddof=1) / np.sqrt(SEEDS))
            numbers = {"mean": means[method], "standard error": error}
            details[f"{name}, {method}"] = numbers | {"passes": rows[0, 1], "seconds": float(np.median(rows[:, 2]))}
            print(f"  {name}, {method}: {means[method]:.4f} ± {error:.4f}, {rows[0, 1]:.1f} passes")
        if table.kind == "classification":
            lost = means["all records"] - means["batches"]
            asked = f"below {LARGEST_LOSS}"
            figures.append(Figure(f"AUC lost by batches, {name}", lost, "", asked, lost < LARGEST_LOSS))
    write("batches", figures, details)
