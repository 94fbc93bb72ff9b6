"""Threads and blocks add up every block once."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.mechanisms.block_sums import sum_blocks, thread_count
from tacit.rows.storage.store import MemoryStore


def test_every_block_is_added_once(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.arange(1000.0).reshape(500, 2)
    store = MemoryStore.of(values, 64)

    def add(tiles: NDArray[np.float64], total: NDArray[np.int64]) -> None:
        total += tiles[:, 0].sum().astype(np.int64)

    for threads in ("1", "2", "7", "100"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        assert sum_blocks(store, add, (1,))[0] == int(values[:, 0].sum())


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    store = MemoryStore.of(np.zeros((200, 2)), 64)

    def fail(tiles: NDArray[np.float64], total: NDArray[np.int64]) -> None:
        raise OverflowError

    with pytest.raises(OverflowError):
        sum_blocks(store, fail, (1,))


def test_thread_count_is_a_public_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("TACIT_THREADS", "none")
    assert thread_count() >= 1
