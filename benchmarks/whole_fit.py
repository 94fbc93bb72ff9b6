"""A whole private fit on 10^6 × 50 in memory, against scikit-learn's non-private one."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression as NonPrivate

from benchmarks.record import Figure, interleaved, write
from tacit import LogisticRegression

ROWS, WIDTH, TEST = 10**6, 50, 200_000
Matrix = NDArray[np.float64]


def designs(rng: np.random.Generator) -> dict[str, Matrix]:
    """Standardised columns, the best case for L-BFGS, and columns of different scales."""
    standard = rng.standard_normal((ROWS + TEST, WIDTH))
    scales = np.exp(rng.standard_normal(WIDTH))
    return {"standardised": standard, "raw scales": standard * scales + rng.standard_normal(WIDTH)}


def run() -> None:
    """Measure and record."""
    rng = np.random.default_rng(1)
    figures, details = [], {}
    slopes = rng.standard_normal(WIDTH) / 4
    for name, X in designs(rng).items():
        margin = (X - X.mean(axis=0)) / X.std(axis=0) @ slopes
        y = (rng.random(len(X)) < 1 / (1 + np.exp(-margin))).astype(int)
        # Public bounds of a codebook: wider than the data by about a factor of two.
        middle, reach = X.mean(axis=0), 10 * X.std(axis=0)
        private = LogisticRegression(epsilon=1.0, bounds=(middle - reach, middle + reach))
        plain = NonPrivate()
        train: tuple[Matrix, NDArray[Any]] = X[:ROWS], y[:ROWS]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds = interleaved(
                {"tacit": partial(private.fit, *train), "scikit-learn": partial(plain.fit, *train)},
                10 if name == "standardised" else 3,
            )
        ratio = seconds["tacit"] / seconds["scikit-learn"]
        loss = 100 * (plain.score(X[ROWS:], y[ROWS:]) - private.score(X[ROWS:], y[ROWS:]))
        figures += [
            Figure(f"time over scikit-learn, {name}", ratio, "×", "at most 1", ratio <= 1),
            Figure(f"accuracy lost at ε = 1, {name}", loss, "points", "at most 0.3", loss <= 0.3),
        ]
        details[name] = {"seconds": seconds, "L-BFGS iterations": int(plain.n_iter_[0])}
    write("whole_fit", figures, details)
