"""Networks on images: accuracy on the public test images, mean of several runs, with time.

`python -m benchmarks network_images --data FOLDER`: the folder has mnist.npz, fashion_mnist.npz and cifar10.npz, or
some. A line of network_images.jsonl is one fit; a run that was stopped goes on where it was. `--only` names one cell,
as in `--only mnist:cnn:2.93`. `--choose key=value,…` tries other constants once, on training images alone: the last
ones are held out and scored, and the test images are not touched.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import torch

from benchmarks.images import DELTA, FILES, error_of, features_of
from benchmarks.record import RESULTS, Figure, write
from tacit.cli.image_files import LabelledImages, read_images
from tacit.neural import ScatteringClassifier, image_networks
from tacit.neural.scattering_networks import ScatteringRecipe, find_scattering

RUNS, HELD_OUT = 5, 5000
ROWS, PAGE = RESULTS / "network_images.jsonl", RESULTS / "network_images.md"
Cell = tuple[str, str, float]
LONGEST = {"mnist": 900.0, "fashion": 900.0, "cifar10": 1800.0}
"""Seconds of one fit, at most."""


class Asked(NamedTuple):
    """Floor and aim of a cell, and how many runs it has."""

    floor: float
    aim: float
    runs: int = RUNS


ASKED: dict[Cell, Asked] = {
    ("mnist", "cnn", 2.93): Asked(0.978, 0.981),
    ("cifar10", "scattering-cnn", 3.0): Asked(0.758, 0.758),
    ("cifar10", "scattering-cnn", 7.53): Asked(0.775, 0.775),
    ("fashion", "cnn", 2.93): Asked(0.0, 0.0),
    ("cifar10", "cnn", 7.53): Asked(0.662, 0.662),
}


def run(options: Sequence[str] = ()) -> None:
    """Measure what is missing, and record it: a line a fit, so that a run can be stopped and resumed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks network_images")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--cache", type=Path, help="folder in which features are kept; public data alone")
    parser.add_argument("--only", help="data:model:epsilon")
    parser.add_argument("--choose", help="key=value,…: one run on training images alone")
    parser.add_argument("--most", type=int, default=1000, help="fits of this call, at most")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(list(options))
    # The same images are fitted again on purpose: they are public.
    warnings.simplefilter("ignore")
    torch.set_num_threads(given.threads)
    left = 1 if given.choose else given.most
    for number in range(RUNS):
        for cell, asked in ASKED.items():
            named = given.only is None or given.only == f"{cell[0]}:{cell[1]}:{cell[2]:g}"
            done = given.choose is None and (len(_rows(cell)) > number or number >= asked.runs)
            if left <= 0 or not named or done or not (given.data / FILES[cell[0]]).exists():
                continue
            left -= 1
            row = _fitted(cell, given.data, given.cache, given.choose)
            with ROWS.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")
            _write_page()
    _record()


def _fitted(cell: Cell, folder: Path, cache: Path | None, chosen: str | None) -> dict[str, Any]:
    name, model, epsilon = cell
    images = read_images(folder / FILES[name])
    changes = dict(pair.split("=") for pair in chosen.split(",")) if chosen else {}
    settings = {key: int(value) if value.isdecimal() else float(value) for key, value in changes.items()}
    if chosen:
        cut = len(images.x_train) - HELD_OUT
        images = LabelledImages(images.x_train[:cut], images.y_train[:cut], images.x_train[cut:], images.y_train[cut:])
    load = os.getloadavg()[0]
    fit = _end_to_end if model == "cnn" else _on_scattering
    accuracy, seconds, processor, steps = fit(name, epsilon, images, settings, cache)
    print(f"  {name} {model} at ε = {epsilon:g} {chosen or ''}: {accuracy:.4f}, {seconds:.0f} s", file=sys.stderr)
    times = {"seconds": round(seconds, 1), "processor_seconds": round(processor, 1), "load": round(load, 1)}
    row = {"data": name, "model": model, "epsilon": epsilon, "accuracy": accuracy, "steps": steps, **times}
    return {**row, "held_out": HELD_OUT, "chosen": chosen} if chosen else row


Measured = tuple[float, float, float, int]


