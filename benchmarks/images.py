"""Accuracy of private image classifiers on the public test images, mean of five runs, with time.

`python -m benchmarks images --data FOLDER`: the folder has mnist.npz, fashion_mnist.npz and cifar10.npz, or some.
Images are scattered once, and each budget is fitted five times.
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

from benchmarks.record import Figure, write
from tacit.cli.image_files import read_images
from tacit.estimators.images import ImageClassifier

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


def run(options: Sequence[str] = ()) -> None:
    """Measure and record."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks images")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--runs", type=int, default=RUNS)
    given = parser.parse_args(list(options))
    figures: list[Figure] = []
    details: dict[str, dict[str, Any]] = {}
    # The same images are fitted again on purpose: they are public.
    warnings.simplefilter("ignore")
    for name, file in FILES.items():
        if not (given.data / file).exists():
            print(f"  {given.data / file} is not there: left out", file=sys.stderr)
            continue
        found = read_images(given.data / file)
        start, used = time.perf_counter(), time.process_time()
        model = ImageClassifier(epsilon=1.0, delta=DELTA, recipe=name)
        train, test = model.prepare(found.x_train), model.prepare(found.x_test)
        details[f"{name}, features"] = {"seconds": time.perf_counter() - start, "processor": time.process_time() - used}
        for (data, epsilon), (floor, aim) in ASKED.items():
            if data != name:
                continue
            start, used, scores = time.perf_counter(), time.process_time(), []
            for _ in range(given.runs):
                fitted = ImageClassifier(epsilon=epsilon, delta=DELTA, recipe=name).fit(train, found.y_train)
                scores.append(fitted.score(test, found.y_test))
            mean = statistics.mean(scores)
            figures.append(
                Figure(f"{name} at ε = {epsilon:g}", mean, "accuracy", f"at least {floor} (aim {aim})", mean >= floor)
            )
            details[f"{name} at ε = {epsilon:g}"] = {
                "runs": scores,
                "standard error": statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else None,
                "seconds a fit": (time.perf_counter() - start) / given.runs,
                "processor seconds a fit": (time.process_time() - used) / given.runs,
            }
    write("images", figures, details)
