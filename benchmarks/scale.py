"""Wide and long tables against scikit-learn, the memory of a wide one, and what a user waits for at the start."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model

from benchmarks.record import Figure, interleaved, write
from benchmarks.startup import FIRST_FIT, seconds_of
from tacit import LinearRegression, LogisticRegression, PoissonRegressor

Pair = tuple[Any, Any]
MODELS: Mapping[str, Pair] = {
    "logistic": (LogisticRegression(epsilon=1.0, bounds=(-10, 10)), linear_model.LogisticRegression()),
    "linear": (LinearRegression(epsilon=1.0, bounds=(-10, 10), y_bounds=(-10, 10)), linear_model.LinearRegression()),
    "Poisson": (PoissonRegressor(epsilon=1.0, bounds=(-10, 10), y_max=50), linear_model.PoissonRegressor()),
}
CASES = (
    ("logistic", 100_000, 500, 3.0),
    ("logistic", 20_000, 2000, 6.0),
    ("linear", 100_000, 500, 2.0),
    ("Poisson", 100_000, 500, 2.0),
    ("logistic", 1_000_000, 50, 0.82),
)
"""Model, rows, columns, and how many times scikit-learn's time is asked for."""
MEMORY = """
import os, warnings
warnings.simplefilter("ignore")
import numpy as np
from tacit import LogisticRegression
rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 2000))
y = rng.random(20_000) < 0.5
LogisticRegression(epsilon=1.0, bounds=(-10, 10)).fit(X[:2000, :300], y[:2000])
def field(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name))
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")
before = field("VmRSS")
LogisticRegression(epsilon=1.0, bounds=(-10, 10)).fit(X, y)
print((field("VmHWM") - before) / 1024)
"""
IMPORTS = {"tacit": "from tacit import LogisticRegression", "scikit-learn": "import sklearn.linear_model"}
FORMULA = "readmit ~ age + blood_pressure + bmi + smoker + visits + C(ward)"


def table(model: str, rows: int, columns: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Independent normal columns, and a response of a linear predictor."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((rows, columns))
    margin = X @ (1.5 * rng.standard_normal(columns) / np.sqrt(columns))
    if model == "logistic":
        return X, (rng.random(rows) < 1 / (1 + np.exp(-margin))).astype(int)
    if model == "linear":
        return X, np.clip(margin + rng.standard_normal(rows), -10, 10)
    return X, np.minimum(rng.poisson(np.exp(margin / 2)), 50)


def seconds(model: str, rows: int, columns: int, repeats: int = 5) -> dict[str, float]:
    """Median seconds of both fits, interleaved in one process."""
    X, y = table(model, rows, columns)
    private, plain = MODELS[model]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return interleaved({"tacit": lambda: private.fit(X, y), "scikit-learn": lambda: plain.fit(X, y)}, repeats)


def run() -> None:
    """Measure and record."""
    figures, details = [], dict[str, object]()
    for model, rows, columns, asked in CASES:
        found = seconds(model, rows, columns)
        ratio = found["tacit"] / found["scikit-learn"]
        name = f"{model}, {rows:,} × {columns:,}, time over scikit-learn"
        figures.append(Figure(name, ratio, "×", f"at most {asked:g}", ratio <= asked))
        details[name] = found
    memory = float(subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True).stdout)
    figures.append(Figure("extra memory, 20,000 × 2,000", memory, "MB", "under 200", memory < 200))
    figures += _starts(details)
    details["load of the machine, one minute"] = os.getloadavg()[0]
    write("scale", figures, details)


def _starts(details: dict[str, object]) -> list[Figure]:
    environment = {**os.environ, "TACIT_REMEMBER_FITS": "0"}
    with tempfile.TemporaryDirectory() as folder:
        cold = seconds_of([sys.executable, "-c", FIRST_FIT], {**environment, "NUMBA_CACHE_DIR": folder})
        subprocess.run(
            [sys.executable, "-m", "tacit", "demo", "-q", "-o", folder],
            check=True,
            capture_output=True,
            env=environment,
        )
        schema, data = Path(folder, "clinic.toml"), Path(folder, "clinic.csv")
        fit = [sys.executable, "-m", "tacit", "fit", str(data), FORMULA, "--schema", str(schema), "--epsilon", "1"]
        seconds_of(fit, environment)
        warm = statistics.median(seconds_of(fit, environment) for _ in range(7))
    imports = interleaved(
        {name: partial(seconds_of, [sys.executable, "-c", text], environment) for name, text in IMPORTS.items()}
    )
    details["imports"] = imports
    ratio = imports["tacit"] / imports["scikit-learn"]
    return [
        Figure("first fit, empty cache", cold, "s", "under 6", cold < 6),
        Figure("tacit fit of the demo table, warm", warm, "s", "under 1.3", warm < 1.3),
        Figure("import LogisticRegression over sklearn.linear_model", ratio, "×", "at most 1.5", ratio <= 1.5),
    ]
