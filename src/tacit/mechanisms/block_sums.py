"""Integer sums over the blocks of a store, on as many threads as there are cores. Private: blocks.

Sums are int64 and modulo 2^64, so their order, the block size and the threads cannot matter.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.storage.store import Store

THREADS_VARIABLE = "TACIT_THREADS"


def thread_count() -> int:
    """Threads to use: TACIT_THREADS where it is set, else the cores this process may run on."""
    asked = os.environ.get(THREADS_VARIABLE, "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@functools.cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    """Threads that wait for the next pass: to start them takes as long as to read a small table.

    A forked process has none of its parent's threads, and starts its own.
    """
    del process
    return ThreadPoolExecutor(threads)


def sum_blocks(
    store: Store, add: Callable[[NDArray[Any], NDArray[np.int64]], None], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """Let `add` add every block's integers to a total of the given shape."""
    threads = max(1, min(thread_count(), store.block_count))

    def worker(first: int) -> NDArray[np.int64]:
        total = np.zeros(shape, dtype=np.int64)
        for index in range(first, store.block_count, threads):
            add(store.block(index), total)
        return total

    if threads == 1:
        return worker(0)
    totals = list(_pool(threads, os.getpid()).map(worker, range(threads)))
    return np.asarray(np.sum(totals, axis=0, dtype=np.int64))
