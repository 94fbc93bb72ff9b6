"""Networks of `tacit images`: JSON, live table, files, and refusals."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

from tacit.audit.image_fits import small_recipe
from tacit.neural import image_networks, scattering_networks
from tacit.neural.image_networks import RECIPES
from tacit.neural.scattering_networks import ScatteringRecipe

Command = Callable[..., Any]
RNG = np.random.default_rng(12)


@pytest.fixture(autouse=True)
def _small_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(RECIPES["mnist"], pixels=14, batch_size=64, epochs=2.0)
    monkeypatch.setattr(image_networks, "RECIPES", MappingProxyType({"mnist": small}))


def written(**changes: Any) -> Path:
    arrays = {
        "x_train": RNG.integers(0, 256, (400, 14, 14)).astype(np.uint8),
        "y_train": RNG.integers(0, 10, 400),
        "x_test": RNG.integers(0, 256, (50, 14, 14)).astype(np.uint8),
        "y_test": RNG.integers(0, 10, 50),
    }
    np.savez("images.npz", **{**arrays, **changes})
    return Path("images.npz")


def network(*arguments: Any) -> tuple[Any, ...]:
    return ("images", "mnist", "--data", "images.npz", "--model", "cnn", *arguments)


def test_json_has_accuracy_steps_and_guarantee(command: Command) -> None:
    written()
    done = command(*network("--epsilon", 2, "--delta", 1e-4, "--json"))
    assert done.code == 0, done.err
    found = done.document
    assert found["model"] == "cnn"
    assert 1.99 < found["epsilon"] <= 2.0
    assert found["steps"][-1]["accuracy"] == found["accuracy"]
    spent = [point["epsilon"] for point in found["steps"]]
    assert spent == sorted(spent)
    assert found["certificate"]["solver"] == "network-descent"


def test_a_person_sees_the_table_and_gets_certificate_and_curve(command: Command) -> None:
    written()
    done = command(*network("--epsilon", 2, "--output", "out"))
    assert done.code == 0, done.err
    for words in ("gradient descent", "ε spent", "accuracy", "Guarantee", "zero-out"):
        assert words in done.out
    assert {path.name for path in Path("out").iterdir()} == {"certificate.json", "accuracy_by_step.png"}
    assert command("verify", "out/certificate.json").code == 0


@pytest.mark.parametrize(
    ("arguments", "changes", "code", "says"),
    [
        (["--epsilon", 1], {"x_train": np.zeros((400, 11, 11), np.uint8)}, 3, "shape"),
        (["--epsilon", 1], {"y_train": np.full(400, 10)}, 3, "from 0 to 9"),
        (["--epsilon", 1, "--sweep", "--output", "out"], {}, 2, "linear model"),
        (["--epsilon", -1], {}, 2, "epsilon"),
        (["--epsilon", 1, "--model", "transformer"], {}, 2, "model must be one of"),
    ],
)
def test_wrong_input_is_refused(command: Command, arguments: list[Any], changes: Any, code: int, says: str) -> None:
    written(**changes)
    done = command(*network(*arguments))
    assert done.code == code, done.err
    assert says in done.err


@pytest.fixture
def _small_scattering(monkeypatch: pytest.MonkeyPatch) -> None:
    small = ScatteringRecipe(replace(small_recipe(), classes=10, pixels=14))
    monkeypatch.setattr(scattering_networks, "RECIPES", MappingProxyType({"mnist": small}))


@pytest.mark.usefixtures("_small_scattering")
def test_a_network_on_scattering_features_has_table_certificate_and_curve(command: Command) -> None:
    written()
    arguments = ("images", "mnist", "--data", "images.npz", "--model", "scattering-cnn", "--epsilon", 2)
    done = command(*arguments, "--output", "out")
    assert done.code == 0, done.err
    for words in ("second moments of channels", "gradient descent", "ε spent", "accuracy", "Guarantee", "zero-out"):
        assert words in done.out
    assert command("verify", "out/certificate.json").code == 0
    found = command(*arguments, "--json").document
    assert found["model"] == "scattering-cnn"
    assert found["certificate"]["solver"] == "channel-network"
    assert found["steps"][-1]["accuracy"] == found["accuracy"]
    assert found["steps"][-1]["epsilon"] == pytest.approx(found["epsilon"], rel=1e-6)
    spent = [point["epsilon"] for point in found["steps"]]
    assert spent == sorted(spent)


@pytest.mark.usefixtures("_small_scattering")
def test_a_network_on_scattering_features_refuses_before_anything_is_spent(command: Command) -> None:
    written(y_train=np.full(400, 10))
    arguments = ("--data", "images.npz", "--model", "scattering-cnn", "--epsilon", 2)
    assert "from 0 to 9" in command("images", "mnist", *arguments).err
    assert "recipe must be one of" in command("images", "emnist", *arguments).err
