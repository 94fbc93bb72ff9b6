"""Sparse records go through the same passes as dense ones, and have the same integers."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numba import TypingError
from numpy.typing import NDArray

from tacit.contract.query import CurvatureAndScore, GradientSum, SecondMoments, Weights
from tacit.design.attached_columns import AttachedColumns, Offset, Weighting
from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.kernels import add_gradients, enforceable, quantise_rows
from tacit.mechanisms.moments import integer_pairs, integer_second_moments
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.record_store import BLOCK_ROWS, MemoryStore, SparseBlock, SparseStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, to_rows
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(8)
ROWS, COLUMNS = BLOCK_ROWS + 321, 40
WIDTH = COLUMNS + 1
X = RNG.uniform(-1, 1, (ROWS, COLUMNS)) * (RNG.random((ROWS, COLUMNS)) < 0.1)
Y = RNG.integers(0, 2, ROWS)
THETA = RNG.normal(size=WIDTH)
BOUND = 2**36


def sparse_store(
    matrix: Any,
    labels: NDArray[Any] = Y,
    *,
    attached: dict[str, Any] | None = None,
    declared: AttachedColumns | None = None,
    dtype: Any = np.float32,
    row_norm: float | None = None,
) -> SparseStore:
    source = open_source(matrix, labels, attached=attached)
    plain = matrix_design(
        source.names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=row_norm, intercept=True, shifted=False
    )
    design = Design(plain.columns, plain.response, plain.feature_norm, attached=declared or AttachedColumns())
    store = admit(source, design, dtype=dtype, invalid_rows="zero")
    assert isinstance(store, SparseStore)
    return store


def dense_twin(store: SparseStore, block_rows: int | None = None) -> MemoryStore:
    """The same stored records with their zeros written out."""
    blocks = [store.block(index).dense(store.width) for index in range(store.block_count)]
    table = to_rows(np.concatenate(blocks), store.length)
    return memory_store(table, block_rows, weighted=store.layout.weighted, shifted=store.layout.shifted)


def both(store: SparseStore) -> tuple[SparseStore, MemoryStore]:
    return store, dense_twin(store)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("clip", [0.3, 100.0])
@pytest.mark.parametrize(
    "loss", [classification.LOGISTIC, regression.SQUARED, regression.huber(0.5), poisson.loss(2.0, 5.0)]
)
def test_gradients_of_either_storage_are_the_same_integers(dtype: Any, clip: float, loss: Loss) -> None:
    for downweighted in (False, True):
        query = GradientSum(THETA, clip, downweighted=downweighted, loss=loss)
        sums = [integer_gradient_sum(query, BOUND, store) for store in both(sparse_store(sp.csr_array(X), dtype=dtype))]
        assert sums[0].any()
        assert (sums[0] == sums[1]).all()


def test_weights_and_offsets_of_either_storage() -> None:
    store = sparse_store(
        sp.csr_array(X),
        attached={"w": RNG.random(ROWS), "o": RNG.normal(size=ROWS)},
        declared=AttachedColumns(Weighting("w", 1.0), Offset("o", -2.0, 2.0)),
    )
    plain = integer_gradient_sum(GradientSum(THETA, 1.0), BOUND, sparse_store(sp.csr_array(X)))
    queries = GradientSum(THETA, 1.0), SecondMoments(1.0, theta=THETA, weights=Weights.SCORE)
    sums = [integer_gradient_sum(queries[0], BOUND, one) for one in both(store)]
    assert (sums[0] == sums[1]).all()
    assert (sums[0] != plain).any()
    moments = [integer_second_moments(queries[1], BOUND, one) for one in both(store)]
    assert (moments[0] == moments[1]).all()


def test_gradients_of_several_classes() -> None:
    query = GradientSum(RNG.normal(size=(WIDTH, 3)), 1.0)
    sums = [integer_gradient_sum(query, BOUND, store) for store in both(sparse_store(sp.csr_array(X)))]
    assert (sums[0] == sums[1]).all()


@pytest.mark.parametrize("weights", list(Weights))
@pytest.mark.parametrize("mapped", [False, True])
def test_second_moments_of_either_storage(weights: Weights, mapped: bool) -> None:
    theta = None if weights is Weights.NONE else THETA
    matrix = RNG.normal(size=(WIDTH, WIDTH)) if mapped else None
    query = SecondMoments(1.5, matrix=matrix, theta=theta, weights=weights)
    sums = [integer_second_moments(query, BOUND, store) for store in both(sparse_store(sp.csr_array(X)))]
    assert sums[0].any()
    assert (sums[0] == sums[1]).all()


@pytest.mark.parametrize("mapped", [False, True])
def test_sandwiches_of_either_storage(mapped: bool) -> None:
    matrix = RNG.normal(size=(WIDTH, WIDTH)) if mapped else None
    query = CurvatureAndScore(THETA, 1.5, matrix, classification.LOGISTIC)
    sums = [integer_pairs(query, BOUND, store) for store in both(sparse_store(sp.csr_array(X)))]
    assert sums[0].any()
    assert (sums[0] == sums[1]).all()


def test_shortened_rows_of_either_storage() -> None:
    gradient = GradientSum(THETA, 1.0, downweighted=True, shortened=True)
    pair = CurvatureAndScore(THETA, 1.0, None, classification.LOGISTIC, 0.7, shortened=True)
    stores = both(sparse_store(sp.csr_array(X)))
    sums = [integer_gradient_sum(gradient, BOUND, store) for store in stores]
    pairs = [integer_pairs(pair, BOUND, store) for store in stores]
    for first, second in (sums, pairs):
        assert first.any()
        assert (first == second).all()


def test_recast_records_answer_as_recast_dense_ones() -> None:
    matrix = RNG.normal(size=(WIDTH, WIDTH))
    sums = [
        integer_gradient_sum(GradientSum(THETA, 1.0), BOUND, store.recast(matrix))
        for store in both(sparse_store(sp.csr_array(X)))
    ]
    assert (sums[0] == sums[1]).all()


def test_t20_order_threads_and_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    query = GradientSum(THETA, 1.0)
    reference = integer_gradient_sum(query, BOUND, dense_twin(sparse_store(sp.csr_array(X)), 64))
    for threads in ("1", "3"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        order = RNG.permutation(ROWS)
        store = sparse_store(sp.csr_array(X[order]), Y[order])
        assert (integer_gradient_sum(query, BOUND, store) == reference).all()


def untidy(kind: str) -> Any:
    """The matrix X stored in another way."""
    matrix = sp.csr_array(X)
    if kind == "int64 indices":
        matrix.indices, matrix.indptr = (part.astype(np.int64) for part in (matrix.indices, matrix.indptr))
    elif kind == "unsorted":
        for r in range(ROWS):
            stored = slice(matrix.indptr[r], matrix.indptr[r + 1])
            matrix.indices[stored] = matrix.indices[stored][::-1].copy()
            matrix.data[stored] = matrix.data[stored][::-1].copy()
        matrix.has_sorted_indices = False
    elif kind == "explicit zeros":
        ones = sp.coo_array(np.ones_like(X)).tocsr()
        ones.data = X[np.nonzero(np.ones_like(X))]
        matrix = ones
    else:
        # Halves of every entry, whose sum is exact.
        halves = matrix.tocoo()
        twice = [np.concatenate([part, part]) for part in (halves.row, halves.col)]
        data = np.concatenate([halves.data, halves.data]) / 2
        matrix = sp.coo_array((data, (twice[0], twice[1])), shape=X.shape)
    return matrix


@pytest.mark.parametrize("kind", ["int64 indices", "unsorted", "explicit zeros", "duplicates"])
def test_the_way_a_matrix_is_stored_does_not_matter(kind: str) -> None:
    query = GradientSum(THETA, 1.0)
    reference = integer_gradient_sum(query, BOUND, sparse_store(sp.csr_array(X)))
    store = sparse_store(untidy(kind))
    assert (integer_gradient_sum(query, BOUND, store) == reference).all()


@pytest.mark.parametrize("row_norm", [None, 1.0])
def test_t02_an_entry_far_outside_the_bound_acts_like_the_clipped_one(row_norm: float | None) -> None:
    far, near = X.copy(), X.copy()
    far[5, 3], near[5, 3] = 1e6, 1.0
    for query in (GradientSum(THETA, 1.0), GradientSum(THETA, 1e3)):
        sums = [
            integer_gradient_sum(query, BOUND, sparse_store(sp.csr_array(values), row_norm=row_norm))
            for values in (far, near)
        ]
        assert (sums[0] == sums[1]).all()


def test_t40_records_with_nan_add_nothing() -> None:
    values = X.copy()
    values[7, 1], values[9, 0] = np.nan, -np.inf
    kept = np.delete(np.arange(ROWS), [7, 9])
    query = GradientSum(THETA, 1.0)
    expected = integer_gradient_sum(query, BOUND, sparse_store(sp.csr_array(X[kept]), Y[kept]))
    assert (integer_gradient_sum(query, BOUND, sparse_store(sp.csr_array(values))) == expected).all()


def test_empty_records_count_through_the_intercept_alone() -> None:
    store = sparse_store(sp.csr_array((100, 4)), np.ones(100, dtype=int))
    sums = integer_gradient_sum(GradientSum(np.zeros(5), 10.0), BOUND, store)
    assert not sums[:4].any()
    # Slope -1/2 of each, in units of the clip.
    assert math.isclose(sums[4], -100 * 0.5 / 10 * BOUND, rel_tol=1e-6)


def odd_records(entry: float, dtype: Any) -> tuple[SparseBlock, NDArray[Any]]:
    """Both storages of (entry, 1) and (0, 1/2), as stores would hand them out."""
    starts = np.concatenate([[0, 2, 3], np.full(LANES - 2, 3)]).astype(np.int64)
    values = np.array([entry, 1.0, 0.5], dtype=dtype)
    behind = np.zeros((1, 1, LANES), dtype=dtype)
    made = SparseBlock(starts, np.array([0, 1, 1], dtype=np.int32), values, behind)
    block = SparseStore(Layout(2, 2, np.dtype(dtype), BLOCK_ROWS), [made]).block(0)
    dense = block.dense(2)
    dense.flags.writeable = False
    return block, dense


@pytest.mark.parametrize(("entry", "dtype"), [(1e308, np.float64), (np.inf, np.float32), (np.nan, np.float32)])
def test_t40_a_record_without_a_finite_norm_adds_nothing(entry: float, dtype: Any) -> None:
    """No store holds one; the pass would survive it, in either storage."""
    limit = enforceable(BOUND, 2)
    for storage in odd_records(entry, dtype):
        total = np.zeros(2, dtype=np.int64)
        rest = ((0, np.zeros(2)), (False, False), (limit, limit, np.inf), total)
        add_gradients(storage, np.zeros(2), *rest)
        assert total.tolist() == [0, round(0.25 * limit)]


@pytest.mark.parametrize("entry", [np.inf, -np.inf, np.nan])
def test_t40_second_moments_of_such_a_record_stay_within_their_bound(entry: float) -> None:
    limit = enforceable(math.isqrt(BOUND), 2)
    for storage in odd_records(entry, np.float32):
        integers = np.empty((2, LANES))
        rest = ((0, np.zeros(2), (0.25, 1.0)), (False, False), (1.0, limit), integers)
        quantise_rows(storage, np.zeros(2), 0, *rest)
        assert np.isfinite(integers).all()
        assert np.square(integers).sum(axis=0).max() <= BOUND
        assert integers[:, 1].tolist() == [0.0, round(0.5 * limit)]


def test_a_tuple_that_is_no_block_is_refused() -> None:
    block = (np.zeros(65, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros((1, 1, 64)))
    total = np.zeros(1, dtype=np.int64)
    rest = (0, np.zeros(2)), (False, False), (1.0, 1.0, np.inf)
    with pytest.raises(TypingError, match="count_tiles"):
        add_gradients(block, np.zeros(1), *rest, total)
