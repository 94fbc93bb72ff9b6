"""Which solver when: every solver on six tables at three budgets, untuned rivals of other libraries beside them.

`python -m benchmarks solver_choice`. The solvers are those of the registry. Scores are on test rows: AUC of labels, R²
of numbers, medians of three fits of at most 10,000 records. Writes results/solver_choice.json, results/solver_choice.md
and docs/pictures/which_solver.png. A rival that cannot be installed is left out.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from benchmarks.accuracy.catalogue import CATALOGUE, available
from benchmarks.accuracy.scores import score
from benchmarks.accuracy.table import Table
from benchmarks.record import RESULTS, Figure, write
from benchmarks.rivals.foreign_library import EnvironmentFailedError
from benchmarks.rivals.method import DELTA, UNTUNED
from benchmarks.rivals.registry import BASELINE, methods
from tacit.errors import InputError
from tacit.report.figure import BLUE, GREY, INK, STYLE, empty_figure, tidy
from tacit.solvers.choice import SOLVERS

TABLES = ("pension_plan", "california", "cps1988", "pension_assets", "diamonds", "nhanes_diabetes")
EPSILONS = (0.3, 1.0, 3.0)
REPEATS, ROWS = 3, 10_000
RIVALS = ("diffprivlib", "adassp")
METRIC = {"classification": "auc", "regression": "r2"}
SEEDS = itertools.count(1)
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "which_solver.png"


@dataclass(frozen=True)
class Row:
    """One solver or rival on one table at one ε."""

    table: str
    epsilon: float
    name: str
    score: float
    seconds: float


def loaded(name: str) -> Table:
    """A table of at most `ROWS` training rows, drawn at random: some tables are sorted."""
    table = CATALOGUE[name].load()
    kept = np.random.default_rng(1).permutation(len(table.y_train))[:ROWS]
    return replace(table, X_train=table.X_train[kept], y_train=table.y_train[kept])


def own_fit(table: Table, solver: str, epsilon: float) -> Callable[[], tuple[Any, float]]:
    """A fit of ours: predictions of the test rows, and seconds."""
    labels = table.kind == "classification"
    estimator: Any = tacit.LogisticRegression if labels else tacit.LinearRegression
    facts = {"classes": (0, 1)} if labels else {"y_bounds": table.y_bounds}

    def fit() -> tuple[Any, float]:
        model = estimator(
            epsilon=epsilon, delta=DELTA, bounds=(-1, 1), row_norm=table.feature_norm, solver=solver, **facts
        )
        start = time.perf_counter()
        model.fit(table.features, table.y_train)
        seconds = time.perf_counter() - start
        return (model.decision_function if labels else model.predict)(table.test_features), seconds

    return fit


def rival_fit(table: Table, name: str, epsilon: float) -> Callable[[], tuple[Any, float]] | None:
    """A fit of another library, with its own defaults."""
    method = methods().get(name)
    if method is None or table.kind not in method.kinds:
        return None

    def fit() -> tuple[Any, float]:
        (found,) = method.fits(table, epsilon, method.settings(table, epsilon)[:1], next(SEEDS))
        return found.margins, found.seconds

    return fit


def measured(table: Table, epsilon: float) -> Iterator[Row]:
    """Every solver that applies, and every rival that is there."""
    ways: dict[str, Callable[[], tuple[Any, float]] | None] = {name: own_fit(table, name, epsilon) for name in SOLVERS}
    ways |= {f"{name} (untuned)": rival_fit(table, name, epsilon) for name in RIVALS}
    for name, fit in ways.items():
        if fit is None:
            continue
        try:
            found = [fit() for _ in range(REPEATS)]
        except (InputError, EnvironmentFailedError, OSError):
            continue
        metric = METRIC[table.kind]
        values = [score(table, np.asarray(margins, dtype=np.float64))[metric] for margins, _ in found]
        yield Row(table.name, epsilon, name, statistics.median(values), min(seconds for _, seconds in found))


def run() -> None:
    """Measure all cells and write page and picture."""
    rows: list[Row] = []
    without: dict[str, float] = {}
    names = [name for name in TABLES if name in available()]
    if not names:
        print("  the tables are not there: set TACIT_DATA")
        return
    with warnings.catch_warnings():
        # Repeated fits, and budgets too small for the table, are what is measured here.
        warnings.simplefilter("ignore")
        for name in names:
            table = loaded(name)
            (found,) = methods()[BASELINE].fits(table, 1.0, UNTUNED, 0)
            without[name] = score(table, np.asarray(found.margins, dtype=np.float64))[METRIC[table.kind]]
            for epsilon in EPSILONS:
                rows += measured(table, epsilon)
                print(f"\r  {name} at {epsilon:g}   ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    (RESULTS / "solver_choice.md").write_text(page(rows, without), encoding="utf-8")
    draw(rows, without)
    best = {
        (it.table, it.epsilon): max(r.score for r in rows if (r.table, r.epsilon) == (it.table, it.epsilon))
        for it in rows
    }
    auto = [best[it.table, it.epsilon] - it.score for it in rows if it.name == "auto"]
    figures = [
        Figure("auto behind the best of each cell, median", statistics.median(auto), "AUC or R²", "measured", True),
        Figure("auto behind the best of each cell, at most", max(auto), "AUC or R²", "measured", True),
        Figure("cells", float(len(best)), "", "18", len(best) == len(TABLES) * len(EPSILONS)),
    ]
    write("solver_choice", figures, {"rows": [vars(it) for it in rows], "without privacy": without})


def page(rows: list[Row], without: dict[str, float]) -> str:
    """A table of each data set: scores at three budgets, and seconds."""
    lines = ["# Which solver: measured", "", "Written by `python -m benchmarks solver_choice`.", ""]
    for name, reached in without.items():
        own = [it for it in rows if it.table == name]
        metric = "AUC" if METRIC[CATALOGUE[name].kind] == "auc" else "R²"
        lines += [f"## {name} ({metric}; without privacy {reached:.3f})", ""]
        lines += [
            "| solver | " + " | ".join(f"ε = {it:g}" for it in EPSILONS) + " | seconds |",
            "|---|---|---|---|---|",
        ]
        order = sorted({it.name for it in own}, key=lambda it: -max(r.score for r in own if r.name == it))
        for solver in order:
            cells = {it.epsilon: it for it in own if it.name == solver}
            scores = [f"{cells[e].score:.3f}" if e in cells else "–" for e in EPSILONS]
            lines.append(f"| {solver} | {' | '.join(scores)} | {min(it.seconds for it in cells.values()):.2g} |")
        lines.append("")
    return "\n".join(lines)


def draw(rows: list[Row], without: dict[str, float]) -> None:
    """A panel a table: scores at ε = 1, the best on top."""
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        figure = empty_figure(12.0, 8.4)
        panels = figure.subplots(2, 3)
        for axes, name in zip(panels.ravel(), without, strict=False):
            own = sorted((it for it in rows if it.table == name and it.epsilon == 1.0), key=lambda it: it.score)
            floor = without[name] - 0.4
            values = [max(it.score, floor) for it in own]
            colours = [GREY if "untuned" in it.name else BLUE for it in own]
            axes.scatter(values, range(len(own)), c=colours, s=28)
            axes.axvline(without[name], color=INK, linewidth=0.8)
            axes.set_yticks(range(len(own)), [it.name for it in own], fontsize=8)
            metric = "AUC" if METRIC[CATALOGUE[name].kind] == "auc" else "R²"
            axes.set_title(f"{name} ({metric}, ε = 1)", fontsize=10)
            tidy(axes)
        PICTURE.parent.mkdir(exist_ok=True)
        figure.savefig(PICTURE, dpi=110, metadata={"Software": None})
