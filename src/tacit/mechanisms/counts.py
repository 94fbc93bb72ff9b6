"""Counts, and measures of residuals and of gradient norms, with exact Gaussian noise. Private: the store, the blocks.

Every record (or person, by the mean over their records) adds to each of k sums an integer in
[0, bound]. Proof: proofs/mechanisms/counts.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.contract.query import Answer, ColumnCounts, GradientNorm, Measure, ResidualSize
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import shape_of, slopes
from tacit.losses.float_bits import exp_negative, log_one_plus
from tacit.mechanisms import kernels
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.person_kernels import mean_scores, person_size, square_scores
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers, outcome_tiles, written_out

TILES_AT_ONCE = 32
Ends = tuple[float, float, float, float, float]
Ranges = tuple[Integers, Floats, Floats]
"""Columns, and the lower and upper ends within which they are counted."""
SIZE, WITHIN, SHARE, DISPERSION, TILT, SQUARE, FOURTH, CROSS, LOG_LOSS, SQUARED_LOG_LOSS, LABEL_TILT = range(11)
"""`Measure` of residuals in their order, as the compiler takes them."""


@compiled
def part_of(bound: float, share: float) -> int:
    """Integer nearest to bound·share, clipped into [0, bound]; 0 if share is not a number."""
    part = np.rint(bound * share)
    if not part > 0.0:
        return 0
    return int(min(part, bound))


@compiled
def label_measure(margin: float, label: float, measure: int, start: float, cap: float) -> float:
    """Log-loss of a label in units of the cap, that squared, or the label's tilt as a share of the way to its ends."""
    less = exp_negative(-abs(margin))
    if measure == LABEL_TILT:
        # The chance of the likelier label; a lever that is short enough for both labels.
        most = 1.0 / (1.0 + less)
        longest = cap / most
        lever = min(max(margin - start, -longest), longest)
        return 0.5 + (label - (most if margin >= 0.0 else less * most)) * lever / (2.0 * cap)
    share = (log_one_plus(less) + max(margin, 0.0) - label * margin) / cap
    return share * share if measure == SQUARED_LOG_LOSS else share


@compiled
def residual_share(margin: float, label: float, measure: int, numbers: Ends) -> float:
    """Measure of a residual, within 0 and 1; 0 if it is not a number.

    `numbers` are the ends that the margin is kept within, start, cap, and e^highest where the
    prediction is the exponential of the margin, else 0.
    """
    lowest, highest, start, cap, largest = numbers
    prediction = min(max(margin, lowest), highest)
    if largest > 0.0:
        # e^(p - highest)·e^highest: the compiled exponential takes no positive argument.
        prediction = exp_negative(prediction - highest) * largest
    gap = label - prediction
    if measure == WITHIN:
        return 1.0 if (start < gap) & (gap <= start + cap) else 0.0
    share = abs(gap) / cap
    if measure == SHARE:
        share = (gap - start) / cap
    elif measure == DISPERSION:
        share = gap * gap / (max(1.0, prediction) * cap)
    elif measure == TILT:
        share = 0.5 + gap * (prediction - start) / (2.0 * cap)
    elif measure == SQUARE:
        share = share * share
    elif measure == FOURTH:
        share = (share * share) * (share * share)
    elif measure == CROSS:
        other = (label - start) / cap
        share = (share * share) * (other * other)
    elif measure >= LOG_LOSS:
        share = label_measure(prediction, label, measure, start, cap)
    return min(share, 1.0) if share >= 0.0 else 0.0


@compiled
def add_counts(tiles: NDArray[Any], ranges: Ranges, width: int, weighted: bool, bound: int, total: Integers) -> None:
    """Add to total[k] the bound, times the record's weight, where lower < column ≤ upper."""
    columns, lower, upper = ranges
    entry = np.full(LANES, bound, dtype=np.int64)
    for t in range(tiles.shape[0]):
        if weighted:
            for lane in range(LANES):
                entry[lane] = part_of(float(bound), np.float64(tiles[t, width + 1, lane]))
        for k in range(columns.shape[0]):
            column = tiles[t, columns[k]]
            low, high = lower[k], upper[k]
            inside = np.int64(0)
            for lane in range(LANES):
                value = np.float64(column[lane])
                # Not a number is inside of nothing.
                inside += entry[lane] if (low < value) & (value <= high) else np.int64(0)
            total[k] += inside


