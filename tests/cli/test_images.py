"""`tacit images`: JSON and table, files, and refusals before anything is spent."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from tacit.features.image_rows import FeatureMap
from tacit.solvers import image_recipes
from tacit.solvers.image_recipes import RECIPES, Group

Command = Callable[..., Any]
RNG = np.random.default_rng(12)
SMALL = replace(
    RECIPES["mnist"], pixels=12, features=FeatureMap(), groups=(Group(6, 0.1, 1.0, 0.02, 0.05),), iterations=25.0
)


@pytest.fixture(autouse=True)
def _small_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_recipes, "RECIPES", MappingProxyType({"mnist": SMALL}))


def written(**changes: Any) -> Path:
    arrays = {
        "x_train": RNG.integers(0, 256, (400, 12, 12)).astype(np.uint8),
        "y_train": RNG.integers(0, 10, 400),
        "x_test": RNG.integers(0, 256, (50, 12, 12)).astype(np.uint8),
        "y_test": RNG.integers(0, 10, 50),
    }
    np.savez("images.npz", **{**arrays, **changes})
    return Path("images.npz")


def test_json_has_accuracy_time_and_guarantee(command: Command) -> None:
    done = command("images", "mnist", "--data", written(), "--epsilon", 2, "--delta", 1e-4, "--json")
    assert done.code == 0, done.err
    found = done.document
    assert 0.0 <= found["accuracy"] <= 1.0
    assert found["seconds"] > 0
    assert 1.99 < found["epsilon"] <= 2.0
    assert found["delta"] == 1e-4
    assert found["certificate"]["private"] is True
    steps = found["steps"]
    assert steps[-1]["accuracy"] == found["accuracy"]
    assert [point["epsilon"] for point in steps] == sorted(point["epsilon"] for point in steps)


def test_a_person_sees_plan_steps_and_guarantee_and_gets_files(command: Command) -> None:
    done = command("images", "mnist", "--data", written(), "--epsilon", 2, "--output", "out", "--sweep")
    assert done.code == 0, done.err
    for words in ("second moments of channels", "ε spent", "accuracy", "Guarantee", "zero-out"):
        assert words in done.out
    assert "8 fits of the sweep have guarantees of their own" in done.out
    assert "fitted before" not in done.err
    names = {path.name for path in Path("out").iterdir()}
    pictures = {"accuracy_by_step.png", "accuracy_by_epsilon.png", "accuracy_by_parameters.png"}
    assert names == {"certificate.json", *pictures}
    assert command("verify", "out/certificate.json").code == 0
    assert json.loads(Path("out/certificate.json").read_text(encoding="utf-8"))["solver"] == "channel-descent"
    again = command("images", "mnist", "--data", "images.npz", "--epsilon", 2, "--output", "out")
    assert again.code == 3
    assert "exists" in again.err


@pytest.mark.parametrize(
    ("arguments", "changes", "code", "says"),
    [
        (["mnist", "--epsilon", 1], {"x_train": np.zeros((400, 11, 11), np.uint8)}, 3, "shape"),
        (["mnist", "--epsilon", 1], {"y_train": np.full(400, 10)}, 3, "from 0 to 9"),
        (["mnist", "--epsilon", 1], {"y_test": np.zeros(49, int)}, 3, "for each of 50"),
        (["mnist", "--epsilon", 1], {"x_test": np.full((50, 12, 12), 7.0)}, 3, "[0, 1]"),
        (["emnist", "--epsilon", 1], {}, 2, "recipe must be one of"),
        (["mnist", "--epsilon", -1], {}, 2, "epsilon"),
        (["mnist", "--epsilon", 1, "--delta", 0], {}, 2, "delta"),
        (["mnist", "--epsilon", 1, "--sweep"], {}, 2, "--output"),
    ],
)
def test_wrong_images_labels_and_settings_are_refused(
    command: Command, arguments: list[object], changes: dict[str, Any], code: int, says: str
) -> None:
    done = command("images", *arguments, "--data", written(**changes))
    assert done.code == code
    assert says in done.err
    assert "Guarantee" not in done.out
