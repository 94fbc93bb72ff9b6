"""The public map from grouped integer rows to the rows that a model is fitted on. Made of released numbers alone.

A row of a group is a matrix x (channel, position) of norm at most 1. With a noisy mean m and a noisy whitening W

    z = W (x - m),   with `absolute` followed by |z| - mean|z|;   scaled to the group's weight

of which only the first `linear` rows of W enter as they are. The groups, one after the other and a constant at the
end, are scaled to norm 1. All of it acts on one row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError

Floats = NDArray[np.float64]
LARGEST = 1e12
"""Of a released mean or of an entry of a whitening."""


@dataclass(frozen=True)
class GroupMap:
    """Mean (channel, position) and whitening (row, channel) of one group; `linear` None means all rows."""

    mean: Floats
    whitening: Floats
    weight: float = 1.0
    linear: int | None = None

    def __post_init__(self) -> None:
        moderate = all((np.abs(it) <= LARGEST).all() for it in (self.mean, self.whitening, self.weight))
        if (
            not moderate
            or self.weight <= 0
            or not 0 <= self.kept <= len(self.whitening)
            or self.whitening.shape[1:] != self.mean.shape[:1]
        ):
            raise SettingError("A whitening must have finite numbers and as many columns as there are channels.")

    @property
    def kept(self) -> int:
        """Rows of the whitening that enter as they are."""
        return len(self.whitening) if self.linear is None else self.linear

    def entries(self, *, absolute: bool) -> int:
        """Numbers of a mapped row."""
        return int((self.kept + absolute * len(self.whitening)) * self.mean.shape[1])


@dataclass(frozen=True)
class ChannelMap:
    """One map a group, and what is shared: whether absolute values are appended, and the constant."""

    groups: tuple[GroupMap, ...]
    absolute: bool = False
    constant: float = 0.1

    @property
    def width(self) -> int:
        """Numbers of a mapped row, the constant included."""
        return sum(group.entries(absolute=self.absolute) for group in self.groups) + 1
