"""A batch has the drawn records, each as often as it was drawn, with the bits of the store."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from tacit.design.design import matrix_design
from tacit.design.response import Binary
from tacit.errors import SettingError
from tacit.rows.admission.admit_rows import admit
from tacit.rows.sources.opening import open_source
from tacit.rows.storage.batch_store import BatchStore
from tacit.rows.storage.record_store import BLOCK_ROWS, ScratchStore, SparseStore
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import Integers, to_rows
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

RNG = np.random.default_rng(2)


def chosen(numbers: Any) -> Callable[[int, int], Integers]:
    drawn = np.sort(np.asarray(numbers, dtype=np.int64))

    def members(first: int, count: int) -> Integers:
        return drawn[(drawn >= first) & (drawn < first + count)] - first

    return members


def table(rows: int) -> NDArray[np.float64]:
    values = RNG.normal(size=(rows, 4))
    values[:, 0] = np.arange(rows)
    return values


def records(store: Store) -> NDArray[Any]:
    """All records of a dense store that are no filling."""
    blocks = [store.block(index) for index in range(store.block_count)]
    rows = np.concatenate([to_rows(block, block.shape[0] * 64) for block in blocks])
    return rows[rows.any(axis=1)]


NUMBERS = [3, 4, 63, 64, 65, 127, 199, 199, 199]


@pytest.mark.parametrize("block_rows", [64, 128, 640])
def test_a_dense_batch_has_the_drawn_records_in_any_blocks(block_rows: int) -> None:
    values = table(200)
    store = BatchStore(memory_store(values, block_rows), chosen(NUMBERS))
    np.testing.assert_array_equal(records(store), values[NUMBERS])


def test_a_batch_of_a_scratch_file_is_that_of_the_memory() -> None:
    values = table(200)
    memory = memory_store(values, 64)
    with ScratchStore(memory.layout) as scratch:
        for index in range(memory.block_count):
            scratch.append(memory.block(index))
        np.testing.assert_array_equal(records(BatchStore(scratch, chosen(NUMBERS))), values[NUMBERS])


@pytest.mark.parametrize("numbers", [[], [0], [199]])
def test_empty_and_single_batches(numbers: list[int]) -> None:
    values = table(200)
    np.testing.assert_array_equal(records(BatchStore(memory_store(values, 64), chosen(numbers))), values[numbers])


def test_numbers_of_the_filling_are_never_asked_for() -> None:
    """The last tile of 200 records has 56 zero records: they are no records, and not drawn."""
    asked: list[tuple[int, int]] = []

    def members(first: int, count: int) -> Integers:
        asked.append((first, count))
        return np.empty(0, dtype=np.int64)

    store = BatchStore(memory_store(table(200), 128), members)
    for index in range(store.block_count):
        store.block(index)
    assert asked == [(0, 128), (128, 72)]


def test_a_sparse_batch_has_the_records_of_the_dense_one() -> None:
    rows = BLOCK_ROWS + 321
    X = RNG.uniform(-1, 1, (rows, 9)) * (RNG.random((rows, 9)) < 0.3)
    y = RNG.integers(0, 2, rows)
    source = open_source(sp.csr_matrix(X), y)
    design = matrix_design(
        source.names, Binary("y", (0, 1)), bounds=(-1, 1), row_norm=None, intercept=True, shifted=False
    )
    store = admit(source, design)
    assert isinstance(store, SparseStore)
    numbers = [0, 1, 64, 2047, 2048, 2049, 2049, rows - 1]
    batch = BatchStore(store, chosen(numbers))
    found = []
    for index in range(batch.block_count):
        block = batch.block(index)
        whole = store.block(index).dense(store.width)
        places = np.array(
            [n - index * BLOCK_ROWS for n in numbers if index * BLOCK_ROWS <= n < (index + 1) * BLOCK_ROWS]
        )
        dense = to_rows(block.dense(store.width), len(places))
        np.testing.assert_array_equal(dense, to_rows(whole, whole.shape[0] * 64)[places])
        assert block.starts[-1] == len(block.values) == len(block.indices)
        found.append(len(places))
    assert found == [4, 4]


@pytest.mark.parametrize("block_tiles", [1, 9, None])
def test_a_batch_of_persons_has_all_their_records(block_tiles: int | None) -> None:
    sizes = np.arange(200) % 7 + 1
    people = [np.repeat((1 + i + np.arange(size) / 100)[:, None], 3, axis=1) for i, size in enumerate(sizes)]
    store = person_store(people, 300, block_tiles=block_tiles)
    numbers = [0, 5, 64, 150, 199, 199]
    batch = BatchStore(store, chosen(numbers))
    found: list[int] = []
    for index in range(batch.block_count):
        block = batch.block(index)
        for g in range(len(block.counts)):
            slots = block.tiles[block.starts[g] : block.starts[g + 1]]
            for lane in np.flatnonzero(block.counts[g]):
                count = int(block.counts[g, lane])
                person = int(slots[0, 2, lane]) - 1
                assert count == sizes[person]
                np.testing.assert_array_equal(slots[:count, :, lane], people[person])
                assert not slots[count:, :, lane].any()
                found.append(person)
    assert len(found) == 6
    assert len(set(found)) == 5


def test_a_batch_is_not_mapped() -> None:
    with pytest.raises(SettingError, match="read, not mapped"):
        BatchStore(memory_store(table(70)), chosen([1])).map(np.eye(3))
