"""The jackknife over groups of a block's rows, which takes the first term off the bias. Private: the rows.

For an estimate whose mean is θ + b / m on m rows, g·(that on all) - (g - 1)·(mean of those without one group) has mean
θ. It is a function of the block, so it costs nothing. Proof: proofs/mechanisms/jackknife.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def jackknifed(estimate: Callable[[NDArray[np.bool_]], Floats], count: int, groups: int) -> Floats:
    """Estimate on the rows of a mask, bias removed by `groups` groups of the rows in their order; 0: as it is."""
    everything = np.ones(count, dtype=np.bool_)
    whole = estimate(everything)
    if groups < 2:
        return whole
    group = np.arange(count) % groups
    parts = [estimate(group != number) for number in range(groups)]
    return np.asarray(groups * whole - (groups - 1) * np.mean(parts, axis=0))
