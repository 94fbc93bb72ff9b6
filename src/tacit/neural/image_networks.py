"""Convolutional networks for well-known images, with constants that were fixed in advance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from tacit.contract.plan import PublicFact
from tacit.contract.query import Progress
from tacit.engine.ledger_use import Refusals
from tacit.errors import DataError
from tacit.neural.architectures import cnn
from tacit.neural.examples import Examples
from tacit.neural.trainer import DPTrainer, Observer
from tacit.neural.wavelet_networks import WaveletNetwork
from tacit.solvers.network_descent import NetworkState
from tacit.validate import one_of

CONSTANTS = "fixed in advance from what is known of these public images, at no charge"


@dataclass(frozen=True)
class NetworkRecipe:
    """Shape of the images, and the constants of a training."""

    name: str
    pixels: int
    colours: int
    batch_size: int = 2048
    epochs: float = 40.0
    clip: float = 0.1
    step_size: float = 2.0
    momentum: float = 0.9
    tail: float = 0.3
    activation: str = "tanh"
    classes: int = 10
    wavelets: bool = False
    """Whether the first weights are wavelets, in a network for images of three colours."""

    def module(self) -> nn.Module:
        """The network, with first weights that are the same in every program."""
        if self.wavelets:
            return WaveletNetwork(self.pixels, self.classes)
        return cnn(self.colours, self.pixels, self.classes, self.activation)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one image in the files."""
        return (self.pixels, self.pixels) if self.colours == 1 else (self.pixels, self.pixels, self.colours)


RECIPES: Mapping[str, NetworkRecipe] = MappingProxyType(
    {
        "mnist": NetworkRecipe("mnist", 28, 1),
        "fashion": NetworkRecipe("fashion", 28, 1, step_size=3.0),
        "cifar10": NetworkRecipe("cifar10", 32, 3, batch_size=4096, epochs=20.0, step_size=400.0, wavelets=True),
    }
)
"""By the name that a user gives."""


def find_network(name: str) -> NetworkRecipe:
    """The recipe of that name, or an error that lists them."""
    return RECIPES[one_of("recipe", name, RECIPES)]


def image_trainer(
    name: str,
    *,
    epsilon: float,
    delta: float | None,
    progress: Progress | None = None,
    observer: Observer | None = None,
    random_state: int | None = None,
) -> DPTrainer:
    """A training of the network of a recipe, with its constants."""
    recipe = find_network(name)
    return DPTrainer(
        module=recipe.module(),
        epsilon=epsilon,
        delta=delta,
        batch_size=recipe.batch_size,
        epochs=recipe.epochs,
        clip=recipe.clip,
        step_size=recipe.step_size,
        momentum=recipe.momentum,
        tail=recipe.tail,
        unit="image",
        random_state=random_state,
        progress=progress,
        observer=observer,
        facts=(
            PublicFact("classes", list(range(recipe.classes)), "declared"),
            PublicFact("recipe", recipe.name, "declared"),
            PublicFact("constants", CONSTANTS, "declared"),
        ),
    )


def image_examples(name: str, images: Any, labels: Any) -> Examples:
    """Images as (colour, row, column) in [-1, 1], each on its own, and their labels.

    Guarantee: inside a ledger no image is refused for its content: one whose label is no class contributes nothing.
    """
    recipe = find_network(name)
    refusals = Refusals.settle(None, beside=(images, labels))
    if refusals.invalid_rows != "error" and not (isinstance(images, np.ndarray) and isinstance(labels, np.ndarray)):
        raise DataError(
            "Inside a ledger images and labels are numpy arrays: the type of a list depends on what it holds."
        )
    pictures, codes = np.asarray(images), np.asarray(labels)
    if pictures.shape[1:] != recipe.shape:
        raise DataError(f'The recipe "{recipe.name}" is for images of shape {recipe.shape}; got {pictures.shape[1:]}.')
    if codes.shape != (len(pictures),) or codes.dtype.kind not in "iu":
        raise DataError(f"y must have one whole number for each of {len(pictures)} images.")
    valid = (codes >= 0) & (codes < recipe.classes)
    if refusals.invalid_rows == "error" and not valid.all():
        raise DataError(f"y must have one whole number from 0 to {recipe.classes - 1} for each image.")
    with np.errstate(over="ignore"):
        shade = pictures.astype(np.float32) / (255.0 if pictures.dtype == np.uint8 else 1.0)
    planes = shade[:, None] if recipe.colours == 1 else np.moveaxis(shade, 3, 1)
    # Whatever stands in a pixel, the network gets a number within the range of pixels; one that is none is black.
    scaled = np.clip(np.nan_to_num(2.0 * planes - 1.0, nan=-1.0), -1.0, 1.0)
    return Examples(np.ascontiguousarray(scaled, dtype=np.float32), codes.astype(np.int64), valid)


class PublicNetworkScore:
    """Accuracy on declared-public images at released weights."""

    def __init__(self, trainer: DPTrainer, examples: Examples) -> None:
        self._trainer, self._inputs, self._labels = trainer, torch.from_numpy(examples.inputs), examples.labels

    def __call__(self, state: NetworkState) -> float:
        """Share of the public images that the weights of a state classify rightly."""
        return self.of(self._trainer.module_with(state.weights(self._trainer.weights)))

    def of(self, module: torch.nn.Module) -> float:
        """The same of a module."""
        with torch.no_grad():
            outputs = torch.cat([module(part) for part in torch.split(self._inputs, 1000)])
        found: NDArray[np.int64] = outputs.argmax(dim=1).numpy()
        return float((found == self._labels).mean())
