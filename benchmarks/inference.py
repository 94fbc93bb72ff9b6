"""What intervals cost in time: a fit with them over one without, at the same budget."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.record import Figure, interleaved, write
from tacit import LogisticRegression

ROWS, COLUMNS, REPEATS = 1_000_000, 20, 5
MOST = 2.0


def table(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Standard features and labels of a logistic model."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((rows, columns), dtype=np.float32)
    slopes = np.linspace(-0.5, 0.5, columns)
    y = generator.random(rows) < 1 / (1 + np.exp(-(0.3 + X @ slopes)))
    return X, y.astype(np.int64)


def run(rows: int = ROWS, columns: int = COLUMNS) -> None:
    """Measure and record."""
    X, y = table(rows, columns)
    models = {
        inference: LogisticRegression(
            epsilon=1.0,
            delta=1e-6,
            bounds=(-6, 6),
            classes=(0, 1),
            inference=inference,
            random_state=0,
        )
        for inference in (True, False)
    }
    seconds = interleaved(
        {str(inference): partial(model.fit, X, y) for inference, model in models.items()},
        REPEATS,
    )
    ratio = seconds["True"] / seconds["False"]
    write(
        "inference",
        [
            Figure(
                "time with intervals over without, 10^6 × 20",
                ratio,
                "×",
                f"at most {MOST:g}",
                ratio <= MOST,
            )
        ],
        {
            "seconds with": seconds["True"],
            "seconds without": seconds["False"],
            "passes with": models[True].plan_.queries,
            "passes without": models[False].plan_.queries,
        },
    )
