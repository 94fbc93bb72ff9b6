from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.rows.collector import Collector
from tacit.rows.scratch import ScratchStore
from tacit.rows.store import MemoryStore, Store, default_block_rows
from tacit.rows.tiles import to_rows

DTYPE = np.dtype(np.float64)
WIDTH = 1 << 12
ROWS = default_block_rows(WIDTH, DTYPE)


def collect(length: int, step: int, limit: int) -> Store:
    collector = Collector(WIDTH, DTYPE, limit)
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


def first_column(store: Store) -> NDArray[Any]:
    blocks = [store.block(index) for index in range(store.block_count)]
    return to_rows(np.concatenate(blocks), store.length)[:, 0]


@pytest.mark.parametrize("length", [2, ROWS - 1, ROWS, ROWS + 1, 3 * ROWS])
@pytest.mark.parametrize("step", [7, 1000])
@pytest.mark.parametrize(("limit", "kind"), [(1 << 40, MemoryStore), (0, ScratchStore)])
def test_rows_arrive_in_order(length: int, step: int, limit: int, kind: type[Store]) -> None:
    with collect(length, step, limit) as store:
        assert isinstance(store, kind)
        assert store.length == length
        np.testing.assert_array_equal(first_column(store), np.arange(length))


def test_close_frees_the_scratch_file() -> None:
    collector = Collector(WIDTH, DTYPE, 0)
    for _ in range(ROWS + 1):
        collector.room(1)[:] = 0.0
        collector.advance(1)
    assert collector._file is not None
    file = collector._file
    collector.close()
    assert file._file.closed
