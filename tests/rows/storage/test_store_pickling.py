"""A store leaves its process by no way that Python offers: neither pickled nor copied."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tacit.errors import DataError
from tacit.rows.cluster.cluster_store import ClusterBatch, ClusterStore
from tacit.rows.storage.batch_store import BatchStore
from tacit.rows.storage.grouped_rows import GroupedRows
from tacit.rows.storage.record_store import BLOCK_ROWS, SparseBlock, SparseStore, SubsampledStore, collected
from tacit.rows.storage.store import Layout, Store
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

ROWS = np.column_stack([np.linspace(0, 1, 70), np.ones(70)])


def scratch() -> Store:
    store = memory_store(ROWS)
    return collected(store.layout, [store.block(0)], 0)


def sparse() -> Store:
    starts, outcome = np.array([0, 1, *[2] * 63]), np.zeros((1, 1, 64))
    block = SparseBlock(starts, np.array([2, 0], np.int32), np.array([0.5, 1.0]), outcome)
    return SparseStore(Layout(2, 3, np.dtype(np.float64), BLOCK_ROWS), [block])


STORES: dict[str, Callable[[], Store]] = {
    "memory": lambda: memory_store(ROWS),
    "subsample": lambda: SubsampledStore(memory_store(ROWS, drawn=np.zeros(70, dtype=np.uint8))),
    "scratch": scratch,
    "sparse": sparse,
    "persons": lambda: person_store([ROWS[:3], ROWS[3:4]], 3),
}


def protocol(number: int) -> Callable[[Any], Any]:
    return lambda store: pickle.dumps(store, number)


WAYS: list[Callable[[Any], Any]] = [
    *map(protocol, range(pickle.HIGHEST_PROTOCOL + 1)),
    copy.copy,
    copy.deepcopy,
    multiprocessing.reduction.ForkingPickler.dumps,
    lambda store: pickle.dumps({"nested": [store]}),
]


@pytest.mark.parametrize("kind", STORES)
def test_no_store_is_pickled_or_copied(kind: str) -> None:
    with STORES[kind]() as store:
        before = np.asarray(store.block(0)[0]).tobytes()
        for way in WAYS:
            with pytest.raises(DataError, match="neither pickled nor copied"):
                way(store)
        assert np.asarray(store.block(0)[0]).tobytes() == before


def test_every_kind_of_store_is_tried() -> None:
    kinds = set()
    for make in STORES.values():
        with make() as store:
            kinds.add(type(store))
    own = {kind for kind in Store.__subclasses__() if kind.__module__.startswith("tacit.")}
    # A batch is made of another store for one answer, a cluster's has workers; all refuse by the same method.
    elsewhere = {BatchStore, ClusterStore, ClusterBatch}
    assert kinds == own - elsewhere
    assert all("__reduce__" not in vars(kind) for kind in elsewhere)


def test_grouped_rows_are_not_pickled_or_copied_either() -> None:
    rows = GroupedRows.admit((np.zeros((3, 2, 4), dtype=np.int16),), np.array([0, 1, 2]), 3)
    for way in WAYS:
        with pytest.raises(DataError, match="neither pickled nor copied"):
            way(rows)
