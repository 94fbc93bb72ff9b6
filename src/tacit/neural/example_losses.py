"""Losses of single examples, by name: one number for each, never a mean over a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, nan

import torch
from torch import Tensor
from torch.nn import functional

from tacit.errors import SettingError
from tacit.losses import classification, regression
from tacit.losses.loss import Code, Loss
from tacit.validate import one_of

ExampleLoss = Callable[[Tensor, Tensor], Tensor]


def cross_entropy(outputs: Tensor, labels: Tensor) -> Tensor:
    """-log p of the label; an example whose label is no class has no loss and no gradient."""
    if outputs.ndim != 2 or outputs.shape[1] < 2:
        raise ValueError(
            f"cross-entropy needs an output for each class, but has outputs of shape {tuple(outputs.shape)}"
        )
    known = (labels >= 0) & (labels < outputs.shape[1])
    losses = functional.cross_entropy(outputs, torch.where(known, labels, 0), reduction="none")
    return torch.where(known, losses, nan)


def squared(outputs: Tensor, labels: Tensor) -> Tensor:
    """Half the squared error, summed over outputs."""
    return ((outputs.flatten(1) - _targets(outputs, labels)) ** 2).sum(1) / 2


def huber(outputs: Tensor, labels: Tensor) -> Tensor:
    """Huber's loss with threshold 1, summed over outputs."""
    return functional.huber_loss(outputs.flatten(1), _targets(outputs, labels), reduction="none").sum(1)


def _targets(outputs: Tensor, labels: Tensor) -> Tensor:
    """Labels as rows of as many numbers as there are outputs."""
    wanted = labels.reshape(len(labels), -1)
    if wanted.shape != outputs.flatten(1).shape:
        raise ValueError(f"the module has {outputs.flatten(1).shape[1]} outputs for {wanted.shape[1]} labels")
    return wanted


@dataclass(frozen=True)
class NamedLoss:
    """A loss of examples, what a plan calls it, and whether labels are whole numbers."""

    of_examples: ExampleLoss
    stated: Loss
    whole_labels: bool


LOSSES: Mapping[str, NamedLoss] = {
    "cross-entropy": NamedLoss(cross_entropy, classification.SOFTMAX, whole_labels=True),
    "squared": NamedLoss(squared, regression.SQUARED, whole_labels=False),
    "huber": NamedLoss(huber, regression.huber(1.0), whole_labels=False),
}


def named_loss(loss: str | ExampleLoss) -> NamedLoss:
    """The loss of a name, or one of your own: a function of outputs and labels that returns a number an example."""
    if isinstance(loss, str):
        return LOSSES[one_of("loss", loss, LOSSES)]
    if not callable(loss):
        raise SettingError("loss must be a name or a function of outputs and labels.")
    name = f"own: {getattr(loss, '__name__', type(loss).__name__)}"[:80]
    return NamedLoss(loss, Loss(name, Code.OWN, inf, inf), whole_labels=False)
