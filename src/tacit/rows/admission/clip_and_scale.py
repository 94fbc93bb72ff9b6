"""Preparing rows: clip, centre, scale and shrink each record by public facts alone.

Private: the rows. Public: bounds, centres, scales and the norm bound, all from the design. Where a
design has open columns, the store holds raw records, as they came, until `rescale` prepares them.
A cell that a sparse matrix does not store is 0 and must stay so: its columns are never shifted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import DTypeLike, NDArray

from tacit.design.design import Design
from tacit.design.response import Continuous
from tacit.errors import BoundsError, SettingError
from tacit.kernel_compilation import compiled
from tacit.rows.encoding.outcome import mapped_response
from tacit.rows.sources.source import SparseRows
from tacit.rows.storage.record_store import SparseBlock
from tacit.rows.storage.store import Layout, Store, require_dtype
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, readonly, to_rows, to_tiles

# Within these, squares of a norm bound are far from overflow and underflow, also in float32.
SMALLEST_NORM, LARGEST_NORM = 1e-15, 1e15
LARGEST = 1e300


@dataclass(frozen=True)
class Preparer:
    """The public numbers of a design, as the kernel takes them.

    The prepared record is (u, 1 if there is an intercept, response, weight?, offset?) with u = (clip(v, lower, upper) -
    center) / scale, shrunk to norm `feature_norm` where it is longer. The outcome comes prepared. An invalid record is
    all zeros. A `raw` record, of a design with open columns, is stored as it came.

    Guarantee: a prepared record depends on that record and the design only, bit by bit: not on its place, on the block
    it came in, or on any other record. It is finite, and the norm of its stored features is at most feature_norm·(1 +
    2^-40), whatever the record held. A raw record depends on that record alone, bit by bit; an invalid one is NaN
    throughout. Of a sparse matrix, bounds that exclude 0 are refused.
    """

    bounds: Floats
    """Lower and upper bound, center and scale: a row each, a column for each of the design's."""
    feature_norm: float
    intercept: bool
    raw: bool

    @classmethod
    def of(cls, design: Design, *, sparse: bool = False) -> Preparer:
        """Numbers of a design; refused are a norm bound that squares badly, and moved zeros."""
        raw, norm = bool(design.open_places), design.feature_norm
        if design.columns and not raw and not SMALLEST_NORM <= norm <= LARGEST_NORM:
            got = f"[{SMALLEST_NORM}, {LARGEST_NORM}]; got {norm!r}. Rescale the columns or declare another row_norm."
            raise BoundsError(f"The norm bound of a feature row must lie in {got}")
        table = [(c.lower, c.upper, c.center, c.scale) for c in design.columns]
        bounds = np.array(table, dtype=np.float64).reshape(-1, 4).T.copy()
        if sparse and bounds[2].any():
            raise SettingError("A sparse matrix is scaled, never shifted; make its design with shifted=False.")
        outside = ~((bounds[0] <= 0.0) & (bounds[1] >= 0.0))
        if sparse and outside.any():
            name = design.columns[int(np.argmax(outside))].name
            advice = "Declare bounds that contain 0, or call .toarray() to fit a dense matrix."
            raise BoundsError(
                f"The bounds of {name!r} exclude 0, the value of every empty cell of a sparse matrix. {advice}"
            )
        return cls(bounds, norm, design.intercept, raw)

    def prepare(
        self, values: Floats, outcome: Floats, valid: Flags, tiles: NDArray[Any], order: Integers | None = None
    ) -> None:
        """Write the prepared records into tiles, in this order or their own; zeros fill up."""
        length, count = values.shape
        if self.raw:
            # Records that fill up the last tile are NaN too: a count passes over them.
            rows = np.full((len(tiles) * LANES, tiles.shape[1]), np.nan, dtype=tiles.dtype)
            own = rows[:length]
            own[:, :count] = values
            own[:, count : count + self.intercept] = 1.0
            own[:, count + self.intercept :] = outcome
            own[~valid] = np.nan
            if order is not None:
                own[:] = own[order]
            to_tiles(rows, tiles)
            return
        _prepare(
            readonly(values),
            readonly(outcome),
            readonly(valid),
            np.arange(length) if order is None else order,
            self.bounds,
            norm_limits(self.feature_norm, tiles.dtype),
            self.intercept,
            np.empty((count + 3, LANES)),
            tiles,
        )

    def tiles(self, encoded: tuple[Floats, Floats, Flags], layout: Layout) -> NDArray[Any]:
        """The prepared records in tiles of their own."""
        tiles = np.empty(replace(layout, length=len(encoded[2])).shape, dtype=layout.dtype)
        self.prepare(*encoded, tiles)
        return tiles


