"""A part of a store: which records are in it goes by their lots alone."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.rows.storage.store import MemoryStore
from tacit.rows.storage.subsample import ThinnedStore, thinned
from tacit.rows.storage.subsampling import ordered
from tacit.rows.storage.tiles import LANES, to_rows

RNG = np.random.default_rng(3)


def table(rows: int) -> np.ndarray:
    """Records that tell their place."""
    return np.column_stack([np.arange(rows, dtype=float), np.ones(rows)])


def lots(rows: int) -> np.ndarray:
    return RNG.integers(0, 256, rows, dtype=np.uint8)


def read(store: ThinnedStore) -> list[float]:
    """Places of the records read, padding left out."""
    blocks = [store.block(index) for index in range(store.block_count)]
    rows = np.concatenate([to_rows(block, len(block) * LANES) for block in blocks])
    assert len(rows) - (rows[:, 1] == 1.0).sum() == store.padding
    return sorted(float(place) for place in rows[rows[:, 1] == 1.0, 0])


@pytest.mark.parametrize("rows", [1, 64, 65, 500])
def test_a_record_is_read_by_its_lot_however_blocks_are_cut(rows: int) -> None:
    drawn = lots(rows)
    expected = [float(i) for i in range(rows) if drawn[i] < 64]
    for block_rows in (64, 128, 192, 640):
        part = ThinnedStore(MemoryStore.of(table(rows), block_rows, drawn=drawn))
        assert read(part) == expected
        assert part.read == len(expected)


def test_t08_the_order_of_the_records_does_not_matter() -> None:
    """Also one that a replaced record changes: lots go with their records."""
    rows, drawn = table(500), lots(500)
    order = RNG.permutation(500)
    parts = [
        read(ThinnedStore(MemoryStore.of(rows[o], 128, drawn=drawn[o])))
        for o in (np.arange(500), order)
    ]
    assert parts[0] == parts[1]


def test_parts_stay_what_they_are_in_other_coordinates() -> None:
    drawn = lots(300)
    store = MemoryStore.of(table(300), 128, drawn=drawn)
    before = read(ThinnedStore(store))
    assert read(ThinnedStore(store.map([[2.0]]))) == [2 * place for place in before]
    assert read(ThinnedStore(store.recast([[2.0]]))) == [2 * place for place in before]


def test_the_chance_of_a_record_is_public_and_right() -> None:
    rows = 100_000
    store = MemoryStore.of(table(rows), drawn=lots(rows))
    part, share = thinned(store, 4)
    assert isinstance(part, ThinnedStore)
    assert share == 0.25
    # Five deviations of a binomial number.
    assert abs(part.read - share * rows) < 5 * np.sqrt(rows * share)
    assert thinned(store, 1) == (store, 1.0)


def test_where_there_are_no_lots_all_is_read() -> None:
    store = MemoryStore.of(table(100))
    assert thinned(store, 4) == (store, 1.0)
    with pytest.raises(SettingError, match="thinned"):
        ThinnedStore(store)


def test_a_part_without_records_is_a_part() -> None:
    store = MemoryStore.of(table(70), 64, drawn=np.full(70, 255, dtype=np.uint8))
    part = ThinnedStore(store)
    assert part.block(0).shape == (0, 2, LANES)
    assert part.read == part.padding == 0


def test_blocks_cannot_be_written_and_are_copies() -> None:
    store = MemoryStore.of(table(300), 64, drawn=lots(300))
    block = ThinnedStore(store).block(0)
    assert not block.flags.writeable
    assert block.flags.c_contiguous
    assert not np.shares_memory(block, store.block(0))


def test_it_is_not_mapped() -> None:
    part = ThinnedStore(MemoryStore.of(table(10), drawn=lots(10)))
    with pytest.raises(SettingError, match="not mapped"):
        part.map(np.eye(1))


def test_closing_leaves_the_records() -> None:
    store = MemoryStore.of(table(10), drawn=lots(10))
    ThinnedStore(store).close()
    assert store.block(0).any()


def test_records_stay_in_their_order_within_the_part_and_beside_it() -> None:
    order, count = ordered(np.array([70, 63, 255, 0, 64], dtype=np.uint8))
    assert order.tolist() == [1, 3, 0, 2, 4]
    assert count == 2
