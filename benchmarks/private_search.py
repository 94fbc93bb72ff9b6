"""Private search over 20 penalties against the untuned default at the same ε: AUC on the test rows of a table.

`python -m benchmarks private_search [--repeats 11] [--table adult] [--epsilon 1]`
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import tacit
from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.accuracy.table import Table
from benchmarks.record import Figure, write

GRID = {"l2": np.geomspace(1e-6, 1e-1, 20).tolist()}
DEFAULT, LOST = "untuned default", 0.005
"""The fit without a search, and by how much AUC a search may be below it."""


def ways_of(table: Table, epsilon: float, known: Any) -> dict[str, Any]:
    """Ways to a fit within the same budget, by name."""
    model = tacit.LogisticRegression(epsilon=epsilon, delta=1e-6, row_norm=table.feature_norm, classes=[0, 1])
    return {
        DEFAULT: lambda: model,
        "search, Poisson(10) trials": lambda: tacit.PrivateSearchCV(model, GRID),
        "search, Poisson(5) trials": lambda: tacit.PrivateSearchCV(model, GRID, mean_runs=5),
        "search, geometric(10) trials": lambda: tacit.PrivateSearchCV(model, GRID, law="geometric"),
        "search, refitted": lambda: tacit.PrivateSearchCV(model, GRID, refit=True),
        "search, validated on public rows": lambda: tacit.PrivateSearchCV(model, GRID, validation=known),
        "tuned on public rows": lambda: tacit.PrivateSearchCV(model, GRID, tune_on=known),
    }


def run(arguments: Sequence[str] = ()) -> None:
    """Fit every way several times and write the median AUC of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks private_search", description=__doc__)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--table", default="adult")
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args(list(arguments))
    table = CATALOGUE[given.table].load()
    X, y = table.features, table.y_train.astype(int)
    # Half of the test rows are the public ones; the other half judges.
    half = len(table.y_test) // 2
    known = tacit.public(table.test_features[:half], table.y_test[:half].astype(int))
    found: dict[str, dict[str, Any]] = {}
    for name, make in ways_of(table, given.epsilon, known).items():
        scores, chosen = [], []
        for _ in range(given.repeats):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fit = make().fit(X, y)
            scores.append(roc_auc_score(table.y_test[half:], fit.decision_function(table.test_features[half:])))
            chosen.append(getattr(fit, "best_params_", {"l2": 0.0})["l2"])
        found[name] = {"auc": [round(float(it), 5) for it in scores], "l2": [float(f"{it:.3g}") for it in chosen]}
        print(f"  {name:34s} AUC median {np.median(scores):.4f}, worst {min(scores):.4f}, l2 {np.median(chosen):.1e}")
    base = float(np.median(found[DEFAULT]["auc"]))
    figures = [
        Figure(
            f"{given.table}, ε = {given.epsilon:g}: {name}, AUC above the untuned default's {base:.4f}",
            (gain := float(np.median(own["auc"])) - base),
            "",
            f"at least -{LOST}",
            gain >= -LOST,
        )
        for name, own in found.items()
        if name != DEFAULT
    ]
    write("private_search", figures, {"repeats": given.repeats, "settings": GRID["l2"], "found": found})
