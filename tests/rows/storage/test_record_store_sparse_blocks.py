from typing import Any

import numpy as np
import pytest

from tacit.rows.storage.record_store import SparseBlock
from tacit.rows.storage.tiles import LANES, dense_tiles, tile_parts, tiles_in

RNG = np.random.default_rng(2)
WIDTH, TILES = 6, 5


def make_block(dtype: Any) -> SparseBlock:
    mask = RNG.random((TILES * LANES, WIDTH)) < 0.4
    starts = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]).astype(np.int64)
    return SparseBlock(
        starts,
        np.nonzero(mask)[1].astype(np.int32),
        RNG.normal(size=int(starts[-1])).astype(dtype),
        RNG.normal(size=(TILES, 2, LANES)).astype(dtype),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_written_out_records(dtype: Any) -> None:
    block = make_block(dtype)
    tiles = block.dense(WIDTH)
    assert (tiles.shape, tiles.dtype) == ((TILES, WIDTH + 2, LANES), np.dtype(dtype))
    for record in (0, 63, 64, 200, TILES * LANES - 1):
        row = np.zeros(WIDTH, dtype=dtype)
        stored = slice(block.starts[record], block.starts[record + 1])
        row[block.indices[stored]] = block.values[stored]
        assert tiles[record // LANES, :WIDTH, record % LANES].tolist() == row.tolist()
    assert (tiles[:, WIDTH:] == block.outcome).all()


@pytest.mark.parametrize("at_once", [1, 2, 4, 5, 9])
def test_parts_of_either_storage_are_the_same_records(at_once: int) -> None:
    block = make_block(np.float64)
    tiles = block.dense(WIDTH)
    for storage in (block, tiles):
        assert tiles_in(storage) == TILES
        parts = [*tile_parts(storage, at_once)]
        assert all(tiles_in(part) <= at_once for part in parts)
        joined = np.concatenate([dense_tiles(part, WIDTH) for part in parts])
        assert (joined == tiles).all()


def test_a_part_copies_nothing() -> None:
    block = make_block(np.float32)
    part = block.part(1, 3)
    assert part.values is block.values
    assert np.shares_memory(part.starts, block.starts)
