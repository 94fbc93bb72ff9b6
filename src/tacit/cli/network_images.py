"""`tacit images --model cnn`: a convolutional network, trained end to end on private images."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.image_files import read_images
from tacit.cli.output import Screen
from tacit.files import write_text

if TYPE_CHECKING:
    from tacit.certificate.certificate import Certificate
    from tacit.contract.plan import Plan
    from tacit.neural.image_networks import PublicNetworkScore
    from tacit.solvers.network_descent import NetworkState

LINES = 20
"""Lines of the live table."""


def train_network(
    name: str, data: Path, *, epsilon: float, delta: float, files: dict[str, Path], screen: Screen
) -> tuple[dict[str, Any], int, Certificate]:
    """Train a network on the images of a file; return its document, test images and certificate."""
    from tacit.neural.image_networks import PublicNetworkScore, image_examples, image_trainer
    from tacit.report.statements import plan_table

    started = time.perf_counter()
    with screen.work() as progress:
        trainer = image_trainer(name, epsilon=epsilon, delta=delta, progress=progress)
        trainer.plan(max(2, trainer.batch_size))  # Wrong names and budgets are refused before a file is opened.
        found = read_images(data)
        train = image_examples(name, found.x_train, found.y_train)
        test = image_examples(name, found.x_test, found.y_test)
        plan = trainer.plan(len(train.labels))
        if not screen.quiet:
            screen.heading("Plan")
            screen.table(plan_table(plan))
            screen.say(str(plan.guarantee()), "price")
            screen.heading("Accuracy on public test images")
            screen.plain(f"  {'step':>5}  {'ε spent':>8}  {'accuracy':>9}")
        score = PublicNetworkScore(trainer, test)
        curve = NetworkCurve(plan, score, screen)
        trainer.observer = curve
        trainer.train(train, found.x_train)
        accuracy = score.of(trainer.module_)
    certificate = trainer.certificate_
    document: dict[str, Any] = {
        "data": name,
        "model": "cnn",
        "accuracy": accuracy,
        "seconds": round(time.perf_counter() - started, 2),
        **{key: certificate.parsed["total"][key] for key in ("epsilon", "delta", "mu")},
        "parameters": int(trainer.release_.theta.size),
        "steps": curve.points,
        "warnings": list(screen.warned),
        "certificate": certificate.document,
    }
    if files:
        from tacit.report.image_pictures import accuracy_picture

        write_text(files["certificate"], certificate.to_json() + "\n")
        points = [(point["epsilon"], point["accuracy"]) for point in curve.points]
        title = f"{name}: accuracy of a network while the budget is spent"
        accuracy_picture(points, files["steps"], title=title, axis="ε spent")
    document["files"] = {key: str(path) for key, path in files.items()}
    screen.result(document)
    return document, len(found.y_test), certificate


class NetworkCurve:
    """The live table: accuracy of public images against what was spent, every few steps."""

    def __init__(self, plan: Plan, score: PublicNetworkScore, screen: Screen) -> None:
        self._plan, self._score, self._screen = plan, score, screen
        self._steps = plan.steps[0].times
        self._every = max(1, self._steps // LINES)
        self.points: list[dict[str, Any]] = []

    def __call__(self, state: NetworkState) -> None:
        """Score the released weights of a step."""
        if state.done % self._every and state.done < self._steps:
            return
        from dataclasses import replace

        (step,) = self._plan.steps
        spent = replace(self._plan, steps=(replace(step, times=state.done),)).guarantee().epsilon
        accuracy = self._score(state)
        self.points.append({"step": state.done, "epsilon": spent, "accuracy": accuracy})
        if not self._screen.quiet:
            self._screen.plain(f"  {state.done:>5}  {spent:>8.3f}  {accuracy:>9.2%}")
