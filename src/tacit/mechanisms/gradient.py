"""Clipped gradient sums with exact Gaussian noise. Private: the store. Public: query and price.

Proof: proofs/mechanisms/gradient.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tacit.contract.query import Answer, GradientSum
from tacit.contract.sensitivity import LaplacePrice, Price
from tacit.losses.dispatch import shape_of
from tacit.losses.loss import Code
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.kernels import BALANCED, add_gradients, enforceable
from tacit.mechanisms.laplace_sum import laplace_sum, require_width
from tacit.mechanisms.person_kernels import add_person_class_gradients, add_person_gradients
from tacit.mechanisms.shortened_rows import shortened_gradients
from tacit.mechanisms.softmax_gradient import add_class_gradients
from tacit.noise.entropy import Entropy
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import Integers, dense_tiles, tile_parts

TILES_AT_ONCE = 32
BALANCEABLE = frozenset({Code.LOGISTIC, Code.PROBIT, Code.CLOGLOG})
"""Losses of two labels whose rows can be weighed by the larger slope of both."""


def integer_gradient_sum(query: GradientSum, bound: int, store: Store) -> Integers:
    """Sum of the records' (persons') integer vectors, each of norm at most `bound`. Private."""
    total = store.total(gradients, query, bound)
    return total if total.ndim == 1 else np.ascontiguousarray(total.T)


def gradients(layout: Layout, query: GradientSum, bound: int) -> BlockSum:
    """Integer gradients of a block for one linear predictor, or (class, width) for one a class."""
    limit = enforceable(bound, query.theta.size)
    # A slope is at most lipschitz, so rows beyond clip / lipschitz are the ones to weigh down.
    radius = query.clip / query.loss.lipschitz if query.downweighted else math.inf
    if query.balanced and query.loss.code in BALANCEABLE:
        radius = BALANCED
    clip = limit / query.clip, limit, radius
    if query.theta.ndim > 1:
        by_class = np.ascontiguousarray(query.theta.T, dtype=layout.dtype)

        def add_classes(block: Any, total: Integers) -> None:
            if layout.grouped:
                add_person_class_gradients(block, by_class, layout.weighted, clip, total.reshape(-1))
                return
            # Sparse records are written out a few at a time: this pass reads arrays of tiles alone.
            for part in tile_parts(block, TILES_AT_ONCE):
                tiles = dense_tiles(part, layout.width)
                add_class_gradients(tiles, by_class, layout.weighted, clip, total)

        return BlockSum(by_class.shape, add_classes)
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    loss, columns = (int(query.loss.code), shape_of(query.loss)), (layout.weighted, layout.shifted)
    if query.downweighted and query.shortened:
        return shortened_gradients(layout, theta, loss, columns, (*clip, query.loss.smoothness))
    kernel = add_person_gradients if layout.grouped else add_gradients

    def add(block: Any, total: Integers) -> None:
        kernel(block, theta, loss, columns, clip, total)

    return BlockSum(theta.shape, add)


def answer_gradient(query: GradientSum, price: Price | LaplacePrice, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of clipped gradients; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most 2·bound (replace-one) or bound (zero-out, add-remove) in L2 norm.
    - A subsampled sum and its noise are divided by the sampling rate; membership is secret.
    """
    if isinstance(price, LaplacePrice):
        require_width(price, query.theta.size)
    store, sampling_rate = store.subsampled(query.every)
    unit = enforceable(price.bound, query.theta.size) / query.clip * sampling_rate
    total = integer_gradient_sum(query, price.bound, store)
    if isinstance(price, LaplacePrice):
        return laplace_sum(total, unit, price, entropy)
    return noised_sum(total, unit, price, entropy)
