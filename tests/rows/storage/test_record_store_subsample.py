"""The subsample of a store: which records are in it goes by their own bytes alone."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.errors import SettingError
from tacit.rows.storage.record_store import MemoryStore, SubsampledStore, subsample_first
from tacit.rows.storage.tiles import LANES, to_rows
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(3)


def table(rows: int) -> np.ndarray:
    """Records that tell their place."""
    return np.column_stack([np.arange(rows, dtype=float), np.ones(rows)])


def draw(rows: int) -> np.ndarray:
    return RNG.integers(0, 256, rows, dtype=np.uint8)


def read(store: SubsampledStore) -> list[float]:
    """Places of the records read, padding left out."""
    blocks = [store.block(index) for index in range(store.block_count)]
    rows = np.concatenate([to_rows(block, len(block) * LANES) for block in blocks])
    assert len(rows) - (rows[:, 1] == 1.0).sum() == store.padding
    return sorted(float(place) for place in rows[rows[:, 1] == 1.0, 0])


@pytest.mark.parametrize("rows", [1, 64, 65, 500])
def test_a_record_is_read_by_its_byte_however_blocks_are_cut(rows: int) -> None:
    drawn = draw(rows)
    expected = [float(i) for i in range(rows) if drawn[i] < 64]
    for block_rows in (64, 128, 192, 640):
        sample = SubsampledStore(memory_store(table(rows), block_rows, drawn=drawn))
        assert read(sample) == expected


def test_t08_the_order_of_the_records_does_not_matter() -> None:
    """Also one that a replaced record changes: bytes go with their records."""
    rows, drawn = table(500), draw(500)
    order = RNG.permutation(500)
    samples = [read(SubsampledStore(memory_store(rows[o], 128, drawn=drawn[o]))) for o in (np.arange(500), order)]
    assert samples[0] == samples[1]


def test_subsamples_stay_what_they_are_in_other_coordinates() -> None:
    drawn = draw(300)
    store = memory_store(table(300), 128, drawn=drawn)
    before = read(SubsampledStore(store))
    image = store.map([[2.0]])
    assert isinstance(image, MemoryStore)
    assert read(SubsampledStore(image)) == [2 * place for place in before]
    assert read(SubsampledStore(store.recast([[2.0]]))) == [2 * place for place in before]


def test_the_chance_of_a_record_is_public_and_right() -> None:
    rows = 100_000
    store = memory_store(table(rows), drawn=draw(rows))
    sample, share = store.subsampled(4)
    assert isinstance(sample, SubsampledStore)
    assert share == 0.25
    # Five deviations of a binomial number.
    assert abs(len(read(sample)) - share * rows) < 5 * np.sqrt(rows * share)
    assert store.subsampled(1) == (store, 1.0)


def test_where_nothing_was_drawn_all_is_read() -> None:
    store = memory_store(table(100))
    assert store.subsampled(4) == (store, 1.0)
    with pytest.raises(SettingError, match="No subsample"):
        SubsampledStore(store)


def test_a_subsample_without_records_is_one() -> None:
    store = memory_store(table(70), 64, drawn=np.full(70, 255, dtype=np.uint8))
    sample = SubsampledStore(store)
    assert sample.block(0).shape == (0, 2, LANES)
    assert read(sample) == []
    assert sample.padding == 0


def test_blocks_cannot_be_written_and_are_copies() -> None:
    store = memory_store(table(300), 64, drawn=draw(300))
    block = SubsampledStore(store).block(0)
    assert not block.flags.writeable
    assert block.flags.c_contiguous
    assert not np.shares_memory(block, store.block(0))


def test_it_is_not_mapped() -> None:
    sample = SubsampledStore(memory_store(table(10), drawn=draw(10)))
    with pytest.raises(SettingError, match="not mapped"):
        sample.map(np.eye(1))


def test_closing_leaves_the_records() -> None:
    store = memory_store(table(10), drawn=draw(10))
    SubsampledStore(store).close()
    assert store.block(0).any()


def test_records_stay_in_their_order_within_the_subsample_and_after_it() -> None:
    order, count = subsample_first(np.array([70, 63, 255, 0, 64], dtype=np.uint8))
    assert order.tolist() == [1, 3, 0, 2, 4]
    assert count == 2
