"""Sparse admission: clip, scale and shrink each sparse record by public facts; never shift it.

Private: the rows. Public: bounds, scales and the norm bound, all from the design. A cell that is
not stored is 0, and must stay so: the bounds have to contain 0, and no column has a center.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba import njit

from tacit.compiling import compiled
from tacit.design.design import Design
from tacit.errors import BoundsError, SettingError
from tacit.rows.admission.clip_and_scale import (
    LARGEST,
    Preparer,
    moderation,
    norm_limits,
    shrink_factor,
)
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.sources.source import Batch, SparseRows
from tacit.rows.storage.sparse_store import BLOCK_ROWS, SparseBlock, SparseStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, tile_count


def sparse_preparer(design: Design) -> Preparer:
    """Public numbers of a design of a sparse matrix; one that would move the zeros is refused.

    Guarantee
    ---------
    - Bounds that exclude 0 are refused.
    """
    public = Preparer.of(design)
    if public.center.any():
        raise SettingError(
            "A sparse matrix is scaled, never shifted; make its design with shifted=False."
        )
    outside = ~((public.lower <= 0.0) & (public.upper >= 0.0))
    if outside.any():
        name = design.columns[int(np.argmax(outside))].name
        raise BoundsError(
            f"The bounds of {name!r} exclude 0, the value of every empty cell of a sparse "
            "matrix. Declare bounds that contain 0, or call .toarray() to fit a dense matrix."
        )
    return public


def prepare_sparse(
    public: Preparer, rows: SparseRows, outcome: Floats, valid: Flags, dtype: np.dtype[Any]
) -> SparseBlock:
    """Block of the prepared records; `valid` turns false where a feature is none.

    Guarantee
    ---------
    - The prepared record is the one that `Preparer` makes of the same record with its zeros
      written out, number by number.
    - It depends on that record and the design only, not on others or on how it was stored: entries
      that are zero are left out.
    """
    length = len(valid)
    tiles = tile_count(length)
    starts = np.zeros(tiles * LANES + 1, dtype=np.int64)
    most = len(rows.values) + length * public.intercept
    indices, values = np.empty(most, dtype=np.int32), np.empty(most, dtype=dtype)
    stored = np.zeros((tiles, outcome.shape[1], LANES), dtype=dtype)
    _prepare_sparse(
        *rows,
        outcome,
        np.empty(int(np.diff(rows.starts).max(initial=0))),
        (public.lower, public.upper, public.scale),
        norm_limits(public.feature_norm, dtype),
        public.intercept,
        valid,
        SparseBlock(starts, indices, values, stored),
    )
    # Zeros and invalid records leave space over, which copies give back.
    used = starts[-1]
    return SparseBlock(starts, indices[:used].copy(), values[:used].copy(), stored)


@dataclass(frozen=True)
class SparseAdmission:
    """A sparse table in memory: batches are blocks of a sparse store.

    Guarantee
    ---------
    - A stored record is the dense one with its zeros left out, and depends on that record alone.
    - An invalid record has no features, and zeros as its outcome.
    """

    encoder: RecordEncoder
    preparer: Preparer
    layout: Layout
    blocks: list[SparseBlock] = field(default_factory=list)

    @classmethod
    def of(cls, encoder: RecordEncoder, layout: Layout) -> SparseAdmission:
        """Admission by a design; one that would move the zeros is refused."""
        preparer = sparse_preparer(encoder.design)
        return cls(encoder, preparer, replace(layout, block_rows=BLOCK_ROWS))

    def prepare(self, index: int, batch: Batch) -> SparseBlock:
        """The block of a batch."""
        del index
        outcome, valid = self.encoder.outcome.encode(batch)
        if batch.sparse_rows is None:
            raise TypeError("A sparse table hands out sparse batches.")
        rows = batch.sparse_rows()
        block = prepare_sparse(self.preparer, rows, outcome, valid, self.layout.dtype)
        self.encoder.check(valid)
        return block

    def put(self, prepared: SparseBlock) -> None:
        """Take the next block."""
        self.blocks.append(prepared)

    def finish(self) -> SparseStore:
        """The store of all blocks."""
        return SparseStore(self.layout, self.blocks)

    def close(self) -> None:
        """Drop what was admitted."""
        self.blocks.clear()


@njit(nogil=True, error_model="numpy")
def _shrink_factor(unit: Floats, length: int, norms: tuple[float, float]) -> float:
    largest = square = 0.0
    for k in range(length):
        largest = max(largest, abs(unit[k]))
    shrink = moderation(largest)
    for k in range(length):
        part = unit[k] * shrink
        square += part * part
    return shrink_factor(square, shrink, norms)


@compiled
def _prepare_sparse(  # noqa: PLR0917 - compiled code takes no keywords
    starts: Integers,
    indices: Integers,
    values: Floats,
    outcome: Floats,
    unit: Floats,
    bounds: tuple[Floats, Floats, Floats],
    limits: tuple[float, float],
    intercept: bool,
    valid: Flags,
    block: SparseBlock,
) -> None:
    lower, upper, scale = bounds
    count = lower.shape[0]
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
        factor = _shrink_factor(unit, length, limits)
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
