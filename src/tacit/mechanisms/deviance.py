"""The sum of clipped unit deviances and the count of its records, with exact Gaussian noise. Private: the store.

Every record (or person, by the mean over their records) adds two integers in [0, bound]: of its deviance, and of its
weight. A row of zeros, which an invalid record is and which fills up tiles, adds 0 to both.
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
def weight_of(square: float, weight: float) -> float:
    """Return a record's weight; 0 for a row of zeros, by its squared norm, and for one that is not a number."""
    return weight if square > kernels.TINY else 0.0


@compiled
def add_deviances(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound times the share of a record's deviance times its weight, to total[1] without share."""
    width = theta.shape[0]
    (weighted, shifted), (code, numbers, cap) = has, how
    margin, square = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        own = kernels.outcome_column(block, t, width, int(weighted))
        size, count = np.int64(0), np.int64(0)
        for lane in range(LANES):
            weight = weight_of(square[lane], np.float64(own[lane]) if weighted else 1.0)
            share = deviance_share(margin[lane], np.float64(label[lane]), code, numbers, cap)
            size += part_of(float(bound), share * weight)
            count += part_of(float(bound), weight)
        total[0] += size
        total[1] += count


@compiled
def add_person_deviances(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound times a person's mean of share times weight, to total[1] times that of the weight."""
    width = theta.shape[0]
    (weighted, shifted), (code, numbers, cap) = has, how
    margin, square = np.empty(LANES), np.empty(LANES)
    share, count = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        share[:], count[:] = 0.0, 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            kernels.measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            label = kernels.outcome_column(block.tiles, t, width, 0)
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                weight = weight_of(square[lane], np.float64(own[lane]) if weighted else 1.0)
                weight = weight if t - block.starts[g] < block.counts[g, lane] else 0.0
                share[lane] += weight * deviance_share(margin[lane], np.float64(label[lane]), code, numbers, cap)
                count[lane] += weight
        total[0] += parts_of_means(share, block.counts[g], bound)
        total[1] += parts_of_means(count, block.counts[g], bound)


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

    return BlockSum((query.size,), add)


def integer_deviances(query: DevianceSum, bound: int, store: Store) -> Integers:
    """Two sums of the records' integers, each within 0 and `bound`. Private."""
    # Zero records that fill up tiles add nothing.
    return store.total(deviances, query, bound)


def answer_deviance(query: DevianceSum, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of clipped deviances in units of the cap, and count; without entropy the sums alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most the bound, in each of the two.
    """
    return noised_sum(integer_deviances(query, price.bound, store), price.bound, price, entropy)
