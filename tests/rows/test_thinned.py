"""Thinned stores: which records are read goes by their places alone."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.rows.store import MemoryStore
from tacit.rows.thinned import ThinnedStore, can_thin
from tacit.rows.tiles import to_rows


def table(rows: int) -> np.ndarray:
    """Records that tell their place."""
    return np.column_stack([np.arange(rows, dtype=float), np.ones(rows)])


def read(store: ThinnedStore) -> list[float]:
    """Places of the records read, padding left out."""
    blocks = [store.block(index) for index in range(store.block_count)]
    rows = np.concatenate([to_rows(block, len(block) * 64) for block in blocks])
    return [float(place) for place in np.unique(rows[rows[:, 1] == 1.0, 0])]


@pytest.mark.parametrize("every", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", [1, 64, 65, 500])
def test_the_cut_into_blocks_does_not_matter(rows: int, every: int) -> None:
    expected = [float(i) for i in range(rows) if (i // 64) % every == 0]
    for block_rows in (64, 128, 192, 640):
        thinned = ThinnedStore(MemoryStore.of(table(rows), block_rows), every)
        assert read(thinned) == expected
        assert thinned.read == len(expected)


def test_blocks_cannot_be_written() -> None:
    block = ThinnedStore(MemoryStore.of(table(300), 64), 2).block(0)
    assert not block.flags.writeable
    assert block.flags.c_contiguous


def test_it_is_not_mapped() -> None:
    thinned = ThinnedStore(MemoryStore.of(table(10)), 2)
    with pytest.raises(SettingError, match="not mapped"):
        thinned.map(np.eye(1))


def test_other_storage_is_refused() -> None:
    thinned = ThinnedStore(MemoryStore.of(table(10)), 2)
    assert not can_thin(thinned)
    with pytest.raises(SettingError, match="thinned"):
        ThinnedStore(thinned, 2)


def test_closing_leaves_the_records() -> None:
    store = MemoryStore.of(table(10))
    ThinnedStore(store, 2).close()
    assert store.block(0).size
