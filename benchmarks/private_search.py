"""Private search over 20 penalties against the untuned default, AUC on the test rows of adult.

`python -m benchmarks.private_search [--repeats 11] [--table adult]`
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import tacit
from benchmarks.accuracy.catalogue import CATALOGUE

GRID = {"l2": np.geomspace(1e-6, 1e-1, 20).tolist()}


def main() -> None:
    """Print the medians, and the setting most often chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=11)
    parser.add_argument("--table", default="adult")
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    table = CATALOGUE[given.table].load()
    X, y = table.features, table.y_train.astype(int)
    model = tacit.LogisticRegression(epsilon=given.epsilon, delta=1e-6, row_norm=table.feature_norm, classes=[0, 1])
    half = len(table.y_test) // 2
    known = tacit.public(table.test_features[:half], table.y_test[:half].astype(int))
    ways: dict[str, Any] = {
        "untuned default": lambda: model,
        "search, poisson(10)": lambda: tacit.PrivateSearchCV(model, GRID),
        "search, poisson(5)": lambda: tacit.PrivateSearchCV(model, GRID, mean_runs=5),
        "search, geometric(10)": lambda: tacit.PrivateSearchCV(model, GRID, law="geometric"),
        "search, refitted": lambda: tacit.PrivateSearchCV(model, GRID, refit=True),
        "search, public validation": lambda: tacit.PrivateSearchCV(model, GRID, validation=known),
    }
    for name, make in ways.items():
        scores, chosen = [], []
        for _ in range(given.repeats):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = make().fit(X, y)
            scores.append(roc_auc_score(table.y_test[half:], found.decision_function(table.test_features[half:])))
            chosen.append(getattr(found, "best_params_", {"l2": 0.0})["l2"])
        print(f"{name:28s} AUC median {np.median(scores):.4f}  worst {min(scores):.4f}  l2 {np.median(chosen):.1e}")


if __name__ == "__main__":
    main()