@compiled
def add_residual_sizes(block: Any, theta: Floats, has: Any, how: tuple[int, Ends], bound: int, total: Integers) -> None:
    """Add to total[0] the bound, times the record's measure, times its weight."""
    width = theta.shape[0]
    (weighted, shifted), (measure, numbers) = has, how
    margin, square = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        for lane in range(LANES):
            y = np.float64(label[lane])
            margin[lane] = residual_share(margin[lane], y, measure, numbers)
        if weighted:
            weight = kernels.outcome_column(block, t, width, 1)
            for lane in range(LANES):
                margin[lane] *= np.float64(weight[lane])
        size = np.int64(0)
        for lane in range(LANES):
            size += part_of(float(bound), margin[lane])
        total[0] += size


@compiled
def add_person_counts(block: Any, ranges: Ranges, width: int, weighted: bool, bound: int, total: Integers) -> None:
    """Add to total[k] the bound times the mean weight of a person's records within the ends."""
    columns, lower, upper = ranges
    share = np.empty(LANES)
    for g in range(block.counts.shape[0]):
        for k in range(columns.shape[0]):
            share[:] = 0.0
            for t in range(block.starts[g], block.starts[g + 1]):
                column = block.tiles[t, columns[k]]
                own = kernels.outcome_column(block.tiles, t, width, int(weighted))
                for lane in range(LANES):
                    value = np.float64(column[lane])
                    there = t - block.starts[g] < block.counts[g, lane]
                    # Not a number is inside of nothing.
                    inside = there & (lower[k] < value) & (value <= upper[k])
                    weight = np.float64(own[lane]) if weighted else 1.0
                    share[lane] += weight if inside else 0.0
            total[k] += parts_of_means(share, block.counts[g], bound)


