"""Stores of persons, made of the prepared records of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.rows.storage.person_store import PersonBlock, PersonStore, place_groups
from tacit.rows.storage.store import Layout, default_block_rows, require_dtype
from tacit.rows.storage.tiles import LANES


def person_store(
    persons: Sequence[NDArray[Any]],
    unit_rows: int,
    *,
    block_tiles: int | None = None,
    weighted: bool = False,
    shifted: bool = False,
) -> PersonStore:
    """Store of prepared records (row, column) of each person; none is left out."""
    rows = np.concatenate([*persons])
    sizes = np.array([len(person) for person in persons])
    dtype, width = require_dtype(rows.dtype), rows.shape[1] - 1 - weighted - shifted
    block_rows = default_block_rows(width, dtype, rows.shape[1] - width)
    first, lane, starts, counts = place_groups(sizes)
    person = np.repeat(np.arange(len(sizes)), sizes)
    slot = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    tiles = np.zeros((int(starts[-1]), rows.shape[1], LANES), dtype=dtype)
    tiles[first[person] + slot, :, lane[person]] = rows
    layout = Layout(len(persons), width, dtype, block_rows, weighted, shifted, max_unit_rows=unit_rows)
    blocks = PersonBlock(tiles, starts, counts)
    return PersonStore(layout, [*blocks.parts(block_tiles or block_rows // LANES)])
