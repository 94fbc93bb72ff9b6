from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.rows.storage.record_store import MemoryStore, ScratchStore, collected
from tacit.rows.storage.store import Layout, Store, default_block_rows
from tacit.rows.storage.tiles import to_rows, to_tiles

DTYPE = np.dtype(np.float64)
WIDTH = 1 << 12
ROWS = default_block_rows(WIDTH, DTYPE)
LAYOUT = Layout(0, WIDTH, DTYPE, ROWS)


def block_of(first: int, count: int, layout: Layout) -> NDArray[Any]:
    rows = np.repeat(np.arange(first, first + count, dtype=DTYPE)[:, None], layout.columns, axis=1)
    return to_tiles(rows)


def collect(length: int, limit: int, layout: Layout = LAYOUT) -> Store:
    starts = range(0, length, layout.block_rows)
    blocks = (block_of(first, min(layout.block_rows, length - first), layout) for first in starts)
    return collected(replace(layout, length=length), blocks, limit)


def content(store: Store) -> NDArray[Any]:
    blocks = [store.block(index) for index in range(store.block_count)]
    return to_rows(np.concatenate(blocks), store.length)


@pytest.mark.parametrize("length", [2, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS])
@pytest.mark.parametrize(("limit", "kind"), [(1 << 40, MemoryStore), (0, ScratchStore)])
def test_rows_arrive_in_order(length: int, limit: int, kind: type[Store]) -> None:
    with collect(length, limit) as store:
        assert isinstance(store, kind)
        assert store.length == length
        np.testing.assert_array_equal(content(store)[:, 0], np.arange(length))


@pytest.mark.parametrize(("limit", "kind"), [(1 << 40, MemoryStore), (0, ScratchStore)])
def test_weight_and_offset_are_kept(limit: int, kind: type[Store]) -> None:
    layout = Layout(0, 2, DTYPE, 64, weighted=True, shifted=True)
    with collect(200, limit, layout) as store:
        assert isinstance(store, kind)
        assert (store.width, store.layout.weighted, store.layout.shifted) == (2, True, True)
        assert content(store).tolist() == [[i] * 5 for i in range(200)]


def test_blocks_are_written_once_they_exceed_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    monkeypatch.setattr(ScratchStore, "append", lambda _, block: written.append(block.nbytes))
    size = block_of(0, ROWS, LAYOUT).nbytes

    def blocks() -> Iterator[NDArray[Any]]:
        for index in range(4):
            assert len(written) == (0 if index < 3 else 3)
            yield block_of(0, ROWS, LAYOUT)

    collected(replace(LAYOUT, length=4 * ROWS), blocks(), 2 * size).close()
    assert written == [size] * 4
