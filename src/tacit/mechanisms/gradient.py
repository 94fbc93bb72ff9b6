"""Clipped gradient sums with exact Gaussian noise. Private: the store. Public: query and price.

A record's gradient in a joint softmax model is z (p - e_y)', a matrix (width, class) of norm
‖z‖·‖p - e_y‖ ≤ √2‖z‖, clipped as a whole: one model and one charge, not one a class.
Proof: proofs/mechanisms/gradient.md.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.contract.query import Answer, GradientSum
from tacit.contract.sensitivity import Price
from tacit.losses.dispatch import shape_of
from tacit.losses.float_bits import MAGIC, MAGIC_BITS, float_to_bits
from tacit.losses.loss import Code
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.kernels import BALANCED, TINY, add_gradients, class_residuals, enforceable
from tacit.mechanisms.person_kernels import add_person_class_gradients, add_person_gradients
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import LANES, Floats, Integers, combine, dense_tiles, tile_parts

TILES_AT_ONCE = 32


def integer_gradient_sum(query: GradientSum, bound: int, store: Store) -> Integers:
    """Sum of the records' (persons') integer vectors, each of norm at most `bound`. Private."""
    layout = store.layout
    limit = enforceable(bound, query.theta.size)
    scale = limit / query.clip
    if query.theta.ndim > 1:
        by_class = np.ascontiguousarray(query.theta.T, dtype=layout.dtype)

        def add_classes(block: Any, total: Integers) -> None:
            if layout.grouped:
                add_person_class_gradients(block, by_class, layout.weighted, scale, limit, total.reshape(-1))
                return
            # Sparse records are written out a few at a time: this pass reads arrays of tiles alone.
            for part in tile_parts(block, TILES_AT_ONCE):
                tiles = dense_tiles(part, layout.width)
                add_class_gradients(tiles, by_class, layout.weighted, scale, limit, total)

        return np.ascontiguousarray(store.total(by_class.shape, add_classes).T)
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    loss, columns = (int(query.loss.code), shape_of(query.loss)), (layout.weighted, layout.shifted)
    # A slope is at most lipschitz, so rows beyond clip / lipschitz are the ones to weigh down.
    radius = query.clip / query.loss.lipschitz if query.downweighted else math.inf
    if query.balanced and query.loss.code is Code.LOGISTIC:
        radius = BALANCED
    kernel = add_person_gradients if layout.grouped else add_gradients

    def add(block: Any, total: Integers) -> None:
        kernel(block, theta, loss, columns, (scale, limit, radius), total)

    return store.total(theta.shape, add)


def answer_gradient(query: GradientSum, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of clipped gradients; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most 2·bound (replace-one) or bound (zero-out,
      add-remove) in L2 norm.
    - A subsampled sum and its noise are divided by the sampling rate; membership is secret.
    """
    store, sampling_rate = store.subsampled(query.every)
    unit = enforceable(price.bound, query.theta.size) / query.clip * sampling_rate
    return noised_sum(integer_gradient_sum(query, price.bound, store), unit, price, entropy)


@compiled
def add_class_gradients(
    tiles: NDArray[Any], theta: NDArray[Any], weighted: bool, scale: float, limit: float, total: Integers
) -> None:
    """Add rint(c_k z_j) of every record to `total`, c = weight·(p - e_y)·scale, ‖c‖‖z‖ ≤ limit.

    `theta` and `total` are (class, width); theta and so the margins are of the tiles' type.
    """
    classes, width = theta.shape
    margins, pair = np.empty((classes, LANES), dtype=theta.dtype), np.empty((2, LANES), dtype=theta.dtype)
    firsts = np.zeros(classes, dtype=np.int64)
    factors = np.empty((classes, LANES))
    square = np.empty(LANES)
    features = np.empty((width, LANES))
    for t in range(tiles.shape[0]):
        _read(tiles[t], features, square)
        combine(tiles[t], theta.T, firsts, pair, margins)
        class_residuals(margins, tiles[t, width], factors)
        if weighted:
            for k in range(classes):
                for lane in range(LANES):
                    factors[k, lane] *= np.float64(tiles[t, width + 1, lane])
        _limit(factors, square, scale, limit)
        _add(factors, features, total)


@numba.njit(nogil=True, error_model="numpy")
def _read(tile: NDArray[Any], features: Floats, square: Floats) -> None:
    for lane in range(LANES):
        square[lane] = TINY
    for j in range(features.shape[0]):
        for lane in range(LANES):
            z = np.float64(tile[j, lane])
            features[j, lane] = z
            square[lane] += z * z
    for lane in range(LANES):
        if not square[lane] < math.inf:
            # No store holds such a record; here it adds nothing.
            for j in range(features.shape[0]):
                features[j, lane] = 0.0


@numba.njit(nogil=True, error_model="numpy")
def _add(factors: Floats, features: Floats, total: Integers) -> None:
    """Add a tile's integers, four columns at a time for speed; integer sums know no order."""
    classes, width = total.shape
    fours = width - width % 4
    for j in range(0, fours, 4):
        for k in range(classes):
            one, two, three, four = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for lane in range(LANES):
                factor = factors[k, lane]
                one += float_to_bits(factor * features[j, lane] + MAGIC)
                two += float_to_bits(factor * features[j + 1, lane] + MAGIC)
                three += float_to_bits(factor * features[j + 2, lane] + MAGIC)
                four += float_to_bits(factor * features[j + 3, lane] + MAGIC)
            total[k, j] += one - LANES * MAGIC_BITS
            total[k, j + 1] += two - LANES * MAGIC_BITS
            total[k, j + 2] += three - LANES * MAGIC_BITS
            total[k, j + 3] += four - LANES * MAGIC_BITS
    for j in range(fours, width):
        for k in range(classes):
            one = np.int64(0)
            for lane in range(LANES):
                one += float_to_bits(factors[k, lane] * features[j, lane] + MAGIC)
            total[k, j] += one - LANES * MAGIC_BITS


@numba.njit(nogil=True, error_model="numpy")
def _limit(factors: Floats, square: Floats, scale: float, limit: float) -> None:
    """Scale residuals, and shrink those of a record whose gradient would exceed the limit."""
    classes = factors.shape[0]
    norm = np.full(LANES, TINY)
    for k in range(classes):
        for lane in range(LANES):
            norm[lane] += factors[k, lane] * factors[k, lane]
    for lane in range(LANES):
        largest = limit / (math.sqrt(norm[lane]) * math.sqrt(square[lane]))
        # Written so that a factor is 0 where norm or limit is not a number.
        norm[lane] = scale if scale <= largest else (largest if scale > largest else 0.0)
    for k in range(classes):
        for lane in range(LANES):
            value = factors[k, lane] * norm[lane]
            factors[k, lane] = 0.0 if math.isnan(value) else value
