"""Preparing rows: clip, centre, scale and shrink each record by public facts alone.

Private: the rows. Public: bounds, centres, scales and the norm bound, all from the design.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.errors import BoundsError
from tacit.problem.design import Design

# Within these, squares of a norm bound are far from overflow and underflow, also in float32.
SMALLEST_NORM, LARGEST_NORM = 1e-15, 1e15
LARGEST = 1e300


@dataclass(frozen=True)
class Preparer:
    """The public numbers of a design, as the kernel takes them.

    The prepared record is (u, 1 if there is an intercept, response, weight?, offset?) with
    u = (clip(v, lower, upper) - center) / scale, shrunk to norm `feature_norm` where it is longer.
    What stands behind the features comes prepared. An invalid record is all zeros.

    Guarantee
    ---------
    - A prepared record depends on that record and the design only, bit by bit: not on its place,
      on the block it came in, or on any other record.
    - It is finite, and the norm of its stored features is at most feature_norm·(1 + 2^-40),
      whatever the record held.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    feature_norm: float
    intercept: bool

    @classmethod
    def of(cls, design: Design) -> Preparer:
        """Numbers of a design; a norm bound that squares badly is refused."""
        norm = design.feature_norm
        if design.columns and not SMALLEST_NORM <= norm <= LARGEST_NORM:
            raise BoundsError(
                f"The norm bound of a feature row must lie in [{SMALLEST_NORM}, {LARGEST_NORM}]; "
                f"got {norm!r}. Rescale the columns or declare another row_norm."
            )
        table = np.array(
            [(c.lower, c.upper, c.center, c.scale) for c in design.columns], dtype=np.float64
        ).reshape(len(design.columns), 4)
        lower, upper, center, scale = np.ascontiguousarray(table.T)
        return cls(lower, upper, center, scale, norm, design.intercept)

    def prepare(
        self,
        values: NDArray[np.float64],
        behind: NDArray[np.float64],
        valid: NDArray[np.bool_],
        out: NDArray[Any],
    ) -> None:
        """Write the prepared records into `out`, float32 or float64, one row each."""
        # Rounding to the stored type can lengthen a row by half a unit in the last place.
        margin = 2.0**-22 if out.dtype == np.float32 else 2.0**-50
        _prepare(
            _readonly(values),
            _readonly(behind),
            _readonly(valid),
            self.lower,
            self.upper,
            self.center,
            self.scale,
            self.feature_norm * (1.0 - margin),
            # A row on the bound may exceed it by rounding, and is left alone.
            self.feature_norm * (1.0 + 2.0**-45),
            self.intercept,
            out,
        )


def _readonly(array: NDArray[Any]) -> NDArray[Any]:
    # One type for the compiler, whether or not the caller's array may be written to.
    view = array.view()
    view.flags.writeable = False
    return view


@njit(cache=True, nogil=True, error_model="numpy")
def _prepare(  # noqa: PLR0917 - compiled code takes no keywords
    values: NDArray[np.float64],
    behind: NDArray[np.float64],
    valid: NDArray[np.bool_],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    center: NDArray[np.float64],
    scale: NDArray[np.float64],
    target: float,
    limit: float,
    intercept: bool,
    out: NDArray[Any],
) -> None:
    rows, count = values.shape
    unit = np.empty(count, dtype=np.float64)
    for i in range(rows):
        largest = 0.0
        for j in range(count):
            value = min(max(values[i, j], lower[j]), upper[j])
            unit[j] = min(max((value - center[j]) / scale[j], -LARGEST), LARGEST)
            largest = max(largest, abs(unit[j]))
        # Entries so large or small that a square would overflow or vanish are scaled first.
        shrink = 1.0 if 1e-100 < largest < 1e100 or largest == 0.0 else 1.0 / largest
        square = 0.0
        for j in range(count):
            square += (unit[j] * shrink) * (unit[j] * shrink)
        factor = 1.0
        if not math.sqrt(square) <= limit * shrink:
            factor = target * shrink / math.sqrt(square)
        usable = valid[i] and factor >= 0.0
        for j in range(count):
            out[i, j] = unit[j] * factor if usable else 0.0
        if intercept:
            out[i, count] = 1.0 if usable else 0.0
        for j in range(behind.shape[1]):
            out[i, count + intercept + j] = behind[i, j] if usable else 0.0
