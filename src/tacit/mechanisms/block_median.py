"""Private medians of the results of blocks, by the exponential mechanism on a grid. Private: the results.

The score of a cell of the grid is how many blocks lie on the larger side of it: #{below} or #{above}, whichever is
larger. One block changes it by at most 1. The draw is exact. Proof: proofs/mechanisms/block_median.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.contract.block_price import ChoicePrice
from tacit.contract.block_query import BlockMedian
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.noise.entropy import Entropy
from tacit.noise.selection import exponential_choice

CELLS = 1 << 12
"""Cells of the grid of [lower, upper]: a median is known to a 2^-12 of its bounds."""
Floats = NDArray[np.float64]


def side_counts(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each cell the larger of the numbers of results below it and above it. Private.

    Guarantee: a result that is elsewhere changes each of them by at most 1.
    """
    held = np.bincount(places, minlength=CELLS)
    below = np.cumsum(held) - held
    return np.asarray(np.maximum(below, len(places) - below - held), dtype=np.int64)


def answer_block_median(
    query: BlockMedian, price: ChoicePrice | Price, results: Floats, entropy: Entropy | None
) -> Answer:
    """A median of each number, as its place in [-1, 1] between the bounds; without entropy the median (ε = ∞).

    Guarantee
    ---------
    - The law of a draw is exact; its privacy loss has a range of 2·rate.
    """
    width = query.upper - query.lower
    with np.errstate(all="ignore"):
        # A warning would tell of a block.
        shares = np.clip((results - query.lower) / width, 0.0, 1.0)
    if entropy is None or isinstance(price, Price):
        return Answer(2.0 * np.median(shares, axis=0) - 1.0, 0.0)
    places = np.minimum((shares * CELLS).astype(np.int64), CELLS - 1)
    chosen = [exponential_choice(side_counts(column), price.rate, entropy) for column in places.T]
    return Answer((2.0 * np.array(chosen) + 1.0) / CELLS - 1.0, 1.0 / CELLS)
