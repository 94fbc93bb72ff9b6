"""A prepared sparse record is the prepared dense record with its zeros left out, bit by bit."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from tacit.design.design import Design, matrix_design
from tacit.design.response import Binary
from tacit.errors import BoundsError, SettingError
from tacit.rows.admission.clip_and_scale import Preparer, prepare_sparse
from tacit.rows.sources.arrays import SparseSource
from tacit.rows.sources.source import SparseRows
from tacit.rows.storage.record_store import SparseBlock
from tacit.rows.storage.tiles import LANES, tile_count, to_rows


def matrix(count: int, **facts: Any) -> Design:
    names = [f"x{j}" for j in range(count)]
    given_facts: dict[str, Any] = {"bounds": None, "row_norm": None, "intercept": True, "shifted": False}
    return matrix_design(names, Binary("y", (0, 1)), **(given_facts | facts))


def rows_of(values: Any) -> SparseRows:
    source = SparseSource.of(sp.csr_array(np.asarray(values, dtype=np.float64)), fewest=0)
    batch = next(source.batches(source.length or 1, numeric=(), labels=()))
    assert batch.sparse_rows is not None
    return batch.sparse_rows()


def block_of(
    design: Design, rows: SparseRows, dtype: Any, valid: NDArray[np.bool_] | None = None
) -> tuple[SparseBlock, NDArray[np.bool_]]:
    flags = np.ones(len(rows.starts) - 1, dtype=bool) if valid is None else valid.copy()
    outcome = np.linspace(0.5, 1.0, len(flags)).reshape(-1, 1)
    block = prepare_sparse(Preparer.of(design, sparse=True), rows, outcome, flags, np.dtype(dtype))
    return block, flags


def written_out(design: Design, values: Any, dtype: Any) -> NDArray[Any]:
    rows = np.asarray(values, dtype=np.float64)
    block, _ = block_of(design, rows_of(rows), dtype)
    return to_rows(block.dense(design.width), len(rows))


def dense(design: Design, values: Any, dtype: Any) -> NDArray[Any]:
    rows = np.ascontiguousarray(values, dtype=np.float64)
    tiles = np.empty((tile_count(len(rows)), design.width + 1, LANES), dtype=dtype)
    outcome = np.linspace(0.5, 1.0, len(rows)).reshape(-1, 1)
    valid = np.asarray(np.isfinite(rows).all(axis=1))
    Preparer.of(design).prepare(rows, outcome, valid, tiles)
    return to_rows(tiles, len(rows))


FACTS: list[dict[str, Any]] = [
    {"bounds": (-1, 1)},
    {"bounds": (0, 3)},
    {"bounds": ([-2, 0, -1e-9, 0, -1], [0, 1, 1, 1e9, 1])},
    {"bounds": (-1, 2), "row_norm": 0.7},
    {"row_norm": 1.3},
    {"row_norm": 1e-9, "intercept": False},
]


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_records_have_the_same_bits(facts: dict[str, Any], dtype: Any) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 5)) * 10.0 ** rng.integers(-12, 12, size=(300, 1))
    rows[rng.random(rows.shape) < 0.6] = 0.0
    design = matrix(5, **facts)
    # Equal as numbers: the dense form may keep the sign of a zero, which no sum can see.
    assert (written_out(design, rows, dtype) == dense(design, rows, dtype)).all()


@settings(max_examples=150)
@given(
    rows=arrays(
        np.float64, (3, 5), elements=st.one_of(st.just(0.0), st.floats(1e-290, 1e308), st.floats(-1e308, -1e-290))
    ),
    facts=st.sampled_from(FACTS),
    single=st.booleans(),
)
def test_t40_any_finite_record_is_prepared_as_the_dense_one(
    rows: NDArray[np.float64], facts: dict[str, Any], single: bool
) -> None:
    design, dtype = matrix(5, **facts), np.float32 if single else np.float64
    out = written_out(design, rows, dtype)
    assert (out == dense(design, rows, dtype)).all()
    for row in out:
        norm = math.hypot(*row[:5].astype(float).tolist())
        assert norm <= design.feature_norm * (1 + 2.0**-40)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", [True, False])
def test_t02_an_entry_outside_the_bounds_equals_the_clipped_one(dtype: Any, intercept: bool) -> None:
    design = matrix(3, bounds=([0, -1, -2], [1, 1, 0]), row_norm=1.2, intercept=intercept)
    far = written_out(design, [[1e6, 0.0, 0.25], [0.0, -1e6, -1e308]], dtype)
    near = written_out(design, [[1.0, 0.0, 0.0], [0.0, -1.0, -2.0]], dtype)
    assert far.tobytes() == near.tobytes()


def test_a_row_at_the_norm_bound_is_left_alone_and_one_beyond_is_shrunk() -> None:
    design = matrix(2, row_norm=1.0)
    out = written_out(design, [[0.6, -0.8], [0.6e6, -0.8e6]], np.float64)
    scale = math.sqrt(2)
    assert out[0, :2].tolist() == [0.6 / (1 / scale), -0.8 / (1 / scale)]
    np.testing.assert_allclose(out[1, :2], out[0, :2], rtol=1e-12)
    assert math.hypot(*out[1, :2]) <= design.feature_norm


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_t40_invalid_records_hold_nothing(value: float) -> None:
    design = matrix(2, bounds=(-1, 1))
    rows = SparseRows(np.array([0, 1, 3, 3]), np.array([0, 0, 1]), np.array([0.5, 0.5, value]))
    block, valid = block_of(design, rows, np.float64)
    assert valid.tolist() == [True, False, True]
    out = to_rows(block.dense(3), 3)
    assert out.tolist() == [[0.5, 0.0, 1.0, 0.5], [0.0] * 4, [0.0, 0.0, 1.0, 1.0]]


@pytest.mark.parametrize("column", [-1, 2, 2**40])
def test_a_column_outside_the_table_makes_its_record_invalid(column: int) -> None:
    rows = SparseRows(np.array([0, 1, 2]), np.array([column, 1]), np.array([0.5, 0.5]))
    block, valid = block_of(matrix(2, bounds=(-1, 1)), rows, np.float64)
    assert valid.tolist() == [False, True]
    assert block.indices.tolist() == [1, 2]


def test_explicit_zeros_and_entries_that_vanish_are_left_out() -> None:
    rows = SparseRows(np.array([0, 3]), np.array([0, 1, 2]), np.array([0.0, 1e-60, 0.5]))
    block, _ = block_of(matrix(3, bounds=(-1, 1)), rows, np.float32)
    assert (block.indices.tolist(), block.values.tolist()) == ([2, 3], [0.5, 1.0])


@pytest.mark.parametrize("size", [5e-324, 2e-313, 1e-308, 1e-300])
def test_a_stored_zero_beside_the_smallest_numbers_changes_nothing(size: float) -> None:
    design = matrix(3, bounds=(-1, 1), row_norm=1.0)
    with_zero = SparseRows(np.array([0, 2]), np.array([0, 1]), np.array([size, 0.0]))
    without = SparseRows(np.array([0, 1]), np.array([0]), np.array([size]))
    blocks = [block_of(design, rows, np.float64) for rows in (with_zero, without)]
    assert [valid.tolist() for _, valid in blocks] == [[True], [True]]
    assert blocks[0][0].values.tolist() == blocks[1][0].values.tolist() == [size, 1.0]


def test_records_that_fill_the_tile_and_empty_ones() -> None:
    block, _ = block_of(matrix(2, bounds=(-1, 1)), rows_of(np.zeros((LANES + 1, 2))), np.float32)
    assert (len(block.starts), len(block.outcome)) == (2 * LANES + 1, 2)
    assert block.indices.tolist() == [2] * (LANES + 1)
    bare = matrix(2, bounds=(-1, 1), intercept=False)
    assert block_of(bare, rows_of(np.zeros((3, 2))), np.float32)[0].starts.tolist() == [0] * 65


def test_t08_a_record_does_not_depend_on_its_place() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(150, 7)) * (rng.random((150, 7)) < 0.3)
    design = matrix(7, bounds=(-1, 1), row_norm=0.8)
    whole = written_out(design, rows, np.float32)
    order = rng.permutation(len(rows))
    end = design.width
    assert (written_out(design, rows[order], np.float32)[:, :end] == whole[order, :end]).all()
    alone = [written_out(design, rows[i : i + 1], np.float32)[0, :end] for i in range(len(rows))]
    assert (np.array(alone) == whole[:, :end]).all()


@pytest.mark.parametrize("bounds", [(1, 2), (-2, -1), {"x0": (-1, 1), "x1": (0.5, 2)}])
def test_bounds_that_exclude_zero_are_refused_with_the_way_out(bounds: Any) -> None:
    with pytest.raises(BoundsError, match=r"\.toarray\(\)"):
        Preparer.of(matrix(2, bounds=bounds), sparse=True)


def test_a_design_that_shifts_is_refused() -> None:
    with pytest.raises(SettingError, match="never shifted"):
        Preparer.of(matrix(2, bounds=(0, 1), shifted=True), sparse=True)
    assert Preparer.of(matrix(2, bounds=(0, 1)), sparse=True).bounds[3].tolist() == [1.0, 1.0]
