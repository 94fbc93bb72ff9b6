"""Wide and long tables against scikit-learn, the memory of a wide one, and what a user waits for at the start.

`python -m benchmarks scale --parts "first fit,imports"` measures some parts and keeps the others. Each is stored when
it is done, so a run that was stopped goes on with `--missing`.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model

from benchmarks.record import RESULTS, Figure, interleaved, write
from benchmarks.speed_before import BEFORE, speed_before
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


def fit_seconds(model: str, rows: int, columns: int, repeats: int = 5) -> dict[str, float]:
    """Median seconds of both fits, interleaved in one process, and of the processor in all threads."""
    X, y = table(model, rows, columns)
    private, plain = MODELS[model]
    processor: dict[str, list[float]] = {"tacit": [], "scikit-learn": []}

    def timed(name: str, estimator: Any) -> None:
        start = time.process_time()
        estimator.fit(X, y)
        processor[name].append(time.process_time() - start)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = {"tacit": partial(timed, "tacit", private), "scikit-learn": partial(timed, "scikit-learn", plain)}
        wall = interleaved(both, repeats)
    return wall | {f"{name}, processor": statistics.median(found[1:]) for name, found in processor.items()}


def extra_memory() -> dict[str, float]:
    """Megabytes of a wide fit beyond the table."""
    found = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True).stdout
    return {"MB": float(found)}


def first_fit() -> dict[str, float]:
    """Seconds of a process that imports, compiles into an empty cache and fits."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", FIRST_FIT]
        return {"s": seconds_of(command, {**_environment(), "NUMBA_CACHE_DIR": folder})}


def demo_fit() -> dict[str, float]:
    """Median seconds of `tacit fit` of the demo table, after one that fills the caches."""
    with tempfile.TemporaryDirectory() as folder:
        demo = [sys.executable, "-m", "tacit", "demo", "-q", "-o", folder]
        subprocess.run(demo, check=True, capture_output=True, env=_environment())
        schema, data = Path(folder, "clinic.toml"), Path(folder, "clinic.csv")
        fit = [sys.executable, "-m", "tacit", "fit", str(data), FORMULA, "--schema", str(schema), "--epsilon", "1"]
        seconds_of(fit, _environment())
        return {"s": statistics.median(seconds_of(fit, _environment()) for _ in range(9))}


def import_seconds() -> dict[str, float]:
    """Median seconds of a process that imports one class of Tacit, and of one that imports scikit-learn's."""
    commands = {name: [sys.executable, "-c", text] for name, text in IMPORTS.items()}
    return interleaved({name: partial(seconds_of, command, _environment()) for name, command in commands.items()}, 21)


def _environment() -> dict[str, str]:
    return {**os.environ, "TACIT_REMEMBER_FITS": "0"}


PARTS: Mapping[str, Callable[[], dict[str, float]]] = {
    **{f"{model} {rows}x{columns}": partial(fit_seconds, model, rows, columns) for model, rows, columns, _ in CASES},
    "before": speed_before,
    "memory": extra_memory,
    "first fit": first_fit,
    "demo fit": demo_fit,
    "imports": import_seconds,
}


def run(arguments: Sequence[str] = ()) -> None:
    """Measure the parts asked for, keep the others as they were, and record after each."""
    path = RESULTS / "scale.json"
    details: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["details"] if path.exists() else {}
    asked = arguments[arguments.index("--parts") + 1].split(",") if "--parts" in arguments else list(PARTS)
    for name in asked:
        if "--missing" in arguments and name in details:
            continue
        print(f"  {name}", file=sys.stderr)
        details[name] = PARTS[name]() | {"load": os.getloadavg()[0]}
        write("scale", _figures(details), {part: details[part] for part in PARTS if part in details})


def _figures(details: Mapping[str, Mapping[str, float]]) -> list[Figure]:
    """What is asked of each part that was measured."""
    figures = list[Figure]()
    for model, rows, columns, asked in CASES:
        if found := details.get(f"{model} {rows}x{columns}"):
            ratio = found["tacit"] / found["scikit-learn"]
            name = f"{model}, {rows:,} × {columns:,}, time over scikit-learn"
            figures.append(Figure(name, ratio, "×", f"at most {asked:g}", ratio <= asked))
    if found := details.get("before"):
        name = f"logistic, 1,000,000 × 50, time over that of {BEFORE}"
        figures.append(Figure(name, found["ratio"], "×", "at most 1", found["ratio"] <= 1))
    if found := details.get("memory"):
        figures.append(Figure("extra memory, 20,000 × 2,000", found["MB"], "MB", "under 200", found["MB"] < 200))
    if found := details.get("first fit"):
        figures.append(Figure("first fit, empty cache", found["s"], "s", "under 6", found["s"] < 6))
    if found := details.get("demo fit"):
        figures.append(Figure("tacit fit of the demo table, warm", found["s"], "s", "under 1.3", found["s"] < 1.3))
    if found := details.get("imports"):
        ratio = found["tacit"] / found["scikit-learn"]
        name = "import LogisticRegression over sklearn.linear_model"
        figures.append(Figure(name, ratio, "×", "at most 1.5", ratio <= 1.5))
    return figures
