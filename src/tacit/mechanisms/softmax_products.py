"""Gradient sums of a joint softmax model over wide rows, by matrix products that are exact. Private: the rows.

A record's gradient is a z', with a near (p - e_y) shrunk to the clip, a and z whole numbers, ‖a‖ ≤ A and ‖z‖ ≤ R. Its
norm is ‖a‖·‖z‖, so no gradient of a record is ever formed. Margins z·θ and sums of a z' are products in float32 whose
partial sums are whole numbers below 2^24; a block where that cannot be shown is multiplied in float64.

Proof: proofs/mechanisms/softmax_products.md.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tacit.contract.grouped_query import MappedGradient
from tacit.contract.query import Answer
from tacit.contract.sensitivity import Price
from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.losses.float_bits import exp_negative
from tacit.mechanisms.channel_moments import EXACT, multiple_of
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import Entropy
from tacit.rows.storage.grouped_rows import BLOCK, ROW_NORM, Integers, MappedRows, blocks_of, summed

RESIDUAL_NORM = 63
"""A: largest norm of a record's integer residual. Its rounding is far below the noise, and products stay below 2^24."""
THETA_NORM = 2047
"""Largest norm of the integer coefficients of a class; times ROW_NORM it is below 2^24."""


def rounded_theta(theta: NDArray[np.float64]) -> tuple[NDArray[np.float32], float]:
    """(width, class) whole numbers with columns of norm at most THETA_NORM, and the unit of a product with rows."""
    largest = math.sqrt(float((theta**2).sum(axis=0).max()))
    target = THETA_NORM - math.sqrt(len(theta)) / 2 - 1
    # Squares of numbers below 1e-154 vanish, and such coefficients move no margin.
    scale = target / largest if largest > 1e-140 else 0.0
    return np.rint(theta * scale).astype(np.float32), (1 / (scale * ROW_NORM) if scale > 0.0 else 0.0)


@compiled
def _residuals(
    margins: NDArray[np.float32], labels: NDArray[np.int16], unit: float, clip: float, out: NDArray[np.float32]
) -> None:
    """Write whole numbers near (p - e_y)·min(1, clip / ‖p - e_y‖) in units in which the clip is `RESIDUAL_NORM`."""
    count, classes = margins.shape
    chance = np.empty(classes)
    target = RESIDUAL_NORM - math.sqrt(float(classes)) / 2 - 0.01
    for i in range(count):
        largest = -math.inf
        for k in range(classes):
            largest = max(largest, np.float64(margins[i, k]))
        total = 0.0
        for k in range(classes):
            chance[k] = exp_negative((np.float64(margins[i, k]) - largest) * unit)
            total += chance[k]
        square = 0.0
        for k in range(classes):
            chance[k] = chance[k] / total - (1.0 if labels[i] == k else 0.0)
            square += chance[k] * chance[k]
        scale = target / max(math.sqrt(square), clip)
        # Sums of whole numbers in float64: exact below 2^53, never too small above, and NaN for what is no number.
        size = 0.0
        for k in range(classes):
            value = np.rint(chance[k] * scale)
            out[i, k] = value
            size += value * value
        # None is longer, but the bound rests on this check alone.
        if not size <= RESIDUAL_NORM * RESIDUAL_NORM:
            out[i] = 0.0


def residual_unit(classes: int) -> float:
    """What a residual of the clip's norm is in whole numbers."""
    return RESIDUAL_NORM - math.sqrt(float(classes)) / 2 - 0.01


def integer_gradients(query: MappedGradient, rows: MappedRows) -> Integers:
    """Sum (class, width) of the records' integer gradients, each of norm at most A·R. Private."""
    theta, unit = rounded_theta(query.theta)
    classes = theta.shape[1]

    def add(block: slice, total: Integers) -> None:
        values = rows.rows[block]
        residuals = np.empty((len(values), classes), dtype=np.float32)
        _residuals(values @ theta, rows.labels[block], unit, query.clip, residuals)
        # Σ |a_k z_j| ≤ √(Σ a_k²)·√(Σ z_j²), also over any part of the block.
        square = float(np.square(residuals, dtype=np.float64).sum(axis=0).max())
        if square * rows.largest[block.start // BLOCK] < EXACT**2:
            total += (residuals.T @ values).astype(np.int64)
        else:
            total += (residuals.T.astype(np.float64) @ values).astype(np.int64)

    return summed(theta.shape[::-1], blocks_of(len(rows.labels)), add)


def answer_mapped_gradient(query: MappedGradient, price: Price, rows: MappedRows, entropy: Entropy | None) -> Answer:
    """Noised sum of clipped gradients, (width, class).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most 2·bound (replace-one) or bound (zero-out) in L2 norm.
    - The integers are the same for any block size, number of threads and library of matrix products.
    """
    if query.theta.ndim != 2 or len(query.theta) != rows.rows.shape[1]:
        raise SettingError("theta must have a row for each number of a mapped row, and a column for each class.")
    times = multiple_of(price, RESIDUAL_NORM * ROW_NORM)
    unit = times * residual_unit(query.theta.shape[1]) * ROW_NORM / query.clip
    total = np.ascontiguousarray(integer_gradients(query, rows).T)
    return noised_sum(times * total, unit, price, entropy)