def rescale(store: Store, design: Design, dtype: DTypeLike = np.float32) -> Store:
    """Prepare the raw records of a store by a design with bounds; the store is closed.

    Guarantee: the result is, to the bit, what this design would have admitted; of a person with too many records and no
    declared order, those chosen as they came in. A design that differs by more than open bounds is refused.
    """
    opened = store.opened
    if opened is None or _closed_like(opened, design) != design:
        raise SettingError("Records are prepared by their own design, once, with all its bounds.")
    layout = replace(store.layout, dtype=require_dtype(dtype), opened=None)
    preparer = Preparer.of(design)

    def prepare(raw: NDArray[Any], out: NDArray[Any]) -> None:
        rows = to_rows(raw, len(raw) * LANES)
        values = np.ascontiguousarray(rows[:, : len(design.columns)])
        outcome = np.ascontiguousarray(rows[:, layout.width :])
        valid = ~np.isnan(outcome[:, 0])
        if isinstance(design.response, Continuous) and opened.response != design.response:
            outcome[:, 0] = mapped_response(design.response, outcome[:, 0])
        preparer.prepare(values, outcome, valid, out)

    image = store.rewritten(layout, prepare)
    store.close()
    return image


def _closed_like(opened: Design, design: Design) -> Design | None:
    """The opened design with the other's map of its open columns; None where one is still open."""
    if design.open_places or len(design.columns) != len(opened.columns):
        return None
    columns = tuple(
        replace(before, lower=b.lower, upper=b.upper, center=b.center, scale=b.scale) if before.is_open else before
        for before, b in zip(opened.columns, design.columns, strict=True)
    )
    response = design.response if opened.width in opened.open_places else opened.response
    return replace(opened, columns=columns, response=response)


def norm_limits(norm: float, dtype: np.dtype[Any]) -> tuple[float, float]:
    """Norm that longer rows are shrunk to, and the norm from which they are."""
    # Rounding to the stored type can lengthen a row by half a unit in the last place. A row on the
    # bound may exceed it by rounding, and is left alone.
    margin = 2.0**-22 if dtype == np.float32 else 2.0**-50
    return norm * (1.0 - margin), norm * (1.0 + 2.0**-45)


@compiled
def _prepare(  # noqa: C901, PLR0912, PLR0917 - one pass, compiled once
    values: Floats,
    outcome: Floats,
    valid: Flags,
    order: Integers,
    public: Floats,
    norms: tuple[float, float],
    intercept: bool,
    work: Floats,
    tiles: NDArray[Any],
) -> None:
    # `work` has a row for each column, and three more; rows are as long as a tile has lanes. Their
    # length is not written out as a constant: loops would be unrolled, which takes seconds.
    length, count = values.shape
    wide = work.shape[1]
    factor, largest, square = count, count + 1, count + 2
    for t in range(tiles.shape[0]):
        first = t * wide
        lanes = min(wide, length - first)
        work[:] = 0.0
        for start in range(0, count, wide):
            for lane in range(lanes):
                row = order[first + lane]
                for j in range(start, min(start + wide, count)):
                    work[j, lane] = values[row, j]
        for j in range(count):
            low, high, middle, size = public[0, j], public[1, j], public[2, j], public[3, j]
            for lane in range(wide):
                value = (min(max(work[j, lane], low), high) - middle) / size
                value = min(max(value, -LARGEST), LARGEST)
                work[j, lane] = value
                work[largest, lane] = max(work[largest, lane], abs(value))
        for lane in range(wide):
            work[factor, lane] = moderation(work[largest, lane])
        # Each record's sum is column after column.
        for j in range(count):
            for lane in range(wide):
                part = work[j, lane] * work[factor, lane]
                work[square, lane] += part * part
        for lane in range(wide):
            found = shrink_factor(work[square, lane], work[factor, lane], norms)
            usable = lane < lanes and valid[order[min(first + lane, length - 1)]]
            work[factor, lane] = found if usable and found >= 0.0 else math.nan
        for j in range(count):
            for lane in range(wide):
                number = work[j, lane] * work[factor, lane]
                tiles[t, j, lane] = number if work[factor, lane] >= 0.0 else 0.0
        for lane in range(wide):
            usable = work[factor, lane] >= 0.0
            if intercept:
                tiles[t, count, lane] = 1.0 if usable else 0.0
            for j in range(outcome.shape[1]):
                beyond = outcome[order[min(first + lane, length - 1)], j]
                tiles[t, count + intercept + j, lane] = beyond if usable else 0.0


