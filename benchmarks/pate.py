"""PATE on MNIST: 250 teachers label 1000 public images at ε = 2, and a student smooths the labels.

`python -m benchmarks pate --data FOLDER`: the folder has mnist.npz. The public images are the first 1000 test images,
without their labels. Features are roots of scattering coefficients, projected onto 200 principal components of the
public images: a fixed public map. The labels of the public images are used for the accuracy alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import tacit
from benchmarks.accuracy.folder import folder
from benchmarks.record import Figure, write

EPSILON, DELTA, TEACHERS, PUBLIC, COMPONENTS, RUNS, PART = 2.0, 1e-5, 250, 1000, 200, 3, 5000
CONFIDENT: dict[str, Any] = {"threshold": 0.75, "answers": 400}
ASKED = 0.93


def features(data: Path) -> tuple[Any, ...]:
    """Private rows and labels, public rows and their labels."""
    with np.load(data / "mnist.npz") as found:
        images = {name: found[name] for name in found.files}
    scattering = tacit.ScatteringTransform()

    def roots(pictures: Any) -> Any:
        return np.sqrt(np.maximum(scattering.fit_transform(pictures / 255.0), 0.0))

    public = roots(images["x_test"][:PUBLIC])
    centre = public.mean(axis=0)
    axes = np.linalg.svd(public - centre, full_matrices=False)[2][:COMPONENTS].T
    private = []
    for first in range(0, len(images["x_train"]), PART):
        private.append((roots(images["x_train"][first : first + PART]) - centre) @ axes)
        print(f"\r  {first + PART} images", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    labels = images["y_train"].astype(int), images["y_test"][:PUBLIC].astype(int)
    return np.concatenate(private), labels[0], (public - centre) @ axes, labels[1]


def run(options: Sequence[str] = ()) -> None:
    """Measure plain and confident answers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pate")
    parser.add_argument("--data", type=Path, default=folder())
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args(list(options))
    if not (given.data / "mnist.npz").exists():
        print("  mnist.npz is not there: --data FOLDER")
        return
    X, y, public, truth = features(given.data)
    teacher = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.2)
    details: dict[str, Any] = {"teachers": TEACHERS, "public rows": PUBLIC, "epsilon": EPSILON, "delta": DELTA}
    scores: dict[str, list[float]] = {"student": [], "votes": [], "seconds": [], "confident": []}
    for _ in range(given.runs):
        for settings in (dict[str, Any](), CONFIDENT):
            model = tacit.PATE(
                epsilon=EPSILON, delta=DELTA, teacher=teacher, teachers=TEACHERS, classes=list(range(10)), **settings
            )
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y, tacit.public(public))
            seconds = time.perf_counter() - start
            student = float((model.predict(public) == truth).mean())
            if settings:
                scores["confident"].append(student)
                shown = model.labels_[model.answered_] == truth[model.answered_]
                details["confident answers"] = [int(model.answered_.sum()), float(shown.mean())]
                continue
            scores["student"].append(student)
            scores["votes"].append(float((model.labels_ == truth).mean()))
            scores["seconds"].append(seconds)
            details["guarantee"] = str(model.certificate_.rederive())
    details |= scores
    median = {name: statistics.median(values) for name, values in scores.items()}
    figures = [
        Figure("labels of 1000 public images", median["student"], "accuracy", f"≥ {ASKED}", median["student"] >= ASKED),
        Figure("the same, most noised votes alone", median["votes"], "accuracy", "measured", True),
        Figure("the same, Confident GNMax", median["confident"], "accuracy", "measured", True),
        Figure("250 teachers", median["seconds"], "s", "measured", True),
    ]
    write("pate", figures, details)
