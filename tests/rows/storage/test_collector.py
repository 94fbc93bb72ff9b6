from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.rows.storage.collector import Collector
from tacit.rows.storage.scratch_file import ScratchStore
from tacit.rows.storage.store import Layout, MemoryStore, Store, default_block_rows
from tacit.rows.storage.tiles import to_rows

DTYPE = np.dtype(np.float64)
WIDTH = 1 << 12
ROWS = default_block_rows(WIDTH, DTYPE)
LAYOUT = Layout(0, WIDTH, DTYPE, ROWS)


def collect(length: int, step: int, limit: int, layout: Layout = LAYOUT) -> Store:
    collector = Collector(layout, limit)
    done = 0
    while done < length:
        room = collector.room(min(step, length - done))
        room[:] = np.arange(done, done + len(room))[:, None]
        collector.advance(len(room))
        done += len(room)
    assert collector.length == length
    store = collector.finish()
    collector.close()
    return store


def content(store: Store) -> NDArray[Any]:
    blocks = [store.block(index) for index in range(store.block_count)]
    return to_rows(np.concatenate(blocks), store.length)


@pytest.mark.parametrize("length", [2, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS])
@pytest.mark.parametrize("step", [7, 1000])
@pytest.mark.parametrize(("limit", "kind"), [(1 << 40, MemoryStore), (0, ScratchStore)])
def test_rows_arrive_in_order(length: int, step: int, limit: int, kind: type[Store]) -> None:
    with collect(length, step, limit) as store:
        assert isinstance(store, kind)
        assert store.length == length
        np.testing.assert_array_equal(content(store)[:, 0], np.arange(length))


@pytest.mark.parametrize(("limit", "kind"), [(1 << 40, MemoryStore), (0, ScratchStore)])
def test_weight_and_offset_are_kept(limit: int, kind: type[Store]) -> None:
    layout = Layout(0, 2, DTYPE, 64, weighted=True, shifted=True)
    with collect(200, 7, limit, layout) as store:
        assert isinstance(store, kind)
        assert (store.width, store.weighted, store.shifted) == (2, True, True)
        assert content(store).tolist() == [[i] * 5 for i in range(200)]


def test_close_frees_the_scratch_file() -> None:
    collector = Collector(LAYOUT, 0)
    for _ in range(ROWS + 1):
        collector.room(1)[:] = 0.0
        collector.advance(1)
    assert collector._file is not None
    file = collector._file
    collector.close()
    assert file._file.closed
