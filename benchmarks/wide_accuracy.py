"""Accuracy of wide fits at ε = 1, with columns standardised by their sums and without, on chosen and fresh tables.

`python -m benchmarks wide_accuracy` can be stopped and goes on; every cell is stored when it is done.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.record import RESULTS, Figure, write
from benchmarks.wide_designs import CHOSEN, INVENTED, TESTED, Wide, wide_table
from tacit import LinearRegression, LogisticRegression, PoissonRegressor
from tacit.solvers import column_standards, course_correction, staged_gradient, whitened_gradient, wide_rules

STORED, PAGE = RESULTS / "wide_accuracy.jsonl", RESULTS / "wide_accuracy.md"
MODELS = ("logistic", "linear", "Poisson")
SHAPES = {"chosen": (12_000, 220), "fresh": (16_000, 260)}
"""The shape on which the rules of numbers and counts were chosen, and one that nobody looked at before."""
SEEDS = {"chosen": (1, 2), "fresh": (31, 32, 33)}
CLEAR = 0.1
"""A cell counts as worse where the error is so much larger, and by two standard errors."""
Key = tuple[str, str, str, int, str]


def excess(model: str, found: Wide) -> float:
    """Fit and score: excess log loss, error over the variance of the response, or excess of the mean deviance."""
    X, y, n = found.X, found.y, len(found.X) - TESTED
    given: dict[str, Any] = {"epsilon": 1.0, "bounds": (-found.bound, found.bound)}
    true = found.predictors[n:]
    if model == "logistic":
        margin = LogisticRegression(**given, classes=[0, 1]).fit(X[:n], y[:n]).decision_function(X[n:])
        chance = 1 / (1 + np.exp(-true))
        return float(np.mean(np.logaddexp(0, margin) - chance * margin - np.logaddexp(0, true) + chance * true))
    if model == "linear":
        fitted = LinearRegression(**given, y_bounds=(-10, 10)).fit(X[:n], y[:n]).predict(X[n:])
        return float(np.mean((fitted - true) ** 2) / np.var(y))
    rate, fitted = np.exp(true), PoissonRegressor(**given, y_max=50).fit(X[:n], y[:n]).predict(X[n:])
    return float(2 * np.mean(rate * np.log(rate / fitted) - rate + fitted))


@contextmanager
def rules_of(name: str) -> Iterator[None]:
    """The rules as they are, or those of narrow tables for all."""
    usual = wide_rules.COLUMNS
    modules = (wide_rules, column_standards, course_correction, staged_gradient, whitened_gradient)
    if name == "before":
        for module in modules:
            vars(module)["COLUMNS"] = replace(usual, wide=math.inf)
    try:
        yield
    finally:
        for module in modules:
            vars(module)["COLUMNS"] = usual


def cells() -> Iterator[tuple[Key, tuple[int, int]]]:
    """Every cell: model, design, kind of table, seed, rules; and its shape."""
    for kind, shape in SHAPES.items():
        for design in CHOSEN if kind == "chosen" else {**CHOSEN, **INVENTED}:
            for model in MODELS:
                for seed in SEEDS[kind]:
                    for rules in ("before", "now"):
                        yield (model, design, kind, seed, rules), shape


def run() -> None:
    """Measure the cells that are missing, and record."""
    lines = STORED.read_text(encoding="utf-8").splitlines() if STORED.exists() else []
    done: dict[Key, float] = {tuple(one["cell"]): one["excess"] for one in map(json.loads, lines)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for key, (n, d) in cells():
            if key in done:
                continue
            model, design, _, seed, rules = key
            with rules_of(rules):
                done[key] = excess(model, wide_table(model, design, n, d, seed))
            with STORED.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"cell": key, "excess": done[key]}) + "\n")
            print(f"\r  cell {len(done)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    rows = [_row(done, kind, design, model) for kind, design, model in _tables()]
    _write_page(rows)
    fresh = [row for row in rows if row["kind"] == "fresh"]
    figures = [
        Figure(f"clearly worse than before of {len(fresh)} fresh cells", sum(row["worse"] for row in fresh), "", "0",
               not any(row["worse"] for row in fresh)),
        Figure("median error over that before, fresh cells",
               statistics.median(row["now"] / row["before"] for row in fresh), "×", "below 1",
               statistics.median(row["now"] / row["before"] for row in fresh) < 1),
    ]  # fmt: skip
    write("wide_accuracy", figures, {"cells": rows})


def _tables() -> list[tuple[str, str, str]]:
    return list(dict.fromkeys((kind, design, model) for (model, design, kind, _, _), _ in cells()))


def _row(done: dict[Key, float], kind: str, design: str, model: str) -> dict[str, Any]:
    found = {rules: [done[model, design, kind, seed, rules] for seed in SEEDS[kind]] for rules in ("before", "now")}
    means = {rules: statistics.mean(values) for rules, values in found.items()}
    differences = [now - before for before, now in zip(found["before"], found["now"], strict=True)]
    error = statistics.stdev(differences) / math.sqrt(len(differences))
    worse = means["now"] > (1 + CLEAR) * means["before"] and statistics.mean(differences) > 2 * error
    return {"kind": kind, "design": design, "model": model, **means, "standard error": error, "worse": worse}


def _write_page(rows: Sequence[dict[str, Any]]) -> None:
    """The table by kind, design and model."""
    lines = [
        "# Accuracy of wide fits at ε = 1",
        "",
        "Written by `python -m benchmarks wide_accuracy`. Excess log loss (logistic), error over the variance of the",
        "response (linear), excess mean deviance (Poisson). Worse: by a tenth and two standard errors.",
        "",
    ]
    for kind, (n, d) in SHAPES.items():
        seeds = len(SEEDS[kind])
        lines.append(f"## {kind.capitalize()} tables, {n:,} × {d}, means of {seeds} seeds\n")
        lines.append(
            "| design | " + " | ".join(f"{model} before | now" for model in MODELS) + " | worse |\n" + "|---" * 8 + "|"
        )
        own = [row for row in rows if row["kind"] == kind]
        for design in dict.fromkeys(row["design"] for row in own):
            found = {row["model"]: row for row in own if row["design"] == design}
            parts = [f"{found[model]['before']:.4f} | {found[model]['now']:.4f}" for model in MODELS]
            worse = ", ".join(model for model in MODELS if found[model]["worse"])
            lines.append(f"| {design} | {' | '.join(parts)} | {worse} |")
        lines.append("")
    PAGE.write_text("\n".join(lines), encoding="utf-8")
