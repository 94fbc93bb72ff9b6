"""Tiles of 64 records: how dense blocks lie in memory, and their images under a public matrix.

Private: the records. A tile is (column, lane): features, then outcome. Sums run over columns in order. Zeros fill up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.rows.storage.vector_product import write_images

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

LANES = 64  # records in a tile
FEW = 64  # columns below which a scaling of columns is mapped as any matrix is: one kernel fewer to compile
LARGEST = 1e15  # entry of a matrix; the image of rows of norm below 1e15 stays inside float32


def tile_count(rows: int) -> int:
    """Tiles that hold so many records."""
    return -(-rows // LANES)


def to_tiles(rows: NDArray[Any], tiles: NDArray[Any] | None = None) -> NDArray[Any]:
    """Lay records (row, column) out as tiles (tile, column, lane)."""
    if tiles is None:
        tiles = np.empty((tile_count(len(rows)), rows.shape[1], LANES), dtype=rows.dtype)
    _fill(readonly(rows), tiles)
    return tiles


def to_rows(tiles: NDArray[Any], length: int) -> NDArray[Any]:
    """Lay tiles out as `length` records (row, column); the inverse of `to_tiles`."""
    return np.ascontiguousarray(tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])[:length])


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to: one type for the compiler, whoever made the array."""
    view = array.view()
    view.flags.writeable = False
    return view


@compiled
def _fill(rows: NDArray[Any], tiles: NDArray[Any]) -> None:
    length, columns = rows.shape
    for t in range(tiles.shape[0]):
        count = min(LANES, length - t * LANES)
        for j in range(columns):
            for lane in range(count):
                tiles[t, j, lane] = rows[t * LANES + lane, j]
            for lane in range(count, LANES):
                tiles[t, j, lane] = 0.0


def tiles_in(block: Any) -> int:
    """Number of tiles of a dense or a sparse block."""
    return len(block if isinstance(block, np.ndarray) else block.outcome)


def tile_parts(block: Any, tiles: int) -> Iterator[Any]:
    """Parts of at most so many tiles of a dense or a sparse block; nothing is copied."""
    for first in range(0, tiles_in(block), tiles):
        stop = first + tiles
        yield block[first:stop] if isinstance(block, np.ndarray) else block.part(first, stop)


def written_out(block: Any, tiles: int, width: int) -> Iterator[NDArray[Any]]:
    """Read-only tiles of a dense block, all at once, or of a sparse one, at most so many at a time."""
    for part in [block] if isinstance(block, np.ndarray) else tile_parts(block, tiles):
        yield dense_tiles(part, width)


def dense_tiles(block: Any, width: int) -> NDArray[Any]:
    """Read-only tiles (tile, column, 64) of a dense or a sparse block."""
    return readonly(block if isinstance(block, np.ndarray) else block.dense(width))


def outcome_tiles(block: Any, width: int) -> tuple[NDArray[Any], int]:
    """The array that holds the outcome of a dense or a sparse block, and its first such column."""
    return (block, width) if isinstance(block, np.ndarray) else (block.outcome, 0)


def public_matrix(matrix: ArrayLike, width: int) -> Floats:
    """Check a square matrix of public numbers."""
    M = np.ascontiguousarray(matrix, dtype=np.float64)
    if M.shape != (width, width):
        raise SettingError(f"The map must be {width} by {width}, as wide as the records.")
    # A wide matrix is not copied for this.
    if not (M.min(initial=0.0) >= -LARGEST and M.max(initial=0.0) <= LARGEST):
        raise SettingError(f"The map must have finite entries of size at most {LARGEST:g}.")
    return M


class RowMap(NamedTuple):
    """A checked matrix of public numbers as the kernels read it, once for all blocks.

    `firsts` are the first columns that each image takes anything of. An `arrow` has what each image takes of its own
    column and of the last one, where it takes nothing else.
    """

    matrix: NDArray[Any]
    firsts: Integers
    arrow: tuple[NDArray[Any], NDArray[Any]] | None

    @classmethod
    def of(cls, matrix: Floats, dtype: np.dtype[Any]) -> RowMap:
        """Read a matrix for rows of a type."""
        taken = matrix != 0.0
        arrow = None
        if len(matrix) >= FEW and np.count_nonzero(taken[:-1]) == np.count_nonzero(np.diagonal(taken)[:-1]):
            last = matrix[-1].astype(dtype)
            last[-1] = 0.0
            arrow = np.diagonal(matrix).astype(dtype), last
        # An image of zeros takes the last column.
        taken[-1] = True
        return cls(matrix.astype(dtype) if arrow is None else matrix, np.argmax(taken, axis=0), arrow)


