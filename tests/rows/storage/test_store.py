from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.errors import DataError, SettingError
from tacit.rows.storage.record_store import collected
from tacit.rows.storage.store import Layout, Store, default_block_rows, require_dtype
from tacit.rows.storage.tiles import LANES, to_rows, to_tiles
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(5)
TABLE = np.column_stack(
    [RNG.uniform(-0.5, 0.5, (203, 4)), RNG.integers(0, 2, 203), RNG.uniform(0, 1, 203), RNG.uniform(-9, 9, 203)]
)
PLAIN = TABLE[:, :5]
MATRIX = RNG.normal(size=(4, 4))


def stores(block_rows: int, dtype: Any, weighted: bool = False, shifted: bool = False) -> list[Store]:
    table = TABLE[:, : 5 + weighted + shifted].astype(dtype)
    layout = Layout(len(table), 4, np.dtype(dtype), block_rows, weighted, shifted)
    return [
        memory_store(table, block_rows, weighted=weighted, shifted=shifted),
        collected(
            layout, [to_tiles(table)[layout.tiles(index)] for index in range(layout.block_count)], memory_limit=0
        ),
    ]


def content(store: Store) -> NDArray[Any]:
    blocks = [store.block(index) for index in range(store.block_count)]
    return to_rows(np.concatenate(blocks), store.length)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_rows", [64, 128, 1280])
def test_same_records_and_image_whatever_the_blocks(block_rows: int, dtype: Any) -> None:
    reference = memory_store(PLAIN.astype(dtype)).map(MATRIX)
    for store in stores(block_rows, dtype):
        with store, store.map(MATRIX) as image:
            assert (store.length, store.width, store.layout.dtype) == (203, 4, np.dtype(dtype))
            assert store.block_count == -(-203 // block_rows)
            assert content(store).tobytes() == PLAIN.astype(dtype).tobytes()
            assert content(image).tobytes() == content(reference).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("weighted", "shifted"), [(True, False), (False, True), (True, True)])
def test_weight_and_offset_stay_after_the_response(weighted: bool, shifted: bool, dtype: Any) -> None:
    behind = TABLE[:, 4 : 5 + weighted + shifted].astype(dtype)
    reference = content(memory_store(PLAIN.astype(dtype)).map(MATRIX))
    for store in stores(64, dtype, weighted, shifted):
        with store, store.map(MATRIX) as image:
            assert (store.width, store.layout.weighted, store.layout.shifted) == (4, weighted, shifted)
            assert (image.layout.weighted, image.layout.shifted) == (weighted, shifted)
            for rows in (content(store), content(image)):
                assert np.ascontiguousarray(rows[:, 4:]).tobytes() == behind.tobytes()
            np.testing.assert_array_equal(content(image)[:, :4], reference[:, :4])
    for store in stores(64, dtype, weighted, shifted):
        with store.recast(MATRIX) as image:
            np.testing.assert_array_equal(content(image)[:, :4], reference[:, :4])
            np.testing.assert_array_equal(content(image)[:, 4:], behind)


def test_blocks_are_read_only_and_contiguous() -> None:
    for store in stores(64, np.float32):
        with store:
            block = store.block(1)
            assert block.flags.c_contiguous
            assert not block.flags.writeable


def test_nothing_is_read_after_closing() -> None:
    for store in stores(64, np.float32):
        store.close()
        store.close()
        with pytest.raises(DataError, match="given up"):
            store.block(0)


def test_map_of_another_width_is_refused() -> None:
    for store in stores(64, np.float32):
        with store, pytest.raises(SettingError, match="4 by 4"):
            store.map(np.eye(3))


def test_blocks_are_about_four_mebibytes() -> None:
    rows = default_block_rows(50, np.dtype(np.float32))
    assert 0.99 * 2**22 < rows * 51 * 4 <= 2**22
    assert rows % LANES == 0
    rows = default_block_rows(50, np.dtype(np.float32), outcome=3)
    assert 0.99 * 2**22 < rows * 53 * 4 <= 2**22
    assert default_block_rows(10**8, np.dtype(np.float64)) == LANES


def test_other_types_are_refused() -> None:
    with pytest.raises(SettingError, match="int64"):
        require_dtype(np.int64)
