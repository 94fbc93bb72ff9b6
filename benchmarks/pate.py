"""PATE on MNIST: 250 teachers label 1000 public images at ε = 2, and a student smooths the labels.

`python -m benchmarks pate --data FOLDER`: the folder has mnist.npz. The public images are the first 1000 test images,
without their labels. Nothing is chosen by a label: the features are the coefficients of `tacit.ScatteringTransform` as
they are, projected onto the principal components with 95% of the variance of the public images, and a teacher is a
linear discriminant analysis whose shrinkage is Ledoit and Wolf's. Plain pixels stand beside them. The labels of the
public images are used for the accuracy alone.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import tacit
from benchmarks.accuracy.folder import folder
from benchmarks.record import Figure, write

EPSILON, DELTA, TEACHERS, PUBLIC, VARIANCE, RUNS, PART = 2.0, 1e-5, 250, 1000, 0.95, 3, 5000
CONFIDENT: dict[str, Any] = {"threshold": 0.75, "answers": 400}
ASKED = 0.93


def scattered(images: Mapping[str, Any]) -> tuple[Any, Any]:
    """Private and public images as scattering coefficients on the principal components of the public ones."""
    scattering = tacit.ScatteringTransform()
    public = scattering.fit_transform(images["x_test"][:PUBLIC] / 255.0)
    centre = public.mean(axis=0)
    sizes, directions = np.linalg.svd(public - centre, full_matrices=False)[1:]
    kept = int(np.searchsorted(np.cumsum(sizes**2) / np.sum(sizes**2), VARIANCE)) + 1
    axes = directions[:kept].T
    private = []
    for first in range(0, len(images["x_train"]), PART):
        part = images["x_train"][first : first + PART] / 255.0
        private.append((scattering.fit_transform(part) - centre) @ axes)
        print(f"\r  {first + PART} images", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.concatenate(private), (public - centre) @ axes


def pixels(images: Mapping[str, Any]) -> tuple[Any, Any]:
    """Private and public images as they are."""
    private, public = (images[name].reshape(len(images[name]), -1) / 255.0 for name in ("x_train", "x_test"))
    return private, public


def fitted(X: Any, y: Any, public: Any, settings: Mapping[str, Any]) -> tuple[Any, float]:
    """A fit, and its seconds."""
    teacher = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    model = tacit.PATE(
        epsilon=EPSILON, delta=DELTA, teacher=teacher, teachers=TEACHERS, classes=list(range(10)), **settings
    )
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, tacit.public(public))
    return model, time.perf_counter() - start


def run(options: Sequence[str] = ()) -> None:
    """Measure plain and confident answers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pate")
    parser.add_argument("--data", type=Path, default=folder())
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args(list(options))
    if not (given.data / "mnist.npz").exists():
        print("  mnist.npz is not there: --data FOLDER")
        return
    with np.load(given.data / "mnist.npz") as found:
        images = {name: found[name] for name in found.files}
    y, truth = images["y_train"].astype(int), images["y_test"][:PUBLIC].astype(int)
    X, public = scattered(images)
    details: dict[str, Any] = {"teachers": TEACHERS, "public rows": PUBLIC, "epsilon": EPSILON, "delta": DELTA}
    details["components"] = X.shape[1]
    scores: dict[str, list[float]] = {"student": [], "votes": [], "seconds": []}
    for _ in range(given.runs):
        model, seconds = fitted(X, y, public, {})
        scores["student"].append(float((model.predict(public) == truth).mean()))
        scores["votes"].append(float((model.labels_ == truth).mean()))
        scores["seconds"].append(seconds)
        details["guarantee"] = str(model.certificate_.rederive())
        print(f"  student {scores['student'][-1]}, votes {scores['votes'][-1]}", flush=True)
    model, _ = fitted(X, y, public, CONFIDENT)
    confident = float((model.predict(public) == truth).mean())
    shown = model.labels_[model.answered_] == truth[model.answered_]
    details["confident answers"] = [int(model.answered_.sum()), float(shown.mean())]
    X, public = pixels(images)
    model, _ = fitted(X, y, public[:PUBLIC], {})
    plain = float((model.predict(public[:PUBLIC]) == truth).mean())
    details |= scores
    median = {name: statistics.median(values) for name, values in scores.items()}
    figures = [
        Figure("labels of 1000 public images", median["student"], "accuracy", f"≥ {ASKED}", median["student"] >= ASKED),
        Figure("the same, most noised votes alone", median["votes"], "accuracy", "measured", True),
        Figure("the same, Confident GNMax", confident, "accuracy", "measured", True),
        Figure("the same, of plain pixels", plain, "accuracy", "measured", True),
        Figure("250 teachers", median["seconds"], "s", "measured", True),
    ]
    write("pate", figures, details)
