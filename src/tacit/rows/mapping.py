"""The exact product of rows with a public matrix: the same bits whatever the blocks.

Private: the rows. Public: the matrix and the bound on the norm of a row.

Both factors are rounded to integers whose products cannot sum past 2^53, where float64 is exact in
any order. So any kernel may sum as it likes, and a row's image depends on that row alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from tacit.errors import BoundsError, SettingError

# ‖u_int‖ ≤ 2^25 and ‖m_int‖ ≤ 2^28 per column, hence Σ|u_int||m_int| ≤ 2^53 (Cauchy-Schwarz).
# Powers of two cost a bit at most: 24 bits below the row norm, 27 below the norm of a column, hence
# 22 bits of its largest entry up to width 1024.
ROW_BITS, COLUMN_BITS = 25, 28
# Keeps the rounding slack √width/2 far below both bounds.
LARGEST_WIDTH = 1 << 20
LARGEST = 1e15
# So many rows, and rows of the matrix, stay in cache; any numbers give the same bits.
CHUNK_ROWS = 128
PANEL_ROWS = 32
# Columns smaller than 2^-200 lose bits rather than let a power of two leave the normal range.
LARGEST_EXPONENT = 227


@dataclass(frozen=True)
class ExactMap:
    """u ↦ u M on integers: rint(u·2^b) · rint(M·2^s) · 2^-(b+s), with s of each column its own.

    Guarantee
    ---------
    - The integer product is exact in any order of summation, for every row, trusted or not: a row
      whose integer norm exceeds 2^25 is scaled down by truncation first, NaN counts as zero.
    - The image of a row depends on that row, the matrix and `row_norm` only.
    - The rounding of a row is at most √width·2^-25 of the row norm bound, that of a matrix column
      at most √width·2^-28 of its norm.

    Examples
    --------
    >>> block = np.array([[0.5, 0.25, 1.0]])
    >>> ExactMap.of([[2.0, 0.0], [0.0, 4.0]], row_norm=1.0).apply(block).tolist()
    [[1.0, 1.0, 1.0]]
    """

    integers: NDArray[np.float64]
    row_scale: float
    back: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: ArrayLike, row_norm: float) -> ExactMap:
        """Round a public square matrix for rows of norm at most `row_norm`."""
        M = np.asarray(matrix, dtype=np.float64)
        if M.ndim != 2 or M.shape[0] != M.shape[1]:
            raise SettingError(f"The map must be a square matrix; got shape {M.shape}.")
        width = len(M)
        if width > LARGEST_WIDTH or not np.abs(M).max(initial=0.0) <= LARGEST:
            raise SettingError(f"The map must have finite entries of size at most {LARGEST}.")
        if not 1 / LARGEST <= row_norm <= LARGEST:
            raise BoundsError(f"row_norm must lie in [{1 / LARGEST}, {LARGEST}]; got {row_norm!r}.")
        # Rounding adds at most √width/2 to a norm; the small factor covers the float norm itself.
        slack = math.sqrt(width) / 2
        row_exponent = _exponent(row_norm, 2.0**ROW_BITS - slack)
        norms = np.linalg.norm(M, axis=0) * (1 + 2.0**-20)
        exponents = np.array([_exponent(norm, 2.0**COLUMN_BITS - slack) for norm in norms.tolist()])
        return cls(
            integers=np.rint(np.ldexp(M, exponents)),
            row_scale=math.ldexp(1.0, row_exponent),
            back=np.ldexp(1.0, -exponents - row_exponent),
        )

    def apply(self, block: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Image of a block of records (features, response); the response is copied."""
        image = np.empty_like(block) if out is None else out
        view = block.view()
        view.flags.writeable = False
        rows = np.empty((min(CHUNK_ROWS, len(block)), len(self.integers)), dtype=np.float64)
        product = np.empty_like(rows)
        for start in range(0, len(block), CHUNK_ROWS):
            part = slice(start, min(start + CHUNK_ROWS, len(block)))
            count = part.stop - part.start
            _quantise(view[part], self.row_scale, 2.0**ROW_BITS, rows[:count])
            _multiply(rows[:count], self.integers, product[:count])
            _finish(product[:count], self.back, view[part], image[part])
        return image


def _exponent(norm: float, bound: float) -> int:
    """Largest e, within range, with norm·2^e ≤ bound."""
    if norm == 0.0:
        return 0
    exponent = min(math.floor(math.log2(bound) - math.log2(norm)) + 1, LARGEST_EXPONENT)
    while math.ldexp(norm, exponent) > bound:
        exponent -= 1
    return exponent


@njit(cache=True, nogil=True, error_model="numpy")
def _quantise(block: NDArray[Any], scale: float, bound: float, out: NDArray[np.float64]) -> None:
    rows, count = out.shape
    for i in range(rows):
        square = 0.0
        for j in range(count):
            value = np.rint(np.float64(block[i, j]) * scale)
            if not abs(value) <= bound:
                value = 0.0 if math.isnan(value) else math.copysign(bound, value)
            out[i, j] = value
        # Squares are integers up to 2^50; a sum that passes the test was exact all along.
        for j in range(count):
            square += out[i, j] * out[i, j]
        if square > bound * bound:
            factor = (1.0 - 2.0**-30) * bound / math.sqrt(square)
            for j in range(count):
                out[i, j] = np.trunc(out[i, j] * factor)


# Not BLAS: its threads wait for each other, which on a busy machine takes longer than the product.
@njit(cache=True, nogil=True)
def _multiply(
    rows: NDArray[np.float64], matrix: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    count, width = rows.shape
    out[:] = 0.0
    for first in range(0, width, PANEL_ROWS):
        last = min(first + PANEL_ROWS, width)
        whole = last - (last - first) % 4
        for i in range(count):
            image = out[i]
            for k in range(first, whole, 4):
                a, b, c, d = rows[i, k], rows[i, k + 1], rows[i, k + 2], rows[i, k + 3]
                for j in range(width):
                    image[j] += (a * matrix[k, j] + b * matrix[k + 1, j]) + (
                        c * matrix[k + 2, j] + d * matrix[k + 3, j]
                    )
            for k in range(whole, last):
                a = rows[i, k]
                for j in range(width):
                    image[j] += a * matrix[k, j]


@njit(cache=True, nogil=True)
def _finish(
    product: NDArray[np.float64], back: NDArray[np.float64], block: NDArray[Any], out: NDArray[Any]
) -> None:
    rows, count = product.shape
    for i in range(rows):
        for j in range(count):
            out[i, j] = product[i, j] * back[j]
        out[i, count] = block[i, count]
