"""Accuracy of private image classifiers on the public test images, mean of five runs, with time.

`python -m benchmarks images --data FOLDER`: the folder has mnist.npz, fashion_mnist.npz and cifar10.npz, or some.
Images are scattered once, and each budget is fitted five times. A line of images.jsonl is one fit; a run that was
stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import RESULTS, Figure, write
from tacit.cli.image_files import read_images
from tacit.estimators.images import ImageClassifier, PreparedImages
from tacit.solvers.image_recipes import RECIPES

RUNS, DELTA = 5, 1e-5
FILES = {"mnist": "mnist.npz", "fashion": "fashion_mnist.npz", "cifar10": "cifar10.npz"}
ASKED = {
    ("mnist", 2.93): (0.987, 0.990),
    ("mnist", 1.0): (0.983, 0.986),
    ("fashion", 2.93): (0.900, 0.915),
    ("cifar10", 3.0): (0.755, 0.77),
    ("cifar10", 7.53): (0.77, 0.79),
    ("cifar10", 1.0): (0.68, 0.71),
}
"""Floor and aim of the accuracy, by data and ε."""


ROWS, PAGE = RESULTS / "images.jsonl", RESULTS / "images.md"


def run(options: Sequence[str] = ()) -> None:
    """Measure what is missing, and record it: a line a fit, so that a run can be stopped and resumed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks images")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--cache", type=Path, help="folder in which features are kept; public data alone")
    given = parser.parse_args(list(options))
    # The same images are fitted again on purpose: they are public.
    warnings.simplefilter("ignore")
    prepared: dict[str, Prepared] = {}
    for number in range(given.runs):
        for name, epsilon in ASKED:
            done = [row for row in _rows() if (row["data"], row["epsilon"]) == (name, epsilon)]
            if len(done) > number or not (given.data / FILES[name]).exists():
                continue
            if name not in prepared:
                prepared[name] = _prepared(name, given.data / FILES[name], given.cache)
            with ROWS.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(_fitted(name, epsilon, prepared[name])) + "\n")
            _write_page()
    _record()


Prepared = tuple[PreparedImages, Any, PreparedImages, Any]


def _prepared(name: str, file: Path, cache: Path | None) -> Prepared:
    """Features of training and test images, of a cache where there is one."""
    found = read_images(file)
    return (
        features_of(name, found.x_train, cache),
        found.y_train,
        features_of(name, found.x_test, cache),
        found.y_test,
    )


def features_of(name: str, images: Any, cache: Path | None) -> PreparedImages:
    """Features of images, which are kept in a cache where there is one."""
    model, recipe = ImageClassifier(epsilon=1.0, delta=DELTA, recipe=name), RECIPES[name]
    if cache is None:
        return model.prepare(images)
    digest = hashlib.sha256(f"{recipe.features} {images.shape}".encode() + images.tobytes()).hexdigest()[:32]
    path = cache / f"{name}-{digest}.npz"
    if path.is_file():
        with np.load(path) as stored:
            return PreparedImages(tuple(stored[key] for key in sorted(stored)), recipe.features, recipe.shape)
    made = model.prepare(images)
    cache.mkdir(parents=True, exist_ok=True)
    np.savez(path, *made.rows)
    return made


def _fitted(name: str, epsilon: float, images: Prepared) -> dict[str, Any]:
    train, labels, test, truth = images
    start, used, load = time.perf_counter(), time.process_time(), os.getloadavg()[0]
    model = ImageClassifier(epsilon=epsilon, delta=DELTA, recipe=name).fit(train, labels)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    accuracy = model.score(test, truth)
    print(f"  {name} at ε = {epsilon:g}: {accuracy:.4f}, {seconds:.0f} s", file=sys.stderr, flush=True)
    times = {"seconds": round(seconds, 1), "processor_seconds": round(processor, 1), "load": round(load, 1)}
    return {"data": name, "epsilon": epsilon, "accuracy": accuracy, **times}


def _rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


def _summary() -> list[tuple[str, float, list[float], float]]:
    """Of each cell that was measured: its name, ε, accuracies and seconds a fit."""
    found = []
    for name, epsilon in ASKED:
        rows = [row for row in _rows() if (row["data"], row["epsilon"]) == (name, epsilon)]
        if rows:
            seconds = statistics.median(row["seconds"] for row in rows)
            found.append((name, epsilon, [row["accuracy"] for row in rows], seconds))
    return found


def error_of(scores: list[float]) -> float:
    """Standard error of a mean."""
    return statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else float("nan")


def _write_page() -> None:
    lines = [
        "# Accuracy of private image classifiers",
        "",
        "Public test images, δ = 1e-5, zero-out, n public. Seconds are of one fit, features excluded.",
        "",
        "| data | ε | runs | accuracy | standard error | floor | aim | median s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, epsilon, scores, seconds in _summary():
        floor, aim = ASKED[name, epsilon]
        mean = f"{statistics.mean(scores):.4f} | {error_of(scores):.4f}"
        lines.append(f"| {name} | {epsilon:g} | {len(scores)} | {mean} | {floor} | {aim} | {seconds:.0f} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _record() -> None:
    figures, details = [], {}
    for name, epsilon, scores, seconds in _summary():
        (floor, aim), mean = ASKED[name, epsilon], statistics.mean(scores)
        what = f"{name} at ε = {epsilon:g}"
        figures.append(Figure(what, mean, "accuracy", f"at least {floor} (aim {aim})", mean >= floor))
        details[what] = {"runs": scores, "standard error": error_of(scores), "seconds a fit": seconds}
    write("images", figures, details)
