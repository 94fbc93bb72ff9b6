from typing import Any

import numpy as np
import pytest

from tacit.rows.storage.tiles import LANES, tile_count, to_rows, to_tiles

RNG = np.random.default_rng(23)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("length", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_rows_come_back_and_the_rest_is_zero(dtype: Any, length: int, columns: int) -> None:
    rows = RNG.normal(size=(length, columns)).astype(dtype)
    tiles = to_tiles(rows)
    assert tiles.shape == (tile_count(length), columns, LANES)
    assert tiles.flags.c_contiguous
    assert to_rows(tiles, length).tobytes() == rows.tobytes()
    assert not to_rows(tiles, len(tiles) * LANES)[length:].any()


def test_record_i_is_lane_i_of_its_tile() -> None:
    rows = np.arange(300.0).reshape(100, 3)
    tiles = to_tiles(rows)
    for i in (0, 63, 64, 99):
        assert tiles[i // LANES, :, i % LANES].tolist() == rows[i].tolist()


def test_given_room_is_filled_whatever_it_held() -> None:
    room = np.full((2, 2, LANES), np.nan)
    rows = np.ones((65, 2))
    assert to_tiles(rows, room) is room
    np.testing.assert_array_equal(room, to_tiles(rows))
