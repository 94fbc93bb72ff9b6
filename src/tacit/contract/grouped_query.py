"""Queries of grouped integer rows: channels of images, over positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.contract.channel_map import ChannelMap
from tacit.contract.checked_query import CheckedQuery


@dataclass(frozen=True)
class GroupSum:
    """Sum over records of their rows x (channel, position) of one group, each of norm at most 1."""

    group: int


@dataclass(frozen=True)
class ChannelMoments(CheckedQuery):
    """Sum over records of (x - mean)(x - mean)', pooled over positions, for one group of channels.

    Of each record's matrix the diagonal blocks between `ends` are kept, together shrunk to Frobenius norm `clip`.
    """

    group: int
    mean: NDArray[np.float64]
    ends: tuple[int, ...]
    clip: float


@dataclass(frozen=True)
class MappedGradient(CheckedQuery):
    """Sum over records of z (p - e_y)' of a softmax model, z the row that `channel_map` makes, of norm at most 1.

    Every term is shrunk to norm `clip`. theta is (width, class), rounded to a public lattice before it is used.
    """

    theta: NDArray[np.float64]
    clip: float
    channel_map: ChannelMap


GroupedQuery = GroupSum | ChannelMoments | MappedGradient
"""Queries of a store of grouped integer rows."""
