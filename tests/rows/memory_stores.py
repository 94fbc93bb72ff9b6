"""Stores of prepared records, made of plain arrays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.storage.record_store import MemoryStore, subsample_first
from tacit.rows.storage.store import Layout, default_block_rows, require_dtype
from tacit.rows.storage.tiles import to_tiles


def memory_store(
    table: NDArray[Any],
    block_rows: int | None = None,
    *,
    weighted: bool = False,
    shifted: bool = False,
    drawn: NDArray[np.uint8] | None = None,
) -> MemoryStore:
    """Store of one prepared table (row, column); `drawn` are the bytes of its records."""
    dtype, outcome = require_dtype(table.dtype), 1 + weighted + shifted
    width = table.shape[1] - outcome
    rows = block_rows or default_block_rows(width, dtype, outcome)
    layout = Layout(len(table), width, dtype, rows, weighted, shifted)
    if drawn is None:
        return MemoryStore.of_tiles(layout, to_tiles(table))
    starts = range(0, len(table), rows)
    found = [subsample_first(drawn[start : start + rows]) for start in starts]
    order = np.concatenate([start + own for start, (own, _) in zip(starts, found, strict=True)])
    return MemoryStore.of_tiles(layout, to_tiles(table[order]), np.array([count for _, count in found]))
