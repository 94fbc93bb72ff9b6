"""Runs inside the environment of diffprivlib: fits on request, one JSON line each way.

python foreign_worker.py table.npz margins.npy
"""

import importlib
import json
import sys
import time
import warnings

import numpy as np


def main(table_path: str, margins_path: str) -> None:
    """Answer requests until the input ends; margins go to a file, seconds to the output."""
    models = importlib.import_module("diffprivlib.models")
    with np.load(table_path) as stored:
        table = {name: stored[name] for name in stored.files}
    X, test = table["X_train"].astype(float), table["X_test"].astype(float)
    lower, upper = (float(bound) for bound in table["y_bounds"])
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        if request["kind"] == "classification":
            model = models.LogisticRegression(
                epsilon=request["epsilon"],
                data_norm=float(table["feature_norm"]),
                C=request["C"],
                random_state=request["seed"],
            ).fit(X, table["y_train"].astype(int))
            margins = model.decision_function(test)
        else:
            model = models.LinearRegression(
                epsilon=request["epsilon"], bounds_X=(-1.0, 1.0), bounds_y=(lower, upper), random_state=request["seed"]
            ).fit(X, table["y_train"].astype(float))
            margins = np.clip(model.predict(test), lower, upper)
        seconds = time.perf_counter() - start
        np.save(margins_path, margins)
        print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
