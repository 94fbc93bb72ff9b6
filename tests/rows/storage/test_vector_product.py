"""Images in vector registers have the bits of a plain loop."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.rows.storage.tiles import LANES, map_tiles, to_rows, to_tiles
from tacit.rows.storage.vector_product import IMAGES, RUN

KINDS = ("full", "triangular", "sparse", "arrow", "zero")


def matrix_of(kind: str, width: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(width)
    matrix = rng.standard_normal((width, width))
    if kind == "triangular":
        matrix = np.tril(matrix)
    elif kind == "sparse":
        matrix *= rng.random((width, width)) < 0.2
    elif kind == "arrow":
        last = matrix[-1].copy()
        matrix = np.diag(np.diagonal(matrix))
        matrix[-1] = last
    elif kind == "zero":
        matrix[:, ::2] = 0.0
    return matrix


def by_loop(rows: NDArray[np.floating], matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    """Sums column after column, each product and sum rounded to the rows' type."""
    image = np.zeros((len(rows), matrix.shape[1]), dtype=rows.dtype)
    for j in range(len(matrix)):
        image += rows[:, j : j + 1] * matrix[j].astype(rows.dtype)
    return image


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [1, 2, IMAGES - 1, IMAGES, IMAGES + 1, 13, RUN - 1, RUN, RUN + 1, 2 * RUN + 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits_are_those_of_a_plain_loop(kind: str, width: int, dtype: type) -> None:
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((LANES + 9, width + 2)).astype(dtype) * dtype(10.0) ** rng.integers(-8, 8)
    matrix, tiles = matrix_of(kind, width), to_tiles(rows)
    image = map_tiles(tiles, matrix)
    expected = np.column_stack([by_loop(rows[:, :width], matrix), rows[:, width:]])
    bits = np.uint32 if dtype is np.float32 else np.uint64
    np.testing.assert_array_equal(to_rows(image, len(rows)).view(bits), expected.view(bits))
    # In place too: the image of a tile may take its place.
    np.testing.assert_array_equal(map_tiles(tiles, matrix, tiles).view(bits), image.view(bits))


def test_an_image_depends_on_its_record_alone() -> None:
    rng = np.random.default_rng(3)
    rows, matrix = rng.standard_normal((200, 71)).astype(np.float32), matrix_of("full", 70)
    whole = to_rows(map_tiles(to_tiles(rows), matrix), 200)
    order = rng.permutation(200)
    moved = to_rows(map_tiles(to_tiles(rows[order]), matrix), 200)
    np.testing.assert_array_equal(moved.view(np.uint32), whole[order].view(np.uint32))
    alone = to_rows(map_tiles(to_tiles(rows[17:18]), matrix), 1)
    np.testing.assert_array_equal(alone.view(np.uint32), whole[17:18].view(np.uint32))
