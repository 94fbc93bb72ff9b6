"""Measures of gradient norms, with exact Gaussian noise. Private: the store, the blocks.

Every record (or person) adds an integer in [0, bound]: how its gradient's norm lies to public
numbers. Proof: proofs/mechanisms/gradient_norms.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.compiling import compiled
from tacit.contract.query import Answer, GradientNorm, Measure
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.losses.dispatch import shape_of, slopes
from tacit.mechanisms import kernels
from tacit.mechanisms.counts import Ends, part_of, parts_of_means, residual_share
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.person_kernels import person_size, square_scores, sum_scores
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers


@compiled
def add_gradient_norms(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound, times the measure of w·weight·|slope|·‖z‖, times the weight.

    `how` are the loss's code and shape, the norm beyond which rows weigh less, and the measure.
    """
    width = theta.shape[0]
    (weighted, shifted), (code, shape, radius, measure, numbers) = has, how
    margin, square, slope = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        slopes(code, shape, margin, kernels.outcome_column(block, t, width, 0), slope)
        own = kernels.outcome_column(block, t, width, int(weighted))
        size = np.int64(0)
        for lane in range(LANES):
            weight = np.float64(own[lane]) if weighted else 1.0
            # Without what keeps it positive: rows of zeros, which fill up tiles, have norm 0.
            norm = math.sqrt(square[lane] - kernels.TINY)
            norm *= min(1.0, radius * radius / square[lane])
            norm = norm * abs(slope[lane]) * weight
            # What is not a number counts as 0, also in tiles that are filled up.
            norm = 0.0 if math.isnan(norm) else norm
            share = residual_share(0.0, norm, measure, numbers)
            size += part_of(float(bound), share * weight)
        total[0] += size


@compiled
def add_person_gradient_norms(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound, times the measure of a person's norm, times their mean weight."""
    (weighted, _), (code, shape, radius, measure, numbers) = has, how
    width = theta.shape[0]
    score, weight = np.empty((width, LANES)), np.empty(LANES)
    norm_sum, square_sum, square = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        sums = norm_sum, square_sum
        sum_scores(block, g, theta, (code, shape), has, False, score, sums)
        square_scores(score, square)
        weight[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                there = t - block.starts[g] < block.counts[g, lane]
                weight[lane] += (np.float64(own[lane]) if weighted else 1.0) if there else 0.0
        for lane in range(LANES):
            ratio = radius / person_size(radius, norm_sum[lane], square_sum[lane])
            norm = math.sqrt(square[lane] - kernels.TINY) * ratio * ratio
            weight[lane] *= residual_share(0.0, norm, measure, numbers)
        total[0] += parts_of_means(weight, block.counts[g], bound)


def gradient_norms(layout: Layout, query: GradientNorm, bound: int) -> BlockSum:
    """Integer measures of gradient norms of a block; zeros that fill up tiles are counted."""
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    if theta.ndim > 1:
        raise SettingError("The norms of gradients are asked for one linear predictor.")
    how = int(query.loss.code), shape_of(query.loss), float(query.row_bound), *_measure(query)
    kernel = add_person_gradient_norms if layout.grouped else add_gradient_norms

    def add(block: Any, total: Integers) -> None:
        kernel(block, theta, (layout.weighted, layout.shifted), how, bound, total)

    return BlockSum((1,), add)


def _measure(query: GradientNorm) -> tuple[int, Ends]:
    """The measure and its public numbers, as the compiler takes them."""
    measure = list(Measure).index(query.measure)
    return measure, (0.0, 0.0, float(query.start), float(query.cap), 0.0)


def integer_gradient_norms(query: GradientNorm, bound: int, store: Store) -> Integers:
    """Sum of the records' integers, each within 0 and `bound`. Private."""
    share = residual_share(0.0, 0.0, *_measure(query))
    filled_up = store.padding * part_of(float(bound), share)
    return store.total(gradient_norms, query, bound) - filled_up


def answer_gradient_norm(query: GradientNorm, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of a measure of gradient norms; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most the bound.
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly.
    - The integers are the same for any block size, thread count or order of the records.
    """
    total = integer_gradient_norms(query, price.bound, store)
    return noised_sum(total, price.bound, price, entropy)
