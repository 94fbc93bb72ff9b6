"""A small network for colour images whose first weights are wavelets: public, like random ones, and a better start.

    h = (|x * ψ_k|, x * φ_c) scaled per image,   g = mean over squares of tanh(A h),   outputs = B (g/|g|, h/|h|, 1)

ψ_k are waves under a bell (Gabor 1946) of two lengths in grey and one in two pairs of opponent colours; φ_c are bells.
All of ψ, φ, A and B are trained. B begins at 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from tacit.neural.architectures import FIRST_WEIGHTS

SIZE, STRIDE = 7, 4
"""Of the first layer: 8 × 8 positions of an image of 32 × 32."""
SMALL = 1e-6
CONSTANT = 0.3


class Waves(NamedTuple):
    """Waves of one length: radians a pixel, width of the bell, how many directions, and a factor."""

    frequency: float
    width: float
    directions: int
    factor: float = 1.0


GREY = (Waves(2.0, 1.2, 8), Waves(1.1, 2.0, 8))
OPPONENT = (Waves(1.3, 1.8, 6, factor=2.5),)
"""Colours differ less than shades do in most pictures."""
COLOURS = ((1 / 3, 1 / 3, 1 / 3), (1 / 1.4, -1 / 1.4, 0.0), (0.5 / 1.2, 0.5 / 1.2, -1 / 1.2))
BELL, BELL_FACTORS = 1.5, (1.5, 4.0, 4.0)


def wavelets() -> tuple[NDArray[np.float32], int]:
    """Kernels (kernel, colour, row, column): real parts of the waves, imaginary parts, bells; and how many waves."""
    places = np.arange(SIZE) - (SIZE - 1) / 2
    down, right = np.meshgrid(places, places, indexing="ij")
    waves: list[NDArray[np.complex128]] = []
    for colour, lengths in zip(COLOURS, (GREY, OPPONENT, OPPONENT), strict=True):
        for length in lengths:
            bell = np.exp(-(down**2 + right**2) / (2 * length.width**2))
            for turn in np.pi * np.arange(length.directions) / length.directions:
                wave = bell * np.exp(1j * length.frequency * (right * np.cos(turn) + down * np.sin(turn)))
                wave = wave - bell * wave.sum() / bell.sum()
                # The spectrum of pictures falls like 1 / frequency.
                wave = wave * (length.frequency * length.factor / np.sqrt((np.abs(wave) ** 2).sum()))
                waves.append(np.asarray(colour)[:, None, None] * wave)
    bell = np.exp(-(down**2 + right**2) / (2 * BELL**2))
    bells = [
        factor * np.asarray(colour)[:, None, None] * bell / bell.sum()
        for colour, factor in zip(COLOURS, BELL_FACTORS, strict=True)
    ]
    kernels = [*(wave.real for wave in waves), *(wave.imag for wave in waves), *bells]
    return np.array(kernels, dtype=np.float32), len(waves)


class WaveletNetwork(nn.Module):
    """Classes of images of three colours.

    Kernels of the first layers are stored over `scale`: the smaller it is, the less of a clipped gradient is theirs.
    """

    def __init__(self, pixels: int, classes: int, hidden: int = 64, scale: float = 0.05) -> None:
        super().__init__()
        kernels, self.waves = wavelets()
        self.scale, channels = scale, len(kernels) - self.waves
        positions = (pixels + SIZE - 1 - SIZE) // STRIDE + 1
        self.norm, self.pool = nn.GroupNorm(1, channels, affine=False), nn.AvgPool2d(2)
        width = channels * positions**2 + hidden * (positions // 2) ** 2 + 1
        with torch.random.fork_rng(devices=[]):
            self.first = nn.Conv2d(3, len(kernels), SIZE, STRIDE, padding=SIZE // 2, bias=False)
            self.second = nn.Conv2d(channels, hidden, 3, padding=1)
            self.last = nn.Linear(width, classes, bias=False)
            torch.manual_seed(FIRST_WEIGHTS)
            nn.init.normal_(self.second.weight, std=1 / math.sqrt(9 * channels) / scale)
        self.first.weight = nn.Parameter(torch.from_numpy(kernels) / scale)
        self.second.bias = nn.Parameter(torch.zeros(hidden))
        nn.init.zeros_(self.last.weight)

    def forward(self, images: Tensor) -> Tensor:
        """Outputs (image, class); each image is computed on its own."""
        found = self.first(images) * self.scale
        real, imaginary, bells = found.split([self.waves, self.waves, found.shape[1] - 2 * self.waves], dim=1)
        h = self.norm(torch.cat([(real**2 + imaginary**2 + SMALL).sqrt(), bells], dim=1))
        g = self.pool(torch.tanh(self.second(h) * self.scale))
        constant = torch.full((len(images), 1), CONSTANT)
        parts = torch.cat([_of_norm_one(g), _of_norm_one(h), constant], dim=1)
        return torch.as_tensor(self.last(parts / math.sqrt(2.0 + CONSTANT**2)))


def _of_norm_one(maps: Tensor) -> Tensor:
    rows = maps.flatten(1)
    sizes: Tensor = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
    return rows / (sizes + SMALL)
