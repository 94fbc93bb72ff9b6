"""The store of persons: groups of 64, slots, blocks, other coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import DataError, SettingError
from tacit.rows.storage.person_store import PersonBlock, PersonStore, place_groups
from tacit.rows.storage.tiles import to_rows
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

MATRIX = np.array([[3.0, 0.2], [0.1, 0.5]])


def people(sizes: Any) -> list[NDArray[np.float64]]:
    """Person i has rows of i + slot / 100."""
    return [np.repeat((i + np.arange(size) / 100)[:, None], 3, axis=1) for i, size in enumerate(sizes)]


def read(store: PersonStore) -> dict[int, list[list[float]]]:
    """All persons by number, each with the rows in their slots."""
    found: dict[int, list[list[float]]] = {}
    for index in range(store.block_count):
        block = store.block(index)
        for g in range(len(block.counts)):
            slots = block.tiles[block.starts[g] : block.starts[g + 1]]
            for lane in np.flatnonzero(block.counts[g]):
                count = int(block.counts[g, lane])
                found[int(slots[0, 2, lane])] = slots[:count, :, lane].tolist()
                assert not slots[count:, :, lane].any()
    return found


@pytest.mark.parametrize("sizes", [[1, 1], [2, 1, 3], np.arange(200) % 7 + 1, [300, *[1] * 63]])
@pytest.mark.parametrize("block_tiles", [1, 9, None])
def test_every_person_stands_in_one_block_with_their_rows_in_order(sizes: Any, block_tiles: int | None) -> None:
    store = person_store(people(sizes), 300, block_tiles=block_tiles)
    assert store.length == len(sizes)
    assert store.layout.unit_rows == 300
    assert read(store) == {i: rows.tolist() for i, rows in enumerate(people(sizes))}


def test_few_slots_stand_empty() -> None:
    """Sorted by size, groups waste at most 64 times the most records of a person."""
    sizes = np.random.default_rng(0).zipf(1.6, 5000).clip(max=40)
    _, _, starts, counts = place_groups(sizes)
    assert counts.sum() == sizes.sum()
    assert starts[-1] * 64 - sizes.sum() <= 64 * 40


def test_lanes_without_a_person_have_no_records() -> None:
    block = person_store(people([2] * 70), 2).block(0)
    assert block.counts.shape == (2, 64)
    assert block.counts[1, 6:].sum() == 0
    assert not block.tiles[2:, :, 6:].any()


def test_blocks_are_read_only_and_parts_are_whole_groups() -> None:
    block = person_store(people([5] * 64 + [2] * 64 + [1] * 64), 5).block(0)
    assert [part.starts.tolist() for part in block.parts(3)] == [[0, 5], [0, 2, 3]]
    for part in (block, *(part.frozen() for part in block.parts(3))):
        assert not any(array.flags.writeable for array in part)
        assert part.tiles.flags.c_contiguous


def test_coordinates_change_row_by_row_as_in_a_store_of_rows() -> None:
    persons = people(np.arange(100) % 4 + 1)
    store = person_store(persons, 4, block_tiles=3)
    mapped = store.map(MATRIX)
    assert isinstance(mapped, PersonStore)
    rows = to_rows(memory_store(np.concatenate(persons)).map(MATRIX).block(0), 250)
    edges = np.cumsum([len(person) for person in persons])[:-1]
    expected = {i: part.tolist() for i, part in enumerate(np.split(rows, edges))}
    assert read(mapped) == expected
    assert read(store.recast(MATRIX)) == expected
    assert mapped.layout.unit_rows == 4
    with pytest.raises(DataError):
        store.block(0)
    with pytest.raises(DataError):
        store.recast(MATRIX)
    with pytest.raises(SettingError):
        mapped.map(np.eye(3))


def test_recasting_uses_the_same_memory() -> None:
    tiles = np.ones((1, 3, 64))
    block = PersonBlock(tiles, np.array([0, 1]), np.ones((1, 64), dtype=np.int64))
    layout = person_store(people([1] * 64), 1).layout
    store = PersonStore(layout, [block]).recast(np.diag([2.0, 5.0]))
    assert tiles[0, :, 0].tolist() == [2.0, 5.0, 1.0]
    assert np.shares_memory(store.block(0).tiles, tiles)


def test_a_closed_store_holds_nothing() -> None:
    with person_store(people([1, 2]), 2) as store:
        assert store.block_count == 1
    with pytest.raises(DataError, match="given up"):
        store.block(0)
