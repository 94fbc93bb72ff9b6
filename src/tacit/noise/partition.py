"""Secret random partitions: every unit draws its block, whatever the table holds. Proof: proofs/noise/partition.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tacit.noise.entropy import Entropy
from tacit.noise.record_sampling import uniform_numbers

Integers = NDArray[np.int64]


def draw_blocks(units: int, blocks: int, entropy: Entropy) -> Integers:
    """The block of each unit.

    Guarantee: independent and exactly uniform on 0, …, blocks - 1. They depend on nothing but the number of units.
    """
    return uniform_numbers(units, blocks, entropy)


def draw_order(count: int, entropy: Entropy) -> Integers:
    """A uniform random order of 0, …, count - 1.

    Guarantee: every order has the same probability: independent words are sorted, and drawn again where two are equal.
    """
    while True:
        words = entropy.words(count)
        order = np.argsort(words, kind="stable")
        if count < 2 or (np.diff(words[order].view(np.uint64)) != 0).all():
            return order.astype(np.int64)