def _end_to_end(
    name: str, epsilon: float, images: LabelledImages, settings: dict[str, float], cache: Path | None
) -> Measured:
    del cache
    recipe: Any = replace(image_networks.RECIPES[name], **settings)  # type: ignore[arg-type]
    image_networks.RECIPES = MappingProxyType({**image_networks.RECIPES, name: recipe})
    train = image_networks.image_examples(name, images.x_train, images.y_train)
    test = image_networks.image_examples(name, images.x_test, images.y_test)
    trainer = image_networks.image_trainer(name, epsilon=epsilon, delta=DELTA, progress=_progress)
    start, used = time.perf_counter(), time.process_time()
    trainer.train(train, images.x_train)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    accuracy = image_networks.PublicNetworkScore(trainer, test).of(trainer.module_)
    return accuracy, seconds, processor, trainer.plan_.steps[-1].times


def _on_scattering(
    name: str, epsilon: float, images: LabelledImages, settings: dict[str, float], cache: Path | None
) -> Measured:
    recipe: ScatteringRecipe = replace(find_scattering(name), **settings)  # type: ignore[arg-type]
    train, test = features_of(name, images.x_train, cache), features_of(name, images.x_test, cache)
    model = ScatteringClassifier(epsilon=epsilon, delta=DELTA, recipe=recipe, progress=_progress)
    start, used = time.perf_counter(), time.process_time()
    model.fit(train, images.y_train)
    seconds, processor = time.perf_counter() - start, time.process_time() - used
    accuracy = float(model.score(test, images.y_test))
    return accuracy, seconds, processor, model.plan_.steps[-1].times


def _progress(done: int, total: int, label: str) -> None:
    print(f"\r  {label} {done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)


def _all_rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ROWS.read_text(encoding="utf-8").splitlines()] if ROWS.exists() else []


def _rows(cell: Cell) -> list[dict[str, Any]]:
    """Fits of a cell that were scored on test images."""
    rows = [row for row in _all_rows() if (row["data"], row["model"], row["epsilon"]) == cell]
    return [row for row in rows if "chosen" not in row]


def _write_page() -> None:
    lines = [
        "# Accuracy of networks on images",
        "",
        "Public test images, δ = 1e-5, zero-out, n public. Seconds are of one fit, features excluded: by the clock,",
        "whatever else the machine did, and of the processor.",
        "",
        "| data | model | ε | runs | accuracy | standard error | floor | aim | steps | median s | most s | most CPU |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for (name, model, epsilon), asked in ASKED.items():
        rows = _rows((name, model, epsilon))
        if not rows:
            continue
        scores, seconds = [row["accuracy"] for row in rows], [row["seconds"] for row in rows]
        mean = f"{statistics.mean(scores):.4f} | {error_of(scores):.4f}"
        wanted = f"{asked.floor} | {asked.aim}" if asked.floor else "none | none"
        used = max(row["processor_seconds"] for row in rows)
        times = f"{rows[-1]['steps']} | {statistics.median(seconds):.0f} | {max(seconds):.0f} | {used:.0f}"
        lines.append(f"| {name} | {model} | {epsilon:g} | {len(scores)} | {mean} | {wanted} | {times} |")
    tried = [row for row in _all_rows() if "chosen" in row]
    if tried:
        lines += [
            "",
            f"Constants were chosen on the last {HELD_OUT:,} training images, one run each, at no charge:",
            "",
            "| data | model | ε | constants | accuracy | steps | s |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['data']} | {row['model']} | {row['epsilon']:g} | {row['chosen']} | {row['accuracy']:.4f} | "
            f"{row['steps']} | {row['seconds']:.0f} |"
            for row in tried
        ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _record() -> None:
    figures: list[Figure] = []
    details: dict[str, object] = {}
    for cell, asked in ASKED.items():
        rows = _rows(cell)
        if not rows:
            continue
        name, model, epsilon = cell
        what, scores = f"{name}, {model}, ε = {epsilon:g}", [row["accuracy"] for row in rows]
        mean = statistics.mean(scores)
        wanted = f"at least {asked.floor} (aim {asked.aim}), mean of {asked.runs}" if asked.floor else "told"
        reached = not asked.floor or (mean >= asked.floor and len(rows) >= asked.runs)
        figures.append(Figure(what, mean, f"accuracy, mean of {len(rows)}", wanted, reached))
        limit = LONGEST[name]
        for kind, told in (("seconds", "by the clock"), ("processor_seconds", "of the processor, one thread")):
            longest = max(row[kind] for row in rows)
            name = f"{what}: longest fit, {told}"
            figures.append(Figure(name, longest, "s", f"at most {limit:g}", longest <= limit))
        details[what] = {"runs": scores, "standard error": error_of(scores)}
    details["held-out choices"] = [row["accuracy"] for row in _all_rows() if "chosen" in row]
    write("network_images", figures, details)
