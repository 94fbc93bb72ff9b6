from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import DataError, SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage import record_store
from tacit.rows.storage.record_store import (
    BLOCK_ROWS,
    WIDEST_IMAGE,
    MemoryStore,
    ScratchStore,
    SparseBlock,
    SparseStore,
)
from tacit.rows.storage.store import Layout, Store
from tacit.rows.storage.tiles import to_rows
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(6)
ROWS, COLUMNS = BLOCK_ROWS + 200, 5
MATRIX = RNG.normal(size=(COLUMNS + 1, COLUMNS + 1))


def make_store(dtype: Any = np.float32) -> SparseStore:
    X = RNG.uniform(-1, 1, (ROWS, COLUMNS)) * (RNG.random((ROWS, COLUMNS)) < 0.4)
    source = open_source(sp.csr_array(X), RNG.integers(0, 2, ROWS))
    design = matrix_design(
        source.names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True, shifted=False
    )
    store = admit(source, design, dtype=dtype, invalid_rows="zero")
    assert isinstance(store, SparseStore)
    return store


def dense_twin(store: SparseStore) -> MemoryStore:
    blocks = [store.block(index).dense(store.width) for index in range(store.block_count)]
    return memory_store(to_rows(np.concatenate(blocks), store.length))


def content(store: Store) -> bytes:
    blocks = [store.block(index) for index in range(store.block_count)]
    return to_rows(np.concatenate(blocks), store.length).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_image_is_that_of_the_dense_records(dtype: Any) -> None:
    store = make_store(dtype)
    with store.map(MATRIX) as image, dense_twin(store).map(MATRIX) as expected:
        assert isinstance(image, MemoryStore)
        assert content(image) == content(expected)


def test_a_large_image_goes_to_a_scratch_file(monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store()
    expected = content(store.map(MATRIX))
    monkeypatch.setattr(record_store, "MEMORY_LIMIT", 1000)
    with store.map(MATRIX) as image:
        assert isinstance(image, ScratchStore)
        assert content(image) == expected


def test_recasting_gives_the_sparse_records_up() -> None:
    store = make_store()
    with store.recast(MATRIX) as image:
        assert image.block_count == 2
    with pytest.raises(DataError, match="given up"):
        store.block(0)


def test_wide_records_are_not_mapped_by_their_public_width() -> None:
    empty = SparseBlock(np.zeros(65, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros((1, 1, 64)))
    width = WIDEST_IMAGE + 1
    store = SparseStore(Layout(1, width, np.dtype(np.float64), BLOCK_ROWS), [empty])
    with pytest.raises(SettingError, match="gradient"):
        store.map(np.eye(2))


def test_a_map_of_another_width_is_refused() -> None:
    with make_store() as store, pytest.raises(SettingError, match="6 by 6"):
        store.map(np.eye(3))


def test_blocks_are_read_only() -> None:
    with make_store() as store:
        assert not any(part.flags.writeable for part in store.block(0))
