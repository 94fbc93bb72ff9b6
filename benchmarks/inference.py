"""What intervals cost: a fit with them over one without, at the same budget, runs in turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import Figure, write
from tacit import LogisticRegression

ROWS, COLUMNS, REPEATS = 1_000_000, 20, 7
MOST = 2.0
CLOCKS: dict[str, Callable[[], float]] = {"time": time.perf_counter, "processor time": time.process_time}


def table(rows: int, columns: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Standard features and labels of a logistic model."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((rows, columns), dtype=np.float32)
    slopes = np.linspace(-0.5, 0.5, columns)
    y = generator.random(rows) < 1 / (1 + np.exp(-(0.3 + X @ slopes)))
    return X, y.astype(np.int64)


def model(*, inference: bool) -> LogisticRegression:
    """The same budget with and without intervals."""
    return LogisticRegression(
        epsilon=1.0, delta=1e-6, bounds=(-6, 6), classes=(0, 1), inference=inference, random_state=0
    )


def run(rows: int = ROWS, columns: int = COLUMNS) -> None:
    """Measure and record; on a machine that others use, the processor's time is the steadier."""
    X, y = table(rows, columns)
    models = {inference: model(inference=inference).fit(X, y) for inference in (True, False)}
    spent: dict[tuple[str, bool], list[float]] = {}
    for _ in range(REPEATS):
        for inference, each in models.items():
            start = {name: clock() for name, clock in CLOCKS.items()}
            each.fit(X, y)
            for name, clock in CLOCKS.items():
                spent.setdefault((name, inference), []).append(clock() - start[name])
    medians = {key: statistics.median(values) for key, values in spent.items()}
    ratios = {name: medians[name, True] / medians[name, False] for name in CLOCKS}
    write(
        "inference",
        [
            Figure(f"{name} with intervals over without, 10^6 × 20", ratio, "×", f"at most {MOST:g}", ratio <= MOST)
            for name, ratio in ratios.items()
        ],
        {
            "seconds": {
                f"{name}, {'with' if inference else 'without'}": value for (name, inference), value in medians.items()
            },
            "passes with": models[True].plan_.queries,
            "passes without": models[False].plan_.queries,
        },
    )