@compiled
def add_person_residual_sizes(
    block: Any, theta: Floats, has: Any, how: tuple[int, Ends], bound: int, total: Integers
) -> None:
    """Add to total[0] the bound times a person's mean of measure times weight."""
    width = theta.shape[0]
    (weighted, shifted), (measure, numbers) = has, how
    margin, square, share = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        share[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            kernels.measure_records(block.tiles, t, theta, weighted, shifted, margin, square)
            label = kernels.outcome_column(block.tiles, t, width, 0)
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                size = residual_share(margin[lane], np.float64(label[lane]), measure, numbers)
                weight = np.float64(own[lane]) if weighted else 1.0
                there = t - block.starts[g] < block.counts[g, lane]
                share[lane] += size * weight if there else 0.0
        total[0] += parts_of_means(share, block.counts[g], bound)


@numba.njit(nogil=True, error_model="numpy")
def parts_of_means(share: Floats, counts: Integers, bound: int) -> np.int64:
    """Sum of a group's integers; a lane without records has a share of 0."""
    parts = np.int64(0)
    for lane in range(LANES):
        parts += part_of(float(bound), share[lane] / max(counts[lane], 1))
    return parts


@compiled
def add_gradient_norms(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound, times the measure of w·weight·|slope|·‖z‖, times the weight.

    `how` are the loss's code and shape, the norm beyond which rows weigh less, whether they are only shortened to it,
    and the measure.
    """
    width = theta.shape[0]
    (weighted, shifted), (code, shape, radius, shortened, measure, numbers) = has, how
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
            kept = min(1.0, radius * radius / square[lane])
            norm *= math.sqrt(kept) if shortened else kept
            norm = norm * abs(slope[lane]) * weight
            # What is not a number counts as 0, also in tiles that are filled up.
            norm = 0.0 if math.isnan(norm) else norm
            share = residual_share(0.0, norm, measure, numbers)
            size += part_of(float(bound), share * weight)
        total[0] += size


@compiled
def add_person_gradient_norms(block: Any, theta: Floats, has: Any, how: Any, bound: int, total: Integers) -> None:
    """Add to total[0] the bound, times the measure of a person's norm, times their mean weight."""
    (weighted, _), (code, shape, radius, shortened, measure, numbers) = has, how
    width = theta.shape[0]
    score, weight = np.empty((width, LANES)), np.empty(LANES)
    mean_square, square = np.empty(LANES), np.empty(LANES)
    for g in range(block.counts.shape[0]):
        mean_scores(block, g, theta, (code, shape), has, False, score, mean_square)
        square_scores(score, square)
        weight[:] = 0.0
        for t in range(block.starts[g], block.starts[g + 1]):
            own = kernels.outcome_column(block.tiles, t, width, int(weighted))
            for lane in range(LANES):
                there = t - block.starts[g] < block.counts[g, lane]
                weight[lane] += (np.float64(own[lane]) if weighted else 1.0) if there else 0.0
        for lane in range(LANES):
            ratio = radius / person_size(radius, mean_square[lane])
            norm = math.sqrt(square[lane] - kernels.TINY) * ratio * (1.0 if shortened else ratio)
            weight[lane] *= residual_share(0.0, norm, measure, numbers)
        total[0] += parts_of_means(weight, block.counts[g], bound)


def integer_counts(query: ColumnCounts, bound: int, store: Store) -> Integers:
    """Sum of the records' integers, each 0 or `bound` (times a weight). Private."""
    # Zero records that fill up tiles were counted.
    zero_inside = (np.less(query.lower, 0.0) & np.greater_equal(query.upper, 0.0)).astype(np.int64)
    total, padding = store.padded_total(column_counts, query, bound)
    return total - zero_inside * (padding * bound)


def column_counts(layout: Layout, query: ColumnCounts, bound: int) -> BlockSum:
    """Integer counts of the records or persons of a block."""
    width, weighted = layout.width, layout.weighted
    columns = np.array(query.columns, dtype=np.int64)
    lower, upper = (np.ascontiguousarray(ends, dtype=np.float64) for ends in (query.lower, query.upper))
    if not ((columns >= 0) & (columns <= width)).all():
        raise SettingError("Features and the response are counted, and no other column.")
    features = not (columns == width).all()

    def add(block: Any, total: Integers) -> None:
        if layout.grouped:
            add_person_counts(block, (columns, lower, upper), width, weighted, bound, total)
        elif features:
            # Zeros that are not stored count too.
            for tiles in written_out(block, TILES_AT_ONCE, width):
                add_counts(tiles, (columns, lower, upper), width, weighted, bound, total)
        else:
            tiles, first = outcome_tiles(block, width)
            add_counts(tiles, (columns - width + first, lower, upper), first, weighted, bound, total)

    return BlockSum(columns.shape, add)


def integer_measures(query: ResidualSize | GradientNorm, bound: int, store: Store) -> Integers:
    """Sum of the records' integers, each within 0 and `bound`. Private."""
    # Zero records that fill up tiles were counted.
    total, padding = store.padded_total(measures, query, bound)
    return total - padding * part_of(float(bound), residual_share(0.0, 0.0, *measure_of(query)))


def measure_of(query: ResidualSize | GradientNorm) -> tuple[int, Ends]:
    """The measure and its numbers, as `residual_share` takes them."""
    code, start, cap = list(Measure).index(query.measure), float(query.start), float(query.cap)
    if isinstance(query, GradientNorm):
        return code, (0.0, 0.0, start, cap, 0.0)
    largest = math.exp(min(query.highest, 700.0)) if query.exponential else 0.0
    return code, (float(query.lowest), float(query.highest), start, cap, largest)


def measures(layout: Layout, query: ResidualSize | GradientNorm, bound: int) -> BlockSum:
    """Integer measures of the records or persons of a block."""
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    if theta.ndim > 1:
        raise SettingError("Residuals and norms of gradients are measured for one linear predictor.")
    how: tuple[Any, ...] = measure_of(query)
    if isinstance(query, ResidualSize):
        kernel = add_person_residual_sizes if layout.grouped else add_residual_sizes
    else:
        how = int(query.loss.code), shape_of(query.loss), float(query.row_bound), bool(query.shortened), *how
        kernel = add_person_gradient_norms if layout.grouped else add_gradient_norms

    def add(block: Any, total: Integers) -> None:
        kernel(block, theta, (layout.weighted, layout.shifted), how, bound, total)

    return BlockSum((1,), add)


def answer_counts(
    query: ColumnCounts | ResidualSize | GradientNorm, price: Price, store: Store, entropy: Entropy | None
) -> Answer:
    """Noised counts, or the noised sum of a measure in units of its cap; without entropy the sums alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most the bound, in each of the k counts.
    - A subsampled sum and its noise are divided by the sampling rate; membership is secret.
    """
    if isinstance(query, ColumnCounts):
        return noised_sum(integer_counts(query, price.bound, store), price.bound, price, entropy)
    store, sampling_rate = store.subsampled(query.every if isinstance(query, ResidualSize) else 1)
    return noised_sum(integer_measures(query, price.bound, store), price.bound * sampling_rate, price, entropy)
