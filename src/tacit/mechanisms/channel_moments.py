"""Sums and channel second moments of grouped integer rows, with exact Gaussian noise. Private: the rows.

A record's matrix Σ_p b_p b_p' over positions is bounded in Frobenius norm, which is that of the small matrix of
products between positions: it is less than the trace ‖b‖², and cheap. Proof: proofs/mechanisms/channel_moments.md.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tacit.contract.grouped_query import ChannelMoments, GroupSum
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy
from tacit.rows.storage.grouped_rows import UNIT, GroupedRows, Integers, blocks_of, summed

FROBENIUS = 1 << 20
"""Bound on the Frobenius norm of a record's integer matrix. Products are then whole numbers far below 2^24."""
EXACT = 1 << 24
"""Whole numbers below it are exact in float32."""
SLACK = 1 - 2.0**-8
"""A matrix that is shrunk is aimed so far below the bound, for what rounding may add."""
RECORDS = 64
"""Records at once: their rows stay in the cache."""
MOST_POSITIONS = 1 << 12
"""Those of the largest image. Squares of so many products have a sum below 2^60."""
UNBOUNDED = 1 << 61
"""Sums of squares from here on count as this one: 64 bits would wrap, and come out small."""

Rows = NDArray[np.float32]


def multiple_of(price: Price, bound: int) -> int:
    """How often a sum of integers of norm at most `bound` fits the bound that the price assumes."""
    if price.bound < bound:
        raise SettingError("The price is for a coarser lattice than that of the rows.")
    return price.bound // bound


def integer_sum(rows: GroupedRows, group: int) -> Integers:
    """Sum of the rows of a group, each of norm at most UNIT. Private."""
    values = rows.groups[group]

    def add(block: slice, total: Integers) -> None:
        # At most 1024 entries of at most 2^14.
        total += values[block].sum(axis=0, dtype=np.int32)

    return summed(values.shape[1:], blocks_of(rows.length, 1024), add)


def answer_group_sum(query: GroupSum, price: Price, rows: GroupedRows, entropy: Entropy | None) -> Answer:
    """Noised sum of the rows of a group, in units in which a row has norm at most 1.

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most 2·bound (replace-one) or bound (zero-out) in L2 norm.
    """
    times = multiple_of(price, UNIT)
    return noised_sum(times * integer_sum(rows, query.group), float(times * UNIT), price, entropy)


@compiled
def _frobenius(products: Rows, squares: NDArray[np.int64]) -> None:
    """Add the squares of each record's products, or make its sum negative where a product may not be exact.

    The sum is that of whole numbers below `UNBOUNDED`, and `UNBOUNDED` from there on: its order does not matter.
    """
    count, positions, _ = products.shape
    for i in range(count):
        total, exact = np.int64(0), squares[i] >= 0
        for p in range(positions):
            # The computed diagonal is below 2^24 where the true one is; all others are smaller.
            exact = exact and products[i, p, p] < EXACT
        if exact:
            for p in range(positions):
                row = np.int64(0)
                for q in range(positions):
                    entry = np.int64(products[i, p, q])
                    row += entry * entry
                total = min(total + row, np.int64(UNBOUNDED))
        squares[i] = min(squares[i] + total, np.int64(UNBOUNDED)) if exact else -1


def _squared_norms(rows: Rows, ends: tuple[int, ...]) -> NDArray[np.int64]:
    """Squared Frobenius norm of each record's blocks; negative where it is far above any bound."""
    squares = np.zeros(len(rows), dtype=np.int64)
    for first, last in pairwise(ends):
        block = rows[:, first:last]
        _frobenius(np.matmul(block.transpose(0, 2, 1), block), squares)
    return squares


def bounded_rows(rows: NDArray[np.int16], centre: Rows, scale: float, ends: tuple[int, ...]) -> Rows:
    """Whole numbers b near scale·(x - centre) whose blocks of b b' have Frobenius norm at most FROBENIUS.

    Guarantee: the bound holds because it is checked on the integers, by exact products; a record that fails it after
    being shrunk three times becomes zero.
    """
    found: Rows = np.rint((rows - centre) * np.float32(scale))
    for slack in (SLACK, 0.75, 0.5):
        squares = _squared_norms(found, ends)
        over = (squares < 0) | (squares > FROBENIUS**2)
        if not over.any():
            return found
        # Where the norm is not known the record is far out: a sixteenth of it is not.
        factors = np.full(len(found), 1 / 16)
        known = over & (squares > 0)
        factors[known] = np.sqrt(slack * FROBENIUS / np.sqrt(squares[known].astype(np.float64)))
        found[over] = np.rint(found[over] * factors[over].astype(np.float32)[:, None, None])
    squares = _squared_norms(found, ends)
    found[(squares < 0) | (squares > FROBENIUS**2)] = 0.0
    return found


def integer_moments(query: ChannelMoments, rows: GroupedRows) -> tuple[Integers, float]:
    """Sum of the records' integer matrices, each of Frobenius norm at most FROBENIUS; and their unit. Private."""
    values = rows.groups[query.group]
    channels = values.shape[1]
    if query.mean.shape != values.shape[1:] or query.ends[0] != 0 or query.ends[-1] != channels:
        raise SettingError("The mean, or the blocks of channels, are not those of this group.")
    if values.shape[2] > MOST_POSITIONS:
        raise SettingError(f"Second moments are pooled over at most {MOST_POSITIONS} positions.")
    centre = np.clip(np.rint(query.mean * UNIT), -(1 << 15), 1 << 15).astype(np.float32)
    scale = float(np.float32(math.sqrt(FROBENIUS / query.clip) / UNIT))

    def add(block: slice, total: Integers) -> None:
        found = bounded_rows(values[block], centre, scale, query.ends)
        columns = found.transpose(1, 0, 2).reshape(channels, -1).astype(np.float64)
        for first, last in pairwise(query.ends):
            # Partial sums are whole numbers, below 64·2^24 in size: float64 holds them.
            part = columns[first:last]
            total[first:last, first:last] += (part @ part.T).astype(np.int64)

    return summed((channels, channels), blocks_of(rows.length, RECORDS), add), (scale * UNIT) ** 2


def answer_channel_moments(query: ChannelMoments, price: Price, rows: GroupedRows, entropy: Entropy | None) -> Answer:
    """Noised sum of channel second moments. Off the blocks there is noise alone.

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most √2·bound (replace-one) or bound (zero-out) in Frobenius norm.
    """
    times = multiple_of(price, FROBENIUS)
    total, unit = integer_moments(query, rows)
    return noised_sum(times * total, times * unit, price, entropy, symmetric=True)
