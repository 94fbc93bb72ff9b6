"""Sums over a store: threads and blocks add up every block once."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import thread_count
from tests.rows.memory_stores import memory_store


def column_sum(store: MemoryStore, column: int, bound: int) -> NDArray[np.int64]:
    """The sum of one column, times the bound."""

    def add(tiles: NDArray[Any], total: NDArray[np.int64]) -> None:
        total += bound * tiles[:, column].sum().astype(np.int64)

    return store.total((1,), add)


def fail(tiles: NDArray[Any], total: NDArray[np.int64]) -> None:
    raise OverflowError


@pytest.mark.parametrize("block_rows", [64, 192, 512])
def test_every_block_is_added_once(monkeypatch: pytest.MonkeyPatch, block_rows: int) -> None:
    values = np.arange(1000.0).reshape(500, 2)
    store = memory_store(values, block_rows)
    for threads in ("1", "2", "7", "100"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        assert column_sum(store, 1, 3)[0] == 3 * int(values[:, 1].sum())


def test_totals_of_a_store_cut_in_two_add_up() -> None:
    values = np.random.default_rng(1).integers(-50, 50, (500, 2)).astype(float)
    whole = column_sum(memory_store(values), 0, 1)
    halves = [column_sum(memory_store(half), 0, 1) for half in np.split(values, 2)]
    assert whole == sum(halves)


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    store = memory_store(np.zeros((200, 2)), 64)
    with pytest.raises(OverflowError):
        store.total((1,), fail)


def test_thread_count_is_a_public_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("TACIT_THREADS", "none")
    assert thread_count() >= 1