def map_tiles(tiles: NDArray[Any], matrix: Floats | RowMap, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Features M'u in place of u for a checked matrix M; outcome columns are copied.

    A library product would sum in an order that depends on a row's place (THEORY §16).

    Guarantee: the image of a row depends on that row and the matrix only, to the last bit. It is finite where the rows
    are, whose norm `admission.prepare` bounds by 1e15.
    """
    image = np.empty_like(tiles) if out is None else out
    given = matrix if isinstance(matrix, RowMap) else RowMap.of(matrix, tiles.dtype)
    if given.arrow is not None:
        _rescale(readonly(tiles), *given.arrow, image)
        return image
    # Scratch is made here and not in the kernel: to compile an allocation takes long.
    scratch = np.empty((len(given.matrix), LANES), dtype=tiles.dtype)
    _map(readonly(tiles), given.matrix, given.firsts, scratch, image)
    return image


@compiled
def _rescale(tiles: NDArray[Any], own: NDArray[Any], last: NDArray[Any], out: NDArray[Any]) -> None:
    width, zero = own.shape[0], own[0] - own[0]
    for t in range(tiles.shape[0]):
        # The last column is read before its image, which may take its place, is written.
        for j in range(width):
            a, b = own[j], last[j]
            for lane in range(LANES):
                # From 0, as every sum over columns: -0 becomes 0.
                out[t, j, lane] = (zero + a * tiles[t, j, lane]) + b * tiles[t, width - 1, lane]
        for j in range(width, tiles.shape[1]):
            for lane in range(LANES):
                out[t, j, lane] = tiles[t, j, lane]


@compiled
def _map(
    tiles: NDArray[Any], matrix: NDArray[Any], firsts: Integers, features: NDArray[Any], out: NDArray[Any]
) -> None:
    width = matrix.shape[0]
    for t in range(tiles.shape[0]):
        # The features of a tile are copied, so that its image may take its place.
        for j in range(width):
            for lane in range(LANES):
                features[j, lane] = tiles[t, j, lane]
        write_images(features, matrix, firsts, out[t])
        for j in range(width, tiles.shape[1]):
            for lane in range(LANES):
                out[t, j, lane] = tiles[t, j, lane]


@njit(nogil=True, error_model="numpy")
def combine(
    features: NDArray[Any], matrix: NDArray[Any], firsts: Integers, pair: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write M'u of every record u of a tile, each sum column after column; `pair` are two rows of scratch."""
    # Two images and four columns at a time, for speed; an odd last image is computed twice. Columns before the first
    # that an image takes would add zeros and are passed over: a triangular matrix takes half the time.
    width, images = matrix.shape
    fours = width - width % 4
    one, two = pair[0], pair[1]
    for k in range(0, images, 2):
        m = min(k + 1, images - 1)
        for lane in range(LANES):
            one[lane] = 0.0
            two[lane] = 0.0
        for four in range(min(firsts[k], firsts[m]) // 4, fours // 4):
            j = 4 * four
            a, b, c, d = matrix[j, k], matrix[j + 1, k], matrix[j + 2, k], matrix[j + 3, k]
            e, f, g, h = matrix[j, m], matrix[j + 1, m], matrix[j + 2, m], matrix[j + 3, m]
            for lane in range(LANES):
                u, v = features[j, lane], features[j + 1, lane]
                w, x = features[j + 2, lane], features[j + 3, lane]
                one[lane] = (((one[lane] + a * u) + b * v) + c * w) + d * x
                two[lane] = (((two[lane] + e * u) + f * v) + g * w) + h * x
        for j in range(fours, width):
            a, e = matrix[j, k], matrix[j, m]
            for lane in range(LANES):
                one[lane] += a * features[j, lane]
                two[lane] += e * features[j, lane]
        for lane in range(LANES):
            out[k, lane] = one[lane]
            out[m, lane] = two[lane]
