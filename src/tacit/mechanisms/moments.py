"""Second moments with isometric symmetric Gaussian noise. Private: the store.

Proof: proofs/mechanisms/moments.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from tacit.contract.query import Answer, SecondMoments, Weights
from tacit.contract.sensitivity import Price
from tacit.losses.dispatch import shape_of
from tacit.mechanisms.gaussian_sum import noised_symmetric_sum
from tacit.mechanisms.kernels import CURVATURE, PLAIN, SCORE, enforceable, quantise_rows
from tacit.mechanisms.person_moments import TILES_AT_ONCE, add_person_moments
from tacit.noise.entropy import Entropy
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import (
    LANES,
    Floats,
    Integers,
    dense_tiles,
    map_tiles,
    public_matrix,
    readonly,
    tile_parts,
    tiles_in,
)

_WEIGHTS = {Weights.NONE: PLAIN, Weights.CURVATURE: CURVATURE, Weights.SCORE: SCORE}


def integer_second_moments(query: SecondMoments, bound: int, store: Store) -> Integers:
    """Sum of v v' over the records' integer vectors v, each of squared norm at most `bound`.

    Of a person with several records the bound is on the sum of their squared norms.
    Private. The rows are mapped to the query's coordinates as they are read, and not stored.
    """
    with one_blas_thread():
        return store.total(second_moments, query, bound)


def second_moments(layout: Layout, query: SecondMoments, bound: int) -> BlockSum:
    """Integer second moments of the records or persons of a block."""
    width = layout.width
    limit = moment_limit(bound, layout)
    matrix = None if query.matrix is None else public_matrix(query.matrix, width)
    theta = np.zeros(width) if query.theta is None else np.ascontiguousarray(query.theta)
    weights = _WEIGHTS[query.weights]
    # Plain moments use no loss: one compiled pass serves them all.
    shape = None if query.weights is Weights.NONE else shape_of(query.loss)
    loss = int(query.loss.code), shape
    bounds = query.loss.smoothness, query.loss.lipschitz
    columns = layout.weighted, layout.shifted

    def add_persons(block: PersonBlock, total: Integers) -> None:
        limits = query.row_bound, limit
        add_person_moments(block, matrix, theta, weights, (*loss, bounds), columns, limits, total)

    def add(block: Any, total: Integers) -> None:
        integers = np.empty((width, 0))
        for part in mapped_parts(block, matrix, width):
            records = tiles_in(part) * LANES
            if integers.shape[1] != records:
                integers = np.empty((width, records))
            kind = weights or None
            quantise_rows(
                part, theta, kind, *loss, bounds, *columns, query.row_bound, limit, integers
            )
            total += (integers @ integers.T).astype(np.int64)

    return BlockSum((width, width), add_persons if layout.grouped else add)


def mapped_parts(block: Any, matrix: Floats | None, width: int) -> Iterator[Any]:
    """Parts of a block, few enough tiles for one exact product, in the matrix's coordinates."""
    for part in tile_parts(block, TILES_AT_ONCE):
        yield part if matrix is None else readonly(map_tiles(dense_tiles(part, width), matrix))


def moment_limit(bound: int, layout: Layout) -> float:
    """Largest float norm of all rows of a unit together for which their integers keep the bound."""
    return enforceable(math.isqrt(bound), layout.width * layout.unit_rows)


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

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most √2·bound (replace-one) or bound (zero-out,
      add-remove) in Frobenius norm.
    - The noise is the real Gaussian of scale 2^bits rounded to integers, drawn exactly.
    - The integers are the same for any block size, thread count or order of the records.
    - A subsampled sum and its noise are divided by the sampling rate; membership is secret.
    """
    store, sampling_rate = store.subsampled(query.every)
    unit = (moment_limit(price.bound, store.layout) / query.row_bound) ** 2 * sampling_rate
    total = integer_second_moments(query, price.bound, store)
    return noised_symmetric_sum(total, unit, price, entropy)
