"""Architectures by public rules, with first weights that are the same in every program."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import torch
from torch import nn

from tacit.errors import SettingError
from tacit.neural.activations import activation
from tacit.validate import whole

FIRST_WEIGHTS = 20_211
"""Seed of the first weights, which are public: they hide nothing."""


def mlp(inputs: int, outputs: int, hidden: Sequence[int] = (64,), activation_name: str = "tanh") -> nn.Sequential:
    """Return a network of fully connected layers."""
    sizes = [whole("inputs", inputs, 1), *(whole("hidden", size, 1) for size in hidden)]
    layers: list[nn.Module] = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(FIRST_WEIGHTS)
        for before, after in itertools.pairwise(sizes):
            layers += [nn.Linear(before, after), activation(activation_name)]
        last = nn.Linear(sizes[-1], whole("outputs", outputs, 1))
        # Begin at predictions without opinion: random ones would first have to be unlearned.
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, last)


def cnn(channels: int = 1, pixels: int = 28, classes: int = 10, activation_name: str = "tanh") -> nn.Sequential:
    """Return the small convolutional network of the notes: 26,010 parameters for 28 × 28 grey pixels."""
    side = (pixels - 2) // 2 + 1
    side = ((side - 1) - 4) // 2 + 1 - 1
    if side < 1:
        raise SettingError("This network is for images of at least 14 pixels a side.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(FIRST_WEIGHTS)
        return nn.Sequential(
            nn.Conv2d(channels, 16, 8, stride=2, padding=3),
            activation(activation_name),
            nn.MaxPool2d(2, 1),
            nn.Conv2d(16, 32, 4, stride=2),
            activation(activation_name),
            nn.MaxPool2d(2, 1),
            nn.Flatten(),
            nn.Linear(32 * side * side, 32),
            activation(activation_name),
            nn.Linear(32, classes),
        )
