"""Clipped gradient sums with exact Gaussian noise. Private: the store. Public: query and price.

Proof: proofs/mechanisms/gradient.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.contract.query import Answer, GradientSum
from tacit.contract.sensitivity import Price
from tacit.losses.dispatch import shape_of
from tacit.losses.loss import Code
from tacit.mechanisms.block_sums import sum_blocks
from tacit.mechanisms.kernels import BALANCED, add_gradients, enforceable
from tacit.mechanisms.person_gradient import add_person_class_gradients, add_person_gradients
from tacit.mechanisms.softmax_gradient import add_class_gradients
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.person_tiles import PersonBlock
from tacit.rows.storage.sparse_block import dense_tiles, tile_parts
from tacit.rows.storage.store import Store
from tacit.rows.storage.subsample import thinned

TILES_AT_ONCE = 32


def integer_gradient_sum(query: GradientSum, bound: int, store: Store) -> NDArray[np.int64]:
    """Sum of the records' (persons') integer vectors, each of norm at most `bound`. Private."""
    if query.theta.ndim > 1:
        return _class_gradient_sum(query, bound, store)
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    shape = shape_of(query.loss)
    # A slope is at most lipschitz, so rows beyond clip / lipschitz are the ones to weigh down.
    radius = query.clip / query.loss.lipschitz if query.downweighted else math.inf
    balanced = query.balanced and query.loss.code is Code.LOGISTIC
    limit = enforceable(bound, store.width)

    def add(block: Any, total: NDArray[np.int64]) -> None:
        pass_over = add_person_gradients if isinstance(block, PersonBlock) else add_gradients
        pass_over(
            block,
            theta,
            int(query.loss.code),
            shape,
            store.weighted,
            store.shifted,
            limit / query.clip,
            limit,
            BALANCED if balanced else radius,
            total,
        )

    return sum_blocks(store, add, (store.width,))


def _class_gradient_sum(query: GradientSum, bound: int, store: Store) -> NDArray[np.int64]:
    theta = np.ascontiguousarray(query.theta.T, dtype=store.dtype)
    limit = enforceable(bound, theta.size)

    def add(block: Any, total: NDArray[np.int64]) -> None:
        if isinstance(block, PersonBlock):
            flat, scale = total.reshape(-1), limit / query.clip
            add_person_class_gradients(block, theta, store.weighted, scale, limit, flat)
            return
        # Sparse records are written out a few at a time: this pass reads arrays of tiles alone.
        for part in tile_parts(block, TILES_AT_ONCE):
            tiles = dense_tiles(part, store.width)
            tiles.flags.writeable = False  # one type for the compiler, written out or not
            add_class_gradients(tiles, theta, store.weighted, limit / query.clip, limit, total)

    return np.ascontiguousarray(sum_blocks(store, add, theta.shape).T)


def answer_gradient(
    query: GradientSum, price: Price, store: Store, entropy: Entropy | None
) -> Answer:
    """Noised sum of clipped gradients; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most 2·bound (replace-one) or bound (zero-out,
      add-remove) in L2 norm.
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly.
    - The integers are the same for any block size, thread count or order of the records.
    - Where not all are read, each is by a secret lot of its own, with a public chance.
    """
    store, share = thinned(store, query.every)
    unit = enforceable(price.bound, query.theta.size) / query.clip * share
    total = integer_gradient_sum(query, price.bound, store)
    if entropy is None:
        return Answer(total / unit, 0.0)
    noise = rounded_gaussian(total.size, price.bits, entropy).reshape(total.shape)
    noised = total + noise
    return Answer(noised / unit, 2.0**price.bits / unit)