@njit(nogil=True, error_model="numpy", inline="always")
def moderation(largest: float) -> float:
    """What a record is multiplied by before it is squared, by its largest entry."""
    # Entries whose square would overflow or vanish are scaled; beyond 1e300 the factor would be infinite.
    moderate = 1e-100 < largest < 1e100 or largest == 0.0
    return 1.0 if moderate else 1.0 / max(largest, 1e-300)


@njit(nogil=True, error_model="numpy", inline="always")
def shrink_factor(square: float, shrink: float, norms: tuple[float, float]) -> float:
    """Factor that brings a record to the norm bound, by its square after `shrink`."""
    target, limit = norms
    norm = math.sqrt(square)
    return 1.0 if norm <= limit * shrink else target * shrink / norm


def prepare_sparse(
    public: Preparer, rows: SparseRows, outcome: Floats, valid: Flags, dtype: np.dtype[Any]
) -> SparseBlock:
    """Block of the prepared records; `valid` turns false where a feature is none.

    Guarantee: the prepared record is the one that `Preparer` makes of the same record with its zeros written out,
    number by number; an invalid one has no features, and zeros as its outcome. It depends on that record and the design
    only, not on others or on how it was stored: zeros are left out.
    """
    length = len(valid)
    tiles = -(-length // LANES)
    starts = np.zeros(tiles * LANES + 1, dtype=np.int64)
    most = len(rows.values) + length * public.intercept
    indices, values = np.empty(most, dtype=np.int32), np.empty(most, dtype=dtype)
    stored = np.zeros((tiles, outcome.shape[1], LANES), dtype=dtype)
    _prepare_sparse(
        *rows,
        outcome,
        np.empty(int(np.diff(rows.starts).max(initial=0))),
        public.bounds,
        norm_limits(public.feature_norm, dtype),
        public.intercept,
        valid,
        SparseBlock(starts, indices, values, stored),
    )
    # Zeros and invalid records leave space over, which copies give back.
    used = starts[-1]
    return SparseBlock(starts, indices[:used].copy(), values[:used].copy(), stored)


@compiled
def _prepare_sparse(  # noqa: C901, PLR0917 - one pass, compiled once
    starts: Integers,
    indices: Integers,
    values: Floats,
    outcome: Floats,
    unit: Floats,
    bounds: Floats,
    limits: tuple[float, float],
    intercept: bool,
    valid: Flags,
    block: SparseBlock,
) -> None:
    lower, upper, scale = bounds[0], bounds[1], bounds[3]
    count = bounds.shape[1]
    used = 0
    for r in range(valid.shape[0]):
        first = starts[r]
        length = starts[r + 1] - first
        usable = valid[r]
        for k in range(length):
            j, value = indices[first + k], values[first + k]
            unit[k] = 0.0
            if 0 <= j < count:
                # The difference is 0 for finite numbers and NaN for the others.
                usable &= value - value == 0.0
                value = min(max(value, lower[j]), upper[j])
                unit[k] = min(max(value / scale[j], -LARGEST), LARGEST)
            else:
                usable = False
        largest = square = 0.0
        for k in range(length):
            largest = max(largest, abs(unit[k]))
        shrink = moderation(largest)
        for k in range(length):
            part = unit[k] * shrink
            square += part * part
        factor = shrink_factor(square, shrink, limits)
        usable &= factor >= 0.0
        valid[r] = usable
        if usable:
            for k in range(length):
                block.values[used] = unit[k] * factor
                block.indices[used] = indices[first + k]
                # An entry that is zero is overwritten by the next one.
                used += block.values[used] != 0.0
            if intercept:
                block.values[used] = 1.0
                block.indices[used] = count
                used += 1
            for place in range(outcome.shape[1]):
                block.outcome[r // LANES, place, r % LANES] = outcome[r, place]
        block.starts[r + 1] = used
    for r in range(valid.shape[0], block.starts.shape[0] - 1):
        block.starts[r + 1] = used
