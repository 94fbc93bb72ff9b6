"""Activations of the lecture notes: ReLU, leaky ReLU, sigmoid, tanh and tempered sigmoids."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from tacit.validate import one_of, positive


class TemperedSigmoid(nn.Module):
    """scale·sigmoid(temperature·x) - offset: bounded, so that activations and gradients stay bounded too.

    With scale 2, temperature 2 and offset 1 it is tanh (Papernot et al. 2021, Tempered sigmoid activations).
    """

    def __init__(self, scale: float = 2.0, temperature: float = 2.0, offset: float = 1.0) -> None:
        super().__init__()
        self.scale = positive("scale", scale)
        self.temperature = positive("temperature", temperature)
        self.offset = float(offset)

    def forward(self, x: Tensor) -> Tensor:
        """Apply it to every number."""
        return self.scale * torch.sigmoid(self.temperature * x) - self.offset

    def extra_repr(self) -> str:
        """Settings, as a certificate states them."""
        return f"scale={self.scale:g}, temperature={self.temperature:g}, offset={self.offset:g}"


ACTIVATIONS: Mapping[str, Callable[[], nn.Module]] = {
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "leaky-relu": lambda: nn.LeakyReLU(0.05),
    "sigmoid": nn.Sigmoid,
    "tempered-sigmoid": lambda: TemperedSigmoid(1.58, 3.0, 0.71),
}
"""By the name that a user gives."""


def activation(name: str) -> nn.Module:
    """Make the activation of a name: tanh, relu, leaky-relu, sigmoid or tempered-sigmoid."""
    return ACTIVATIONS[one_of("activation", name, ACTIVATIONS)]()
