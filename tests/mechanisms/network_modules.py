"""Small modules, one for each layer whose gradients are derived by hand, and some that are not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tacit.contract.network_query import Network
from tacit.mechanisms.example_gradients import is_by_hand
from tacit.neural.activations import TemperedSigmoid
from tacit.neural.example_losses import cross_entropy

CLASSES = 3


class Case(NamedTuple):
    """A module, and the shape of one input; tokens for an embedding."""

    module: Callable[[], nn.Module]
    shape: tuple[int, ...]
    tokens: int = 0


class Attention(nn.Module):
    """A small transformer layer, which goes to torch.func: its projections are one parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.out = nn.Linear(8, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.out(self.attend(x, x, x, need_weights=False)[0].mean(1))
        return found


class Shared(nn.Module):
    """One layer that is used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.out = nn.Linear(6, 6), nn.Linear(6, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.out(torch.tanh(self.inner(torch.tanh(self.inner(x)))))
        return found


def _seq(*layers: nn.Module) -> nn.Sequential:
    return nn.Sequential(*layers)


CASES: Mapping[str, Case] = {
    "linear": Case(lambda: _seq(nn.Linear(6, 300), nn.Tanh(), nn.Linear(300, CLASSES)), (6,)),
    "linear without bias": Case(lambda: _seq(nn.Linear(6, 8, bias=False), nn.ReLU(), nn.Linear(8, CLASSES)), (6,)),
    "linear over positions": Case(
        lambda: _seq(nn.Linear(4, 8), nn.Sigmoid(), nn.Flatten(), nn.Linear(40, CLASSES)), (5, 4)
    ),
    "convolution": Case(
        lambda: _seq(
            nn.Conv2d(2, 8, 3, stride=2, padding=1),
            TemperedSigmoid(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(32, CLASSES),
        ),
        (2, 8, 8),
    ),
    "convolution of groups": Case(
        lambda: _seq(
            nn.Conv2d(4, 8, (3, 2), stride=(1, 2), padding=(0, 1), dilation=(2, 1), groups=2, bias=False),
            nn.LeakyReLU(0.05),
            nn.Flatten(),
            nn.Linear(8 * 4 * 5, CLASSES),
        ),
        (4, 8, 8),
    ),
    "embedding": Case(lambda: _seq(nn.Embedding(7, 4), nn.Flatten(), nn.Linear(20, CLASSES)), (5,), tokens=7),
    "embedding with padding": Case(
        lambda: _seq(nn.Embedding(7, 4, padding_idx=0), nn.Flatten(), nn.Linear(20, CLASSES)), (5,), tokens=7
    ),
    "group norm": Case(
        lambda: _seq(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.Tanh(), nn.Flatten(), nn.Linear(4 * 36, CLASSES)),
        (1, 8, 8),
    ),
    "layer norm": Case(lambda: _seq(nn.Linear(6, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, CLASSES)), (6,)),
    "layer norm over positions": Case(
        lambda: _seq(nn.LayerNorm(4), nn.Linear(4, 4), nn.Flatten(), nn.Linear(20, CLASSES)), (5, 4)
    ),
    "attention": Case(Attention, (5, 8)),
    "shared": Case(Shared, (6,)),
    "convolution in one dimension": Case(
        lambda: _seq(nn.Conv1d(2, 4, 3), nn.Tanh(), nn.Flatten(), nn.Linear(24, CLASSES)), (2, 8)
    ),
}
BY_HAND = frozenset(CASES) - {"attention", "shared", "convolution in one dimension"}


def made(name: str) -> Network:
    """The network of a case, with the same weights every time."""
    torch.manual_seed(3)
    module = CASES[name].module()
    return Network(module, cross_entropy, name, by_hand=name in BY_HAND and is_by_hand(module))


def batch(name: str, count: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Inputs and labels of a case."""
    case, generator = CASES[name], torch.Generator().manual_seed(seed)
    shape = (count, *case.shape)
    inputs = (
        torch.randint(0, case.tokens, shape, generator=generator)
        if case.tokens
        else torch.randn(shape, generator=generator)
    )
    return inputs, torch.randint(0, CLASSES, (count,), generator=generator)
