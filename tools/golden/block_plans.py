"""Plans of blocks: of the solver, of black boxes, of deep points and of teachers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from sklearn.linear_model import Ridge, RidgeClassifier

import tacit
from tacit.privacy.budget import Budget

Settings = Mapping[str, Any]
MODELS: Mapping[str, tuple[Callable[..., Any], Settings]] = {
    "blocks": (partial(tacit.SubsampleAggregate, estimator=Ridge()), {"output_bounds": (-1, 1), "bounds": None}),
    "deep": (tacit.TukeyRegressor, {"bounds": None}),
    "teachers": (partial(tacit.PATE, teacher=RidgeClassifier()), {"classes": (0, 1), "bounds": None, "threshold": 0.7}),
}
SHAPES = ((600, 3), (5000, 3), (20_000, 10), (200_000, 3))


def cases() -> Iterator[tuple[str, str, int, int, Settings]]:
    """Every number of blocks by its rule: with and without the jackknife, without noise, and where rows are few."""
    for n, d in SHAPES:
        for epsilon in (0.3, 4.0, math.inf):
            spent = {"budget": Budget(epsilon=epsilon, delta=1e-6 if epsilon < math.inf else None)}
            shape = f"n={n} d={d} epsilon={epsilon:g}"
            for model in ("logistic", "linear"):
                yield f"{model} aggregate {shape}", model, n, d, {**spent, "solver": "aggregate", "inference": False}
            for jackknife in (True, False):
                yield f"blocks {shape} jackknife={jackknife}", "blocks", n, d, {**spent, "jackknife": jackknife}
            yield f"blocks {shape} median", "blocks", n, d, {**spent, "aggregator": "median"}
            yield f"deep {shape}", "deep", n, d, spent
            yield f"teachers {shape}", "teachers", n, d, spent
