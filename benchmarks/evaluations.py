"""Coverage of the intervals of private evaluations: `python -m benchmarks evaluations [--repeats 800]`.

A fixed public model is evaluated on fresh samples of a population. An interval covers if it holds the score of the same
model in the population, computed from four million records.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn import metrics

import tacit
from benchmarks.record import RESULTS, Figure, write
from tacit.solvers.evaluation import CALIBRATION, OF_LABELS, OF_NUMBERS
from tacit.solvers.rules import EVALUATION

Floats = NDArray[np.float64]
Rows = tuple[Floats, Floats]
POPULATION, LEVEL, LEAST = 4_000_000, 0.95, 0.93
GROUPS, LARGEST_ODDS = EVALUATION.groups, EVALUATION.odds
SIZES, EPSILONS = (2000, 20_000), (0.5, 2.0)


def labels(rate: float) -> Callable[[np.random.Generator, int], Rows]:
    """Draw labels of a logistic model with a mean log odds."""

    def draw(generator: np.random.Generator, n: int) -> Rows:
        X = generator.uniform(-1, 1, (n, 3))
        eta = X @ [3.0, -2.0, 1.0] + rate
        return X, (generator.random(n) < special.expit(eta)).astype(float)

    return draw


def numbers(generator: np.random.Generator, n: int) -> Rows:
    """Draw numbers of a linear model with errors of long tails."""
    X = generator.uniform(-1, 1, (n, 3))
    return X, np.clip(X @ [3.0, -2.0, 1.0] + generator.standard_t(5, n), -8, 8)


def truth(model: Any, rows: Rows, scores: Sequence[str]) -> dict[str, float]:
    """The scores of a model in a population."""
    X, y = rows
    if "r2" in scores:
        predicted = model.predict(X)
        return {"r2": metrics.r2_score(y, predicted), "mean_squared_error": metrics.mean_squared_error(y, predicted)}
    eta = np.clip(model.decision_function(X), -LARGEST_ODDS, LARGEST_ODDS)
    wrong = float(np.mean((eta > 0) != y))
    group = np.clip(((eta + LARGEST_ODDS) * GROUPS / (2 * LARGEST_ODDS)).astype(int), 0, GROUPS - 1)
    found = {"zero_one_loss": wrong, "accuracy": 1 - wrong, "auc": metrics.roc_auc_score(y, eta)}
    found["log_loss"] = float(np.mean(np.logaddexp(0, eta) - y * eta))
    # A group without a record in the population has no share.
    shares = {g: float(y[group == g].mean()) for g in range(GROUPS) if (group == g).sum() > POPULATION / 1000}
    return found | {f"group {g}": share for g, share in shares.items()}


def cases() -> dict[str, tuple[Any, Callable[..., Rows], tuple[str, ...]]]:
    """Models, what their records are drawn from, and the scores."""
    logistic = tacit.LogisticRegression(epsilon=1.0, bounds=(-1, 1), classes=[0, 1])
    linear = tacit.LinearRegression(epsilon=1.0, bounds=(-1, 1), y_bounds=(-8, 8))
    return {
        "labels, half each": (logistic, labels(0.0), OF_LABELS),
        "labels, one in fifteen": (logistic, labels(-4.0), OF_LABELS),
        "numbers": (linear, numbers, OF_NUMBERS),
    }


def covered(model: Any, draw: Callable[..., Rows], scores: Sequence[str], n: int, epsilon: float, repeats: int) -> Any:
    """Share of the intervals that hold the truth, and their median half-width, by score."""
    generator = np.random.default_rng([n, round(10 * epsilon)])
    goal = truth(model, draw(np.random.default_rng(99), POPULATION), scores)
    hits: dict[str, list[tuple[bool, float]]] = {}
    for _ in range(repeats):
        found = model.evaluate(*draw(generator, n), epsilon=epsilon, delta=1e-6, scores=scores)
        groups = iter(range(GROUPS))
        for name in found:
            key = name if name in goal else f"group {next(groups)}"
            if key in goal:
                low, high = found.interval(name, LEVEL)
                group = CALIBRATION if key.startswith("group") else key
                hits.setdefault(group, []).append((low <= goal[key] <= high, (high - low) / 2))
    return {
        name: (float(np.mean([hit for hit, _ in own])), float(np.median([width for _, width in own])))
        for name, own in hits.items()
    }


def run(arguments: Sequence[str] = ()) -> None:
    """Measure every case and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks evaluations", description=__doc__)
    parser.add_argument("--repeats", type=int, default=800)
    repeats = parser.parse_args(list(arguments)).repeats
    lines = [
        "# Coverage of the intervals of private evaluations",
        "",
        f"Written by `python -m benchmarks evaluations`. {repeats} samples a cell, level {LEVEL:.0%}; all scores of a",
        "case share the ε (δ = 1e-6). Calibration is over all groups of its table.",
        "",
        "| case | n | ε | score | coverage | median half-width |",
        "|---|---|---|---|---|---|",
    ]
    worst: dict[str, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, (model, draw, scores) in cases().items():
            model.fit(*draw(np.random.default_rng(5), 20_000))
            for n in SIZES:
                for epsilon in EPSILONS:
                    for score, (share, width) in covered(model, draw, scores, n, epsilon, repeats).items():
                        lines.append(f"| {name} | {n} | {epsilon:g} | {score} | {share:.3f} | {width:.3g} |")
                        worst[score] = min(worst.get(score, 1.0), share)
            print(f"  {name}")
    figures = [
        Figure(f"least coverage of {score}", share, "", f"at least {LEAST}", share >= LEAST)
        for score, share in worst.items()
    ]
    (RESULTS / "evaluations.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    write("evaluations", figures, {"repeats": repeats, "level": LEVEL})
