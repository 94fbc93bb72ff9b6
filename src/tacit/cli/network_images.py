"""`tacit images --model cnn` and `--model scattering-cnn`: networks, on pixels and on scattering features."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.cli.image_files import read_images
from tacit.cli.image_results import AccuracyCurve, ImageFit
from tacit.cli.output import Screen

if TYPE_CHECKING:
    from tacit.contract.channel_map import ChannelMap
    from tacit.solvers.network_descent import NetworkState

LINES = 20
"""Lines of the live table."""


def train_network(name: str, data: Path, *, epsilon: float, delta: float, screen: Screen) -> ImageFit:
    """Train a network end to end on the images of a file."""
    from tacit.neural.image_networks import PublicNetworkScore, image_examples, image_trainer

    started = time.perf_counter()
    with screen.work() as progress:
        trainer = image_trainer(name, epsilon=epsilon, delta=delta, progress=progress)
        trainer.plan(max(2, trainer.batch_size))  # Wrong names and budgets are refused before a file is opened.
        found = read_images(data)
        train = image_examples(name, found.x_train, found.y_train)
        test = image_examples(name, found.x_test, found.y_test)
        score = PublicNetworkScore(trainer, test)
        curve = AccuracyCurve(trainer.plan(len(train.labels)), screen)

        def observe(state: NetworkState) -> None:
            if _is_shown(state.done, curve.steps):
                curve.line(state.done, score(state))

        trainer.observer = observe
        trainer.train(train, found.x_train)
        accuracy = score.of(trainer.module_)
    return ImageFit.of(name, "cnn", accuracy, len(found.y_test), started, trainer, curve)


def train_on_scattering(name: str, data: Path, *, epsilon: float, delta: float, screen: Screen) -> ImageFit:
    """Train a network on scattering features of the images of a file."""
    from tacit.neural.scattering_classifier import PublicScatteringScore, ScatteringClassifier

    started = time.perf_counter()
    with screen.work() as progress:
        model = ScatteringClassifier(epsilon=epsilon, delta=delta, recipe=name, progress=progress)
        model.plan(2)  # Wrong names and budgets are refused before a file is opened.
        found = read_images(data)
        found.require(model)
        curve = AccuracyCurve(model.plan(len(found.x_train)), screen)
        train, test = model.prepare(found.x_train), model.prepare(found.x_test)
        score = PublicScatteringScore(model, test, found.y_test)

        def watch(state: NetworkState, channel_map: ChannelMap) -> None:
            if _is_shown(state.done, curve.steps):
                curve.line(state.done, score(state, channel_map))

        model.fit(train, found.y_train, watch=watch)
        accuracy = curve.points[-1]["accuracy"]
    return ImageFit.of(name, "scattering-cnn", accuracy, len(found.y_test), started, model, curve)


def _is_shown(done: int, steps: int) -> bool:
    return done % max(1, steps // LINES) == 0 or done == steps
