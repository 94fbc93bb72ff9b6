import os
import stat
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import DataError, FileError
from tacit.rows.storage.record_store import ScratchStore, collected
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES


def empty_store(tiles: int = 1) -> ScratchStore:
    return ScratchStore(Layout(tiles * LANES, 1, np.dtype(np.float64), LANES))


def test_file_has_no_name_and_is_the_owners_alone() -> None:
    store = empty_store()
    descriptor = store._descriptor
    status = os.fstat(descriptor)
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert status.st_nlink == 0
    store.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    with pytest.raises(DataError):
        store.block(0)


def test_reading_past_the_end() -> None:
    store = empty_store()
    store.append(np.zeros((1, 1, LANES)))
    with pytest.raises(FileError, match="shorter"):
        store.block(0)
    store.close()


def test_full_disk_closes_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    store = empty_store()

    def full(*_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(FileError, match="TMPDIR") as caught:
        store.append(np.zeros((1, 2, LANES)))
    assert caught.value.__context__ is None
    with pytest.raises(DataError):
        store.block(0)


def test_failure_while_writing_frees_the_file() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    layout = Layout(2 * LANES, 1, np.dtype(np.float32), LANES)

    def blocks() -> Iterator[NDArray[Any]]:
        yield np.zeros((1, 2, LANES), dtype=np.float32)
        assert len(list(Path("/proc/self/fd").iterdir())) > before
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        collected(layout, blocks(), 0)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_threads_read_the_blocks_they_ask_for() -> None:
    layout = Layout(32 * LANES, 1, np.dtype(np.float64), LANES)
    tiles = np.arange(64.0 * LANES).reshape(32, 2, LANES)
    wrong: list[int] = []
    with collected(layout, [tile[None] for tile in tiles], 0) as store:

        def read() -> None:
            for index in list(range(store.block_count)) * 20:
                same = np.array_equal(store.block(index), tiles[layout.tiles(index)])
                wrong.extend([] if same else [index])

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_memory_stays_flat() -> None:
    rows, blocks = 1 << 14, 16
    layout = Layout(rows * blocks, 15, np.dtype(np.float32), rows)
    block = np.zeros((rows // LANES, 16, LANES), dtype=np.float32)
    tracemalloc.start()
    with collected(layout, (block for _ in range(blocks)), 0) as store:
        for index in range(blocks):
            store.block(index)
        with store.map(np.eye(15)) as image:
            image.block(blocks - 1)
        peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * block.nbytes < blocks * block.nbytes
