"""The sum of clipped unit deviances, with exact Gaussian noise. Private: the store, the blocks.

Every record (or person, by the mean over their records) adds an integer in [0, bound].
Proof: proofs/mechanisms/deviance.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.contract.deviance_query import DevianceSum
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.kernel_compilation import compiled
from tacit.losses.deviances import numbers_of, unit_deviance
from tacit.mechanisms import kernels
from tacit.mechanisms.counts import part_of, parts_of_means
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers


@compiled
def deviance_share(margin: float, label: float, code: int, numbers: Any, cap: float) -> float:
    """Return min(d / cap, 1) of a record's unit deviance d; 0 if it is below 0 or not a number."""
    share = unit_deviance(code, margin, label, numbers) / cap
    return min(share, 1.0) if share >= 0.0 else 0.0


@compiled
def add_deviances(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound, times the share of a record's deviance, times its weight."""
    width = theta.shape[0]
    (weighted, shifted), (code, numbers, cap) = has, how
    margin, square = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        own = kernels.outcome_column(block, t, width, int(weighted))
        size = np.int64(0)
        for lane in range(LANES):
            share = deviance_share(margin[lane], np.float64(label[lane]), code, numbers, cap)
            size += part_of(float(bound), share * (np.float64(own[lane]) if weighted else 1.0))
        total[0] += size


@compiled
def add_person_deviances(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound times a person's mean of share times weight."""
    width = theta.shape[0]
    (weighted, shifted), (code, numbers, cap) = has, how
    margin, square, share = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        share[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            kernels.measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            label = kernels.outcome_column(block.tiles, t, width, 0)
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                part = deviance_share(margin[lane], np.float64(label[lane]), code, numbers, cap)
                part *= np.float64(own[lane]) if weighted else 1.0
                share[lane] += part if t - block.starts[g] < block.counts[g, lane] else 0.0
        total[0] += parts_of_means(share, block.counts[g], bound)


def how_of(query: DevianceSum) -> tuple[int, tuple[float, float, float], float]:
    """The code, its numbers and the cap, as `deviance_share` takes them."""
    code = query.loss.code
    return int(code), numbers_of(code, query.loss.shape), float(query.cap)


def deviances(layout: Layout, query: DevianceSum, bound: int) -> BlockSum:
    """Integer deviances of the records or persons of a block."""
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    how = how_of(query)
    kernel = add_person_deviances if layout.grouped else add_deviances

    def add(block: Any, total: Integers) -> None:
        kernel(block, theta, (layout.weighted, layout.shifted), how, bound, total)

    return BlockSum((1,), add)


def integer_deviances(query: DevianceSum, bound: int, store: Store) -> Integers:
    """Sum of the records' integers, each within 0 and `bound`. Private."""
    # Zero records that fill up tiles were added.
    total, padding = store.padded_total(deviances, query, bound)
    return total - padding * part_of(float(bound), deviance_share(0.0, 0.0, *how_of(query)))


def answer_deviance(query: DevianceSum, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of clipped deviances in units of the cap; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most the bound.
    """
    return noised_sum(integer_deviances(query, price.bound, store), price.bound, price, entropy)
