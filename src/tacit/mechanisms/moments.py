"""Second moments with isometric symmetric Gaussian noise. Private: the store.

Proof: proofs/mechanisms/moments.md.
"""

from __future__ import annotations

import functools
import math
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tacit.contract.query import Answer, SecondMoments, Weights
from tacit.contract.sensitivity import Price
from tacit.losses.dispatch import shape_of
from tacit.mechanisms.block_sums import sum_blocks
from tacit.mechanisms.kernels import CURVATURE, PLAIN, SCORE, enforceable, quantise_rows
from tacit.mechanisms.person_moments import TILES_AT_ONCE, add_person_moments
from tacit.noise.entropy import Entropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.rows.storage.linear_map import map_tiles, public_matrix
from tacit.rows.storage.person_tiles import PersonBlock
from tacit.rows.storage.sparse_block import dense_tiles, tile_parts, tiles_in
from tacit.rows.storage.store import Store
from tacit.rows.storage.subsample import thinned
from tacit.rows.storage.tiles import LANES

_WEIGHTS = {Weights.NONE: PLAIN, Weights.CURVATURE: CURVATURE, Weights.SCORE: SCORE}


def integer_second_moments(query: SecondMoments, bound: int, store: Store) -> NDArray[np.int64]:
    """Sum of v v' over the records' integer vectors v, each of squared norm at most `bound`.

    Of a person with several records the bound is on the sum of their squared norms.
    Private. The rows are mapped to the query's coordinates as they are read, and not kept.
    """
    width = store.width
    limit = moment_limit(bound, store)
    matrix = None if query.matrix is None else public_matrix(query.matrix, width)
    theta = np.zeros(width) if query.theta is None else np.ascontiguousarray(query.theta)
    weights = _WEIGHTS[query.weights]
    shape = shape_of(query.loss)
    bounds = query.loss.smoothness, query.loss.lipschitz

    def add(block: Any, total: NDArray[np.int64]) -> None:
        if isinstance(block, PersonBlock):
            add_person_moments(
                block,
                matrix,
                theta,
                weights,
                (int(query.loss.code), shape, bounds),
                (store.weighted, store.shifted),
                bound=query.row_bound,
                limit=limit,
                total=total,
            )
            return
        integers = np.empty((width, 0))
        for part in tile_parts(block, TILES_AT_ONCE):
            if matrix is not None:
                part = map_tiles(dense_tiles(part, width), matrix)  # noqa: PLW2901 - the same rows
                part.flags.writeable = False  # one type for the compiler, mapped or not
            records = tiles_in(part) * LANES
            if integers.shape[1] != records:
                integers = np.empty((width, records))
            quantise_rows(
                part,
                theta,
                weights or None,
                int(query.loss.code),
                shape,
                bounds,
                store.weighted,
                store.shifted,
                query.row_bound,
                limit,
                integers,
            )
            total += (integers @ integers.T).astype(np.int64)

    with one_blas_thread():
        return sum_blocks(store, add, (width, width))


def moment_limit(bound: int, store: Store) -> float:
    """Largest float norm of all rows of a unit together for which their integers keep the bound."""
    return enforceable(math.isqrt(bound), store.width * store.unit_rows)


def one_blas_thread() -> AbstractContextManager[object]:
    """Keep BLAS to one thread: blocks have threads of their own."""
    return _blas().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@functools.cache
def _blas() -> ThreadpoolController:
    """The loaded BLAS libraries; looking for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def answer_second_moments(
    query: SecondMoments, price: Price, store: Store, entropy: Entropy | None
) -> Answer:
    """Noised sum of second moments; without entropy the sum alone (ε = ∞).

    Noise is drawn for all width² entries and averaged with its transpose: standard deviation
    `noise_scale` on the diagonal and `noise_scale` / √2 beside it.

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most √2·bound (replace-one) or bound (zero-out,
      add-remove) in Frobenius norm.
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly.
    - The integers are the same for any block size, thread count or order of the records.
    - Where not all are read, each is by a secret lot of its own, with a public chance.
    """
    width = store.width
    unit = (moment_limit(price.bound, store) / query.row_bound) ** 2
    store, share = thinned(store, query.every)
    unit *= share
    total = integer_second_moments(query, price.bound, store)
    if entropy is None:
        return Answer(total / unit, 0.0)
    noise = rounded_gaussian(width * width, price.bits, entropy).reshape(width, width)
    symmetric = 2 * total + noise + noise.T
    return Answer(symmetric / (2 * unit), 2.0**price.bits / unit)
