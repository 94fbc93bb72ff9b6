"""Second moments with isometric symmetric Gaussian noise, and their pair for a sandwich.

Private: the store. Curvature and score of a downweighted score are released together: both matrices
of a record are multiples of nearly the same z z'. Proof: proofs/mechanisms/moments.md.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from tacit.contract.query import Answer, CurvatureAndScore, SecondMoments, Weights
from tacit.contract.sensitivity import Price
from tacit.kernel_compilation import compiled
from tacit.losses.dispatch import curvatures, shape_of, slopes
from tacit.mechanisms import kernels
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.mechanisms.person_kernels import TILES_AT_ONCE, add_person_moments, add_person_pairs
from tacit.mechanisms.shortened_rows import quantise_shortened_pairs, require_single_rows
from tacit.mechanisms.softmax_moments import add_class_pairs, as_persons
from tacit.noise.entropy import Entropy
from tacit.rows.storage import tiles
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.store import BlockSum, Layout, Store
from tacit.rows.storage.tiles import LANES, Floats, Integers

SHORT_ROWS = 4096
"""Bound over the width up to which float32 products are tried: a mean square of 2^12 an entry."""
SHORT_RECORDS = 1024
"""Records in such a product: diagonal entries are then about 2^22 where the columns have like sizes."""
EXACT_IN_FLOAT32 = 2.0**24


def integer_second_moments(query: SecondMoments, bound: int, store: Store) -> Integers:
    """Sum of v v' over the records' integer vectors v, each of squared norm at most `bound`.

    Of a person with several records the bound is on the sum of their squared norms.
    Private. The rows are mapped to the query's coordinates as they are read, and not stored.
    """
    # Blocks have threads of their own.
    with _blas().limit(limits=1, user_api="blas"):
        return np.asarray(store.total(second_moments, query, bound)[0])


def second_moments(layout: Layout, query: SecondMoments, bound: int) -> BlockSum:
    """Integer second moments of the records or persons of a block."""
    theta = np.zeros(layout.width) if query.theta is None else np.ascontiguousarray(query.theta)
    weights = list(Weights).index(query.weights)
    # Plain moments use no loss: one compiled pass serves them all.
    shape = None if query.weights is Weights.NONE else shape_of(query.loss)
    loss = int(query.loss.code), shape, (query.loss.smoothness, query.loss.lipschitz)
    how = loss, (layout.weighted, layout.shifted), (query.row_bound, moment_limit(bound, layout))

    def quantise(part: Any, out: Floats) -> None:
        kernels.quantise_rows(part, theta, weights or None, *how, out[0])

    def add_persons(part: PersonBlock, total: Integers) -> None:
        add_person_moments(part, theta, weights, how, total[0])

    return _summed_products(query.matrix, layout, bound, 1, quantise, add_persons)


def _summed_products(
    matrix: Floats | None,
    layout: Layout,
    bound: int,
    count: int,
    quantise: Callable[..., None],
    add_persons: Callable[..., None],
) -> BlockSum:
    """Sums of v v' over the integer vectors that `quantise` writes into `count` arrays (column, record)."""
    width = layout.width
    rows_map = _row_map(matrix, layout)
    short = is_short(bound, width) and _float32_is_exact()
    dtype, at_once = (np.float32, SHORT_RECORDS // LANES) if short else (np.float64, TILES_AT_ONCE)

    def add(block: Any, total: Integers) -> None:
        integers = np.empty((count, width, 0), dtype)
        for part in _mapped_parts(block, rows_map, width, at_once):
            if isinstance(part, PersonBlock):
                add_persons(part, total)
                continue
            records = tiles.tiles_in(part) * LANES
            if integers.shape[-1] != records:
                integers = np.empty((count, width, records), dtype)
            quantise(part, integers)
            for k in range(count):
                add_product(integers[k], total[k])

    return BlockSum((count, width, width), add)


def is_short(bound: int, width: int) -> bool:
    """Whether rows have integers so short that float32 products are tried: by public facts alone."""
    return bound <= SHORT_ROWS * width


@functools.cache
def _float32_is_exact() -> bool:
    """Whether float32 products of this machine's library have all their bits, seen on public integers."""
    # Entries of up to 12 bits, of both signs and parities, with diagonal sums just below 2^24.
    rows, columns = np.ogrid[:96, :SHORT_RECORDS]
    whole = (rows * 7919 + columns * 104729 + rows * columns * 31) % 255 - 127
    whole[0], whole[1], whole[1, 500] = 127, 1, 4095
    product = whole.astype(np.float32) @ whole.astype(np.float32).T
    exact = whole @ whole.T
    return bool(exact.diagonal().max() < EXACT_IN_FLOAT32 and np.array_equal(product.astype(np.int64), exact))


def add_product(integers: NDArray[Any], total: Integers) -> None:
    """Add the exact V V' of integers V (column, record): of short rows, in float32, by such products where exact.

    If the largest computed diagonal entry of a float32 product is below 2^24, every partial sum of every entry was an
    integer below 2^24, whatever the order of summation; else the product is made in float64. The branch changes the
    time, never the integers. Of float32 rows there are at most `SHORT_RECORDS`.
    """
    product = integers @ integers.T
    # Written so that a diagonal that is not a number is refused.
    if integers.dtype == np.float32 and not np.diagonal(product).max() < EXACT_IN_FLOAT32:
        longer = integers.astype(np.float64)
        product = longer @ longer.T
    np.add(total, product, out=total, casting="unsafe", dtype=np.int64)


def _row_map(matrix: Floats | None, layout: Layout) -> tiles.RowMap | None:
    """The matrix of a query, checked, as the kernels read it."""
    return None if matrix is None else tiles.RowMap.of(tiles.public_matrix(matrix, layout.width), layout.dtype)


def _mapped_parts(block: Any, matrix: tiles.RowMap | None, width: int, at_once: int = TILES_AT_ONCE) -> Iterator[Any]:
    """Parts of a block, few enough tiles for one exact product, in the matrix's coordinates."""
    if isinstance(block, PersonBlock):
        for part in block.parts(TILES_AT_ONCE):
            image = part.tiles if matrix is None else tiles.map_tiles(part.tiles, matrix)
            yield part._replace(tiles=image).frozen()
        return
    for part in tiles.tile_parts(block, at_once):
        yield (part if matrix is None else tiles.readonly(tiles.map_tiles(tiles.dense_tiles(part, width), matrix)))


def moment_limit(bound: int, layout: Layout) -> float:
    """Largest float norm of all rows of a unit together for which their integers keep the bound."""
    return kernels.enforceable(math.isqrt(bound), layout.width * layout.unit_rows)


@functools.cache
def _blas() -> ThreadpoolController:
    """The loaded BLAS libraries; looking for them takes milliseconds, so it is done once."""
    return ThreadpoolController()


def answer_second_moments(query: SecondMoments, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sum of second moments; without entropy the sum alone (ε = ∞).

    Guarantee
    ---------
    - Integer sums of neighbours differ by at most √2·bound (replace-one) or bound (zero-out,
      add-remove) in Frobenius norm.
    - A subsampled sum and its noise are divided by the sampling rate; membership is secret.
    """
    store, sampling_rate = store.subsampled(query.every)
    unit = (moment_limit(price.bound, store.layout) / query.row_bound) ** 2 * sampling_rate
    total = integer_second_moments(query, price.bound, store)
    return noised_sum(total, unit, price, entropy, symmetric=True)


def pair_limit(bound: int, joint: float, width: int) -> float:
    """Largest L for which ‖v‖ ≤ L·u and ‖w‖ ≤ L·s, u⁴ + s⁴ ≤ joint, keep the integer pair in bound.

    v may be the vectors of all rows of a person, one after the other; `width` is then their length.
    By Minkowski in l4 the rounded pair has (‖v‖⁴ + ‖w‖⁴)^¼ ≤ L·joint^¼ + 2^¼·√width / 2.
    """
    available = math.sqrt(bound) - 2.0**0.25 * math.sqrt(width) / 2 * (1 + 2.0**-40)
    quarter = math.sqrt(math.sqrt(joint))
    limit: float = max(0.0, available / quarter * (1 - (width + 64) * 2.0**-50))
    return limit


@compiled
def quantise_pairs(block: Any, theta: Floats, loss: Any, columns: Any, limits: Any, out: Any) -> None:
    """Write rint(f z) for the curvature and rint(g z) for the score, as float64 (column, record).

    f = √w·u·limit / bound and g = w·s·limit / bound, with w = min(1, (bound / ‖z‖)²), u² the curvature and s the slope
    over their bounds, both shrunk where u⁴ + s⁴ exceeds `joint`. A record's own weight multiplies the curvature and the
    slope. With a `root` above 0, that of the score's share, s is first shortened to a gradient norm w·s·‖z‖ of at most
    bound, u is 0 where it was, s is multiplied by the root, and `joint` bounds the norms of f z and g z over limit.
    """
    width = theta.shape[0]
    code, shape, (smoothness, lipschitz, joint, root) = loss
    (weighted, shifted), (bound, limit) = columns, limits
    margin, square = np.empty(LANES), np.empty(LANES)
    curved, slope = np.empty(LANES), np.empty(LANES)
    for t in range(kernels.count_tiles(block)):
        kernels.measure_tile(block, t, theta, margin, square)
        kernels.add_offset(block, t, width, weighted, shifted, margin)
        label = kernels.outcome_column(block, t, width, 0)
        curvatures(code, shape, margin, label, curved)
        slopes(code, shape, margin, label, slope)
        own = kernels.outcome_column(block, t, width, int(weighted))
        for lane in range(LANES):
            weight = np.float64(own[lane]) if weighted else 1.0
            h = curved[lane] / smoothness * weight
            s = abs(slope[lane]) / lipschitz * weight
            norm = max(math.sqrt(square[lane]), bound)
            flat, steep, largest = h, s, limit / bound * joint
            if root > 0.0:
                length = bound / norm * math.sqrt(square[lane]) / norm
                if s * length > 1.0:
                    s, h = 1.0 / length, 0.0
                s *= root
                flat, steep = h * (length * math.sqrt(square[lane]) / bound), s * length
                largest = limit / math.sqrt(square[lane]) * joint
            excess = (flat * flat + steep * steep * steep * steep) / joint
            shrink = 1.0 if excess <= 1.0 else math.sqrt(math.sqrt(1.0 / excess))
            f = limit / norm * math.sqrt(h) * shrink
            g = limit / norm * (bound / norm) * s * shrink
            # A factor that is not a number, or above what the bound allows, becomes 0.
            curved[lane] = f if f <= largest else 0.0
            slope[lane] = g if g <= largest else 0.0
        kernels.write_tile(block, t, curved, out[0])
        kernels.write_tile(block, t, slope, out[1])


def integer_pairs(query: CurvatureAndScore, bound: int, store: Store) -> Integers:
    """Sum of (v v', w w') over the records' integer vectors, ‖v‖⁴ + ‖w‖⁴ ≤ bound². Private."""
    with _blas().limit(limits=1, user_api="blas"):
        pairs = curvature_score_pairs if query.theta.ndim == 1 else class_pairs
        return store.total(pairs, query, bound)


def class_pairs(layout: Layout, query: CurvatureAndScore, bound: int) -> BlockSum:
    """Integer pairs of one linear predictor a class: matrices of class·width rows."""
    width, classes = query.theta.shape
    limit = pair_limit(bound, query.joint, rounded_entries(query, layout))
    matrix = _row_map(query.matrix, layout)
    theta = np.ascontiguousarray(query.theta.T, dtype=layout.dtype)

    def add(block: Any, total: Integers) -> None:
        for part in _mapped_parts(block, matrix, width):
            persons = as_persons(part, width)
            add_class_pairs(persons, theta, layout.weighted, query.joint, (query.row_bound, limit), total)

    return BlockSum((2, classes * width, classes * width), add)


def rounded_entries(query: CurvatureAndScore, layout: Layout) -> int:
    """Numbers that a unit's curvature is rounded in: each row has a vector, or one a class."""
    classes = 1 if query.theta.ndim == 1 else query.theta.shape[1]
    return layout.width * classes**2 * layout.unit_rows


def curvature_score_pairs(layout: Layout, query: CurvatureAndScore, bound: int) -> BlockSum:
    """Integer pairs of the records or persons of a block."""
    limit = pair_limit(bound, query.joint, layout.width * layout.unit_rows)
    theta = np.ascontiguousarray(query.theta, dtype=np.float64)
    root = math.sqrt(query.score_share or 0.0)
    bounds = query.loss.smoothness, query.loss.lipschitz, query.joint, root
    loss = int(query.loss.code), shape_of(query.loss), bounds
    how = loss, (layout.weighted, layout.shifted), (query.row_bound, limit)
    if query.shortened:
        require_single_rows(layout)
    write = quantise_shortened_pairs if query.shortened else quantise_pairs

    def quantise(part: Any, out: Floats) -> None:
        write(part, theta, *how, (out[0], out[1]))

    def add_persons(part: PersonBlock, total: Integers) -> None:
        add_person_pairs(part, theta, how, total)

    return _summed_products(query.matrix, layout, bound, 2, quantise, add_persons)


def answer_curvature_and_score(query: CurvatureAndScore, price: Price, store: Store, entropy: Entropy | None) -> Answer:
    """Noised sums of both, stacked (2, width, width); without entropy the sums alone (ε = ∞).

    For several classes each is (class·width, class·width), class after class.

    Guarantee
    ---------
    - Integer pairs of neighbours differ by at most √2·bound (replace-one) or bound (zero-out,
      add-remove) in Frobenius norm.
    """
    limit = pair_limit(price.bound, query.joint, rounded_entries(query, store.layout))
    unit = (limit / query.row_bound) ** 2
    total = integer_pairs(query, price.bound, store)
    return noised_sum(total, unit, price, entropy, symmetric=True)
