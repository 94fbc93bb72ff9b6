"""A network beside the generalised linear model on real tables, at ε = 1: AUC or R² on test rows."""

from __future__ import annotations

import argparse
import json
import statistics
import time
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from sklearn.metrics import r2_score, roc_auc_score

import tacit
from benchmarks.accuracy import folder
from benchmarks.accuracy.catalogue import CATALOGUE
from benchmarks.accuracy.table import Table
from benchmarks.images import error_of
from benchmarks.record import RESULTS, Figure, write
from tacit.neural import DPClassifier, DPRegressor

TABLES = ("adult", "covertype", "california", "diamonds")
NUMERIC = ("california", "diamonds")
KINDS = ("linear model", "network")
RUNS = 5
ROWS, PAGE = RESULTS / "network_tables.jsonl", RESULTS / "network_tables.md"
BUDGET: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "relation": "zero-out", "bounds": (-1, 1)}


def scores(table: Table, kind: str) -> tuple[float, float]:
    """AUC or R² of one fit on test rows, and its seconds; nothing is chosen by test or private rows."""
    numeric = table.kind == "regression"
    start = time.perf_counter()
    model: Any
    if kind == "network" and numeric:
        model = DPRegressor(**BUDGET, response_bounds=table.y_bounds)
    elif kind == "network":
        model = DPClassifier(**BUDGET, classes=(0, 1))
    elif numeric:
        model = tacit.LinearRegression(**BUDGET, y_bounds=table.y_bounds, row_norm=table.feature_norm)
    else:
        model = tacit.LogisticRegression(**BUDGET, classes=(0, 1), row_norm=table.feature_norm)
    model.fit(table.features, table.y_train)
    seconds = time.perf_counter() - start
    if numeric:
        return float(r2_score(table.y_test, model.predict(table.test_features))), seconds
    return float(roc_auc_score(table.y_test, model.decision_function(table.test_features))), seconds


def run(options: Sequence[str] = ()) -> None:
    """Compare both on the tables that are there: a line a fit, so that a run can be stopped and resumed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks network_tables")
    parser.add_argument("--tables", default=",".join(TABLES))
    given = parser.parse_args(list(options))
    if not folder.is_there():
        print("  the tables are not there; set TACIT_DATA")
        return
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for name in given.tables.split(","):
        missing = [kind for kind in KINDS for _ in range(RUNS - len(_rows(name, kind)))]
        table = CATALOGUE[name].load() if missing else None
        for kind in missing:
            assert table is not None
            score, seconds = scores(table, kind)
            row = {"table": name, "model": kind, "measure": measure(name), "score": score}
            print(f"  {name}, {kind}: {score:.4f}, {seconds:.0f} s")
            with ROWS.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps({**row, "seconds": round(seconds, 2)}) + "\n")
            _write_page()
    _record()


def measure(name: str) -> str:
    """What a table is scored by."""
    return "R²" if name in NUMERIC else "AUC"


def _rows(name: str, kind: str) -> list[dict[str, Any]]:
    lines = ROWS.read_text(encoding="utf-8").splitlines() if ROWS.exists() else []
    rows = [json.loads(line) for line in lines]
    return [row for row in rows if (row["table"], row["model"]) == (name, kind)]


def _summary() -> list[tuple[str, dict[str, list[float]], dict[str, float]]]:
    """Of each table that was measured: its name, the scores of both models, and their median seconds."""
    found = []
    for name in TABLES:
        rows = {kind: _rows(name, kind) for kind in KINDS}
        if all(rows.values()):
            seconds = {kind: statistics.median(row["seconds"] for row in of) for kind, of in rows.items()}
            found.append((name, {kind: [row["score"] for row in of] for kind, of in rows.items()}, seconds))
    return found


def _write_page() -> None:
    lines = [
        "# A network beside the linear model on tables",
        "",
        "ε = 1, δ = 1e-6, zero-out. Test rows; mean over runs, its standard error in brackets. Nothing was tuned.",
        "",
        "| table | measure | runs | linear model | network | linear s | network s |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, found, seconds in _summary():
        cells = [f"{statistics.mean(it):.4f} ({error_of(it):.4f})" for it in found.values()]
        times = [f"{seconds[kind]:.1f}" for kind in KINDS]
        runs = min(map(len, found.values()))
        lines.append(f"| {name} | {measure(name)} | {runs} | {' | '.join(cells)} | {' | '.join(times)} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _record() -> None:
    figures, details = [], {}
    for name, found, seconds in _summary():
        gain = statistics.mean(found["network"]) - statistics.mean(found["linear model"])
        what = f"{name}: {measure(name)} of the network less the linear model's"
        figures.append(Figure(what, gain, measure(name), "told", reached=True))
        details[name] = {"scores": found, "seconds": seconds}
    write("network_tables", figures, details)
