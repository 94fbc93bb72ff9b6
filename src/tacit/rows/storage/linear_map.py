"""Rows in other coordinates: u ↦ M'u for a public matrix M, the same bits wherever a row stands.

Private: the rows. Public: the matrix. Each sum runs over the columns in order and the compiler
vectorises over the 64 records of a tile, so a row's image depends on that row and on M only. A
library product would not do: its order of summation depends on a row's place (THEORY §16).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.compiling import compiled
from tacit.errors import SettingError
from tacit.rows.storage.tiles import LANES

LARGEST = 1e15
"""Entries of the matrix; with rows of norm below 1e15 an image stays far inside float32."""


def public_matrix(matrix: ArrayLike, width: int) -> NDArray[np.float64]:
    """Check a square matrix of public numbers."""
    M = np.ascontiguousarray(matrix, dtype=np.float64)
    if M.shape != (width, width):
        raise SettingError(f"The map must be {width} by {width}, as wide as the records.")
    if not np.abs(M).max(initial=0.0) <= LARGEST:
        raise SettingError(f"The map must have finite entries of size at most {LARGEST:g}.")
    return M


def map_tiles(
    tiles: NDArray[Any], matrix: NDArray[np.float64], out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Image of tiles under a checked matrix; what stands behind the features is copied.

    Guarantee
    ---------
    - The image of a row depends on that row and the matrix only, to the last bit.
    - It is finite where the rows are, whose norm `rows.prepare` keeps below 1e15.

    Examples
    --------
    >>> from tacit.rows.storage.tiles import to_tiles
    >>> tiles = to_tiles(np.array([[0.5, 0.25, 1.0]]))
    >>> map_tiles(tiles, np.array([[2.0, 0.0], [0.0, 4.0]]))[0, :, 0].tolist()
    [1.0, 1.0, 1.0]
    """
    image = np.empty_like(tiles) if out is None else out
    view = tiles.view()
    view.flags.writeable = False
    # Scratch is made here and not in the kernel: to compile an allocation takes long.
    scratch = np.empty((len(matrix) + 2, LANES), dtype=tiles.dtype)
    _map(view, matrix.astype(tiles.dtype), first_columns(matrix), scratch, image)
    return image


def first_columns(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """First column that each image takes anything of; the last one for an image of zeros."""
    taken = matrix != 0.0
    taken[-1] = True
    return np.asarray(np.argmax(taken, axis=0))


@compiled
def _map(  # noqa: C901 - one pass, compiled once
    tiles: NDArray[Any],
    matrix: NDArray[Any],
    firsts: NDArray[np.int64],
    features: NDArray[Any],
    out: NDArray[Any],
) -> None:
    # Two images and four columns at a time, for speed; each record's sum is still column after
    # column, and an odd last image is computed twice. Columns before the first that an image has
    # would add zeros, and are passed over: a triangular matrix takes half the time.
    width = matrix.shape[0]
    fours = width - width % 4
    # Features of a tile are copied, so that its image may take its place; behind them stand sums.
    one, two = features[width], features[width + 1]
    for t in range(tiles.shape[0]):
        for j in range(width):
            for lane in range(LANES):
                features[j, lane] = tiles[t, j, lane]
        for k in range(0, width, 2):
            m = min(k + 1, width - 1)
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
                out[t, k, lane] = one[lane]
                out[t, m, lane] = two[lane]
        for j in range(width, tiles.shape[1]):
            for lane in range(LANES):
                out[t, j, lane] = tiles[t, j, lane]
