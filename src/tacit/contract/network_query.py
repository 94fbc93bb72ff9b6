"""The query of a network: the clipped gradient sum of a secret batch of examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap
from tacit.contract.checked_query import CheckedQuery
from tacit.errors import SettingError

BLOCK = 32
"""Examples whose clipped gradients are added up in float32; blocks are added up as integers."""
SMALLEST_CLIP, LARGEST_CLIP = 1e-6, 1e6
"""Clips within which squared norms of clipped gradients neither overflow nor vanish in float32."""


@dataclass(frozen=True, eq=False)
class Network:
    """A public program: `module` maps a batch of inputs to outputs, `loss` outputs and labels to a number an example.

    `description` is what a certificate says of it. Both are torch's; this package does not import torch.
    """

    module: Any
    loss: Any
    description: str
    by_hand: bool = True
    """Whether gradients of single examples are derived layer by layer, and not by torch.func."""
    channels_last: bool = True
    """Whether, by hand, the channels of a pixel lie side by side in memory: faster, but some modules cannot view it."""
    one_by_one: bool = False
    """Whether each example is passed on its own: torch.func has no rule for a module that needs it."""
    foreign: bool = False
    """Whether it holds a program that is neither torch's nor Tacit's: what that does on a record nobody knows."""


@dataclass(frozen=True)
class NetworkGradient(CheckedQuery):
    """Sum over a secret Poisson batch of the gradients of single losses at theta, each clipped to norm `clip`.

    The examples of a batch stand at random places of `slots`, which are computed in chunks of `chunk`: all shapes are
    public. Sum and noise are divided by the rate of the batches, so they estimate the sum over all records.

    With a `channel_map` the inputs are the rows that it makes of grouped rows, each of norm at most 1.
    """

    theta: NDArray[np.float64]
    clip: float
    network: Network
    slots: int
    chunk: int
    channel_map: ChannelMap | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not SMALLEST_CLIP <= self.clip <= LARGEST_CLIP:
            raise SettingError(f"The clip of a network must be from {SMALLEST_CLIP:g} to {LARGEST_CLIP:g}.")
        if self.chunk < 1 or self.chunk % BLOCK or self.slots < 1 or self.slots % self.chunk:
            raise SettingError(f"Slots come in chunks, and chunks in blocks of {BLOCK}.")
