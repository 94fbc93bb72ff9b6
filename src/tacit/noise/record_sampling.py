"""Secret batches of records: which records a step reads, drawn afresh for every step.

A batch names running numbers 0, …, n - 1 of the records, and depends on nothing else: not on their content, their
number of columns, or the blocks they are read in. Proof: proofs/noise/record_sampling.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise.entropy import Entropy
from tacit.noise.keystream import Keystream
from tacit.validate import whole

RATE_BITS = 32
"""A Poisson rate is a whole number of 2^-32."""
SPARE = 1.0625
"""Draws asked for at a time, over those that are missing: few are rejected."""

Integers = NDArray[np.int64]


class Batch(Protocol):
    """A secret batch."""

    def members(self, first: int, count: int) -> Integers:
        """Running numbers of the batch from first to first + count - 1, less `first`; in order, repeated as drawn."""


class PoissonBatch:
    """Each record is in it with probability numerator / 2^32, exactly, and independently of all others.

    Guarantee: a fresh key for every batch. Whether a record is in it is a function of the key and its number.
    """

    def __init__(self, numerator: int, entropy: Entropy) -> None:
        self._numerator = whole("numerator", numerator, 0, 1 << RATE_BITS)
        self._stream = Keystream(entropy)

    def members(self, first: int, count: int) -> Integers:
        """Running numbers whose 32 bits are below the numerator."""
        return np.flatnonzero(self._stream.words(first, count) < np.uint64(self._numerator)).astype(np.int64)


@dataclass(frozen=True, repr=False, eq=False)
class ListedBatch:
    """A batch whose running numbers were all drawn at once, in order."""

    numbers: Integers

    def members(self, first: int, count: int) -> Integers:
        """Running numbers of a part, less its first."""
        low, high = np.searchsorted(self.numbers, [first, first + count])
        return self.numbers[low:high] - first


def subset_batch(size: int, population: int, entropy: Entropy) -> ListedBatch:
    """Draw a uniform subset of exactly `size` of the numbers 0, …, population - 1.

    Guarantee: every subset of that size has the same probability, exactly.
    """
    if whole("size", size, 1) > whole("population", population, 1):
        raise SettingError("A batch without replacement cannot be larger than the table.")
    # The complement of a uniform subset is one too.
    left_out = 2 * size > population
    wanted = population - size if left_out else size
    chosen = np.empty(0, dtype=np.int64)
    while len(chosen) < wanted:
        # The first distinct ones of independent uniform draws, in the order in which they came.
        drawn = np.concatenate([chosen, uniform_numbers(int((wanted - len(chosen)) * SPARE) + 8, population, entropy)])
        places = np.sort(np.unique(drawn, return_index=True)[1])
        chosen = drawn[places[:wanted]]
    if left_out:
        return ListedBatch(np.setdiff1d(np.arange(population, dtype=np.int64), chosen, assume_unique=True))
    return ListedBatch(np.sort(chosen))


def repeated_batch(draws: int, population: int, entropy: Entropy) -> ListedBatch:
    """Draw independent uniform numbers 0, …, population - 1, some perhaps several times."""
    return ListedBatch(np.sort(uniform_numbers(whole("draws", draws, 1), population, entropy)))


def uniform_numbers(count: int, population: int, entropy: Entropy) -> Integers:
    """Independent uniform numbers below `population`.

    Guarantee: exactly uniform: words at or above the largest multiple of `population` are rejected.
    """
    limit = (1 << 63) // whole("population", population, 1, 1 << 62) * population
    found: list[Integers] = []
    missing = count
    while missing > 0:
        words = (entropy.words(missing) >> np.uint64(1)).astype(np.int64)
        found.append((words[words < limit] if limit < 1 << 63 else words) % population)
        missing -= len(found[-1])
    return np.concatenate(found) if found else np.empty(0, dtype=np.int64)


def random_places(count: int, places: int, entropy: Entropy) -> Integers:
    """Draw `count` distinct numbers below `places`, in random order.

    Guarantee: every injection has the same probability, exactly. So the law of the first k is that of k numbers drawn
    alone: whether one more is drawn does not change where the others are.
    """
    if whole("count", count, 0) > whole("places", places, 1):
        raise SettingError("There are fewer places than records.")
    while True:
        keys = entropy.words(places)
        order = np.argsort(keys, kind="stable")
        # Equal keys would favour the first of them; without any, all orders are equally likely.
        if bool((np.diff(keys[order]) != 0).all()):
            return order[:count].astype(np.int64)
