"""The door for sparse matrices: their records are encoded and prepared into a sparse store.

Private: the source and the store. Public: the design.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design, Numeric
from tacit.rows.admission.prepare_sparse import SparsePreparer
from tacit.rows.encoding.attached_columns import BesideBatch, BesideSource
from tacit.rows.encoding.outcome import Behind
from tacit.rows.sources.source import Batch, Source
from tacit.rows.sources.sparse_matrix import SparseBatch, SparseSource
from tacit.rows.storage.sparse_block import SparseBlock
from tacit.rows.storage.sparse_store import BLOCK_ROWS, SparseStore
from tacit.rows.storage.store import THREADS, Layout


def stays_sparse(source: Source, design: Design) -> bool:
    """Whether the table is sparse and the design takes its columns as they stand.

    Anything else that a design asks of a sparse table (a feature map, some of the columns, bounds
    that are yet to be found, records of one person) is read with its zeros written out, by the door
    of all tables.
    """
    table = source.table if isinstance(source, BesideSource) else source
    return (
        isinstance(table, SparseSource)
        and design.feature_map is None
        and not design.open_places
        and design.beside.unit is None
        and tuple(column.factors for column in design.columns)
        == tuple((Numeric(name),) for name in table.names)
    )


def admit_sparse(
    source: Source,
    design: Design,
    dtype: np.dtype[Any],
    check: Callable[[NDArray[np.bool_]], None],
) -> SparseStore:
    """Store of the prepared records of a source that `stays_sparse`.

    Guarantee
    ---------
    - A stored record is the dense one with its zeros left out, and depends on that record alone.
    - An invalid record has no features, and zeros behind them.

    Parameters
    ----------
    source, design
        The table, and how a record becomes a row.
    dtype
        float32 or float64.
    check
        Told which records of a block are valid; raises where the caller wants none that is not.
    """
    behind, preparer = Behind.of(design), SparsePreparer.of(design)
    length = source.length or 0
    layout = Layout(length, design.width, dtype, BLOCK_ROWS, behind.weighted, behind.shifted)

    def work(batch: Batch) -> SparseBlock:
        numbers, valid = behind.encode(batch)
        block = preparer.prepare(_sparse_part(batch).rows(), numbers, valid, dtype)
        check(valid)
        return block

    batches = source.batches(BLOCK_ROWS, numeric=behind.numbers, labels=behind.labels)
    with ThreadPoolExecutor(THREADS) as pool:
        return SparseStore(layout, list(pool.map(work, batches)))


def _sparse_part(batch: Batch) -> SparseBatch:
    part = batch.table if isinstance(batch, BesideBatch) else batch
    if not isinstance(part, SparseBatch):
        raise TypeError("A sparse table hands out sparse batches.")
    return part
