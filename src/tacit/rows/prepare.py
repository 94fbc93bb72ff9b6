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

from tacit.compiling import compiled
from tacit.errors import BoundsError
from tacit.problem.design import Design
from tacit.rows.tiles import LANES, tile_count

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
        tiles = np.empty((tile_count(len(out)), out.shape[1], LANES), dtype=out.dtype)
        self.prepare_tiles(values, behind, valid, tiles)
        out[:] = tiles.transpose(0, 2, 1).reshape(-1, out.shape[1])[: len(out)]

    def prepare_tiles(
        self,
        values: NDArray[np.float64],
        behind: NDArray[np.float64],
        valid: NDArray[np.bool_],
        tiles: NDArray[Any],
    ) -> None:
        """Write the prepared records into tiles, float32 or float64, the last filled with zeros."""
        # Rounding to the stored type can lengthen a row by half a unit in the last place.
        margin = 2.0**-22 if tiles.dtype == np.float32 else 2.0**-50
        _prepare(
            _readonly(values),
            _readonly(behind),
            _readonly(valid),
            (self.lower, self.upper, self.center, self.scale),
            # A row on the bound may exceed it by rounding, and is left alone.
            (self.feature_norm * (1.0 - margin), self.feature_norm * (1.0 + 2.0**-45)),
            self.intercept,
            tiles,
        )


def _readonly(array: NDArray[Any]) -> NDArray[Any]:
    # One type for the compiler, whether or not the caller's array may be written to.
    view = array.view()
    view.flags.writeable = False
    return view


@compiled
def _prepare(
    values: NDArray[np.float64],
    behind: NDArray[np.float64],
    valid: NDArray[np.bool_],
    public: tuple[NDArray[np.float64], ...],
    norms: tuple[float, float],
    intercept: bool,
    tiles: NDArray[Any],
) -> None:
    length, count = values.shape
    unit = np.empty((count, LANES), dtype=np.float64)
    factor = np.empty(LANES, dtype=np.float64)
    for t in range(tiles.shape[0]):
        first = t * LANES
        lanes = min(LANES, length - first)
        _gather(values, first, lanes, unit)
        _scale(unit, public)
        _shrink_factors(unit, norms, factor)
        for lane in range(LANES):
            usable = lane < lanes and valid[min(first + lane, length - 1)]
            if not (usable and factor[lane] >= 0.0):
                factor[lane] = math.nan
        for j in range(count):
            for lane in range(LANES):
                number = unit[j, lane] * factor[lane]
                tiles[t, j, lane] = number if factor[lane] >= 0.0 else 0.0
        for lane in range(LANES):
            usable = factor[lane] >= 0.0
            if intercept:
                tiles[t, count, lane] = 1.0 if usable else 0.0
            for j in range(behind.shape[1]):
                beyond = behind[min(first + lane, length - 1), j]
                tiles[t, count + intercept + j, lane] = beyond if usable else 0.0


@njit(nogil=True, error_model="numpy")
def _gather(values: NDArray[np.float64], first: int, lanes: int, unit: NDArray[np.float64]) -> None:
    """Turn `lanes` records into the first lanes of columns, 64 columns at a time; then zeros."""
    count = values.shape[1]
    for start in range(0, count, LANES):
        stop = min(start + LANES, count)
        for lane in range(lanes):
            for j in range(start, stop):
                unit[j, lane] = values[first + lane, j]
        for j in range(start, stop):
            for lane in range(lanes, LANES):
                unit[j, lane] = 0.0


@njit(nogil=True, error_model="numpy")
def _scale(unit: NDArray[np.float64], public: tuple[NDArray[np.float64], ...]) -> None:
    lower, upper, center, scale = public
    for j in range(unit.shape[0]):
        low, high, middle, size = lower[j], upper[j], center[j], scale[j]
        for lane in range(LANES):
            value = min(max(unit[j, lane], low), high)
            unit[j, lane] = min(max((value - middle) / size, -LARGEST), LARGEST)


@njit(nogil=True, error_model="numpy")
def _shrink_factors(
    unit: NDArray[np.float64], norms: tuple[float, float], factor: NDArray[np.float64]
) -> None:
    """Factor that brings each record to the norm bound; each sum is column after column."""
    largest = np.zeros(LANES)
    square = np.zeros(LANES)
    shrink = np.empty(LANES)
    for j in range(unit.shape[0]):
        for lane in range(LANES):
            largest[lane] = max(largest[lane], abs(unit[j, lane]))
    for lane in range(LANES):
        shrink[lane] = moderation(largest[lane])
    for j in range(unit.shape[0]):
        for lane in range(LANES):
            part = unit[j, lane] * shrink[lane]
            square[lane] += part * part
    for lane in range(LANES):
        factor[lane] = shrink_factor(square[lane], shrink[lane], norms)


@njit(nogil=True, error_model="numpy", inline="always")
def moderation(largest: float) -> float:
    """What a record is multiplied by before it is squared, by its largest entry.

    Entries so large or small that a square would overflow or vanish are scaled. Not beyond 1e300:
    an infinite factor would make no number of a zero.
    """
    moderate = 1e-100 < largest < 1e100 or largest == 0.0
    return 1.0 if moderate else 1.0 / max(largest, 1e-300)


@njit(nogil=True, error_model="numpy", inline="always")
def shrink_factor(square: float, shrink: float, norms: tuple[float, float]) -> float:
    """Factor that brings a record to the norm bound, by its square after `shrink`."""
    target, limit = norms
    norm = math.sqrt(square)
    return 1.0 if norm <= limit * shrink else target * shrink / norm
