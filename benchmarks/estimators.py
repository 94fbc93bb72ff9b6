"""Each estimator against its scikit-learn twin at n·d ≥ 10^7, and how its cost grows with n."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model, svm

import tacit
from benchmarks.record import Figure, interleaved, write

ROWS, WIDTH, CLASSES = 10**6, 50, 10
FEWER_ROWS = ROWS // 4
BOUND, REACH = 5.0, 15.0
"""Public bounds of the features, whose standard deviation is 1, and of the response."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Duel:
    """An estimator, the response it is for, and its twins with the largest ratio of times."""

    private: Any
    response: str
    twins: dict[str, tuple[Any, float]]
    rows: int = ROWS
    repeats: int = 3


def duels() -> dict[str, Duel]:
    """Each estimator with what a user of scikit-learn would take."""
    facts: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-BOUND, BOUND)}
    within: dict[str, Any] = facts | {"y_bounds": (-REACH, REACH)}
    ordinary = {"LinearRegression": (linear_model.LinearRegression(), 1.0), "Ridge": (linear_model.Ridge(), 2.0)}
    once: dict[str, Any] = {"repeats": 1}
    return {
        "LinearRegression": Duel(tacit.LinearRegression(**within), "continuous", ordinary),
        "Ridge": Duel(tacit.Ridge(**within), "continuous", {"Ridge": ordinary["Ridge"]}),
        "LogisticRegression": Duel(
            tacit.LogisticRegression(**facts, classes=(0, 1)),
            "binary",
            {"LogisticRegression": (linear_model.LogisticRegression(), 1.0)},
            repeats=5,
        ),
        "LogisticRegression, 10 classes": Duel(
            tacit.LogisticRegression(**facts, classes=tuple(range(CLASSES))),
            "classes",
            {"LogisticRegression": (linear_model.LogisticRegression(), 1.0)},
            FEWER_ROWS,
        ),
        "PoissonRegressor": Duel(
            tacit.PoissonRegressor(**facts, y_max=60),
            "counts",
            {"PoissonRegressor": (linear_model.PoissonRegressor(alpha=0.0), 1.0)},
        ),
        "LinearSVC": Duel(
            tacit.LinearSVC(**facts, classes=(0, 1)), "binary", {"LinearSVC": (svm.LinearSVC(), 1.0)}, **once
        ),
        "HuberRegressor": Duel(
            tacit.HuberRegressor(**within),
            "continuous",
            {"HuberRegressor": (linear_model.HuberRegressor(), 1.0)},
            **once,
        ),
    }


def responses(X: Matrix, rng: np.random.Generator) -> dict[str, NDArray[Any]]:
    """One response of each kind, all of the same linear predictor."""
    margin = X @ (rng.standard_normal(WIDTH) * 0.3)
    scores = X @ (rng.standard_normal((WIDTH, CLASSES)) * 0.3)
    return {
        "continuous": margin + rng.standard_normal(len(X)),
        "binary": (margin + rng.logistic(size=len(X)) > 0).astype(int),
        "counts": rng.poisson(np.exp(np.clip(0.3 * margin, -3, 3))),
        "classes": (scores + rng.gumbel(size=scores.shape)).argmax(axis=1),
    }


def run() -> None:
    """Measure and record."""
    rng = np.random.default_rng(1)
    X = np.clip(rng.standard_normal((ROWS, WIDTH)), -BOUND, BOUND)
    kinds = responses(X, rng)
    figures: list[Figure] = []
    details: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, duel in duels().items():
            rows, y = duel.rows, kinds[duel.response]
            part, quarter = (X[:rows], y[:rows]), (X[: rows // 4], y[: rows // 4])
            contest = {"tacit": partial(duel.private.fit, *part)}
            contest["a quarter"] = partial(duel.private.fit, *quarter)
            contest |= {key: partial(twin.fit, *part) for key, (twin, _) in duel.twins.items()}
            seconds = interleaved(contest, duel.repeats)
            details[name] = {"rows": rows, "columns": WIDTH, "seconds": seconds}
            for key, (_, most) in duel.twins.items():
                ratio = seconds["tacit"] / seconds[key]
                title = f"{name} over scikit-learn's {key}"
                figures.append(Figure(title, ratio, "×", f"at most {most:g}", ratio <= most))
            growth = seconds["tacit"] / seconds["a quarter"]
            title = f"{name}, time for 4 times the rows"
            figures.append(Figure(title, growth, "×", "at most 5", growth <= 5))
    figures += [quantile(X, kinds["continuous"], details)]
    write("estimators", figures, details)


def quantile(X: Matrix, y: NDArray[Any], details: dict[str, Any]) -> Figure:
    """Compare medians: scikit-learn's linear programme is given 1/200 of the rows, and no more."""
    few = ROWS // 200
    facts: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-BOUND, BOUND)}
    ours = tacit.QuantileRegressor(**facts, y_bounds=(-REACH, REACH))
    theirs = linear_model.QuantileRegressor(alpha=0.0, solver="highs")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = interleaved(
            {"tacit": partial(ours.fit, X, y), "scikit-learn": partial(theirs.fit, X[:few], y[:few])}, 1
        )
    details["QuantileRegressor"] = {"rows": ROWS, "rows of scikit-learn": few, "seconds": seconds}
    ratio = seconds["tacit"] / seconds["scikit-learn"]
    title = "QuantileRegressor over scikit-learn's on 1/200 of the rows"
    return Figure(title, ratio, "×", "at most 1", ratio <= 1)
