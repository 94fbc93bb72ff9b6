"""Admission: the one place where records enter, encoded and prepared into a store.

Private: the source and the store. Public: the design and the declared levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tacit.contract.query import Progress
from tacit.design.design import Design
from tacit.design.factor import Numeric
from tacit.errors import FileError, InvalidRecordsError
from tacit.rows.admission.clip_and_scale import Preparer, prepare_sparse
from tacit.rows.admission.contribution_bounding import admit_persons
from tacit.rows.encoding.encode_rows import ARRAY_ADVICE, FILE_ADVICE, TABLE_ADVICE, Encoded, RecordEncoder
from tacit.rows.sources import source as sources
from tacit.rows.sources.arrays import MatrixSource, SparseSource
from tacit.rows.sources.source import Batch, Source
from tacit.rows.storage import record_store
from tacit.rows.storage.record_store import BLOCK_ROWS, Draw, SparseBlock, SparseStore
from tacit.rows.storage.store import Layout, Store, default_block_rows, require_dtype
from tacit.validate import one_of

MEMORY_LIMIT = 256 << 20
LABEL = "reading records"


def admit(
    source: Source,
    design: Design,
    *,
    invalid_rows: str = "error",
    dtype: DTypeLike = np.float32,
    progress: Progress | None = None,
    memory_limit: int = MEMORY_LIMIT,
    fewest: int = 2,
    draw: Draw | None = None,
) -> Store:
    """Read a source once, and store its prepared records.

    `progress` is not told how far reading is, which would tell of the records. Beyond `memory_limit` bytes the records
    of a file are put into a scratch file. Fewer records or persons than `fewest` are refused; it is 0 where their
    number is private. `draw` draws the subsample of a dense table in memory.

    Guarantee
    ---------
    - The stored bits are the same for any layout, file type or block size of the same records, and
      a record's do not depend on the other records.
    - With invalid_rows="zero" no content of a record can raise or change the number of records; an
      invalid record is a row of zeros, its weight among them. (Where a unit is declared, records
      that name none are left out.) A cell that is no number where one is declared makes its record
      invalid; columns of dates, times and nested values are refused by their type.
    - With invalid_rows="error" a table in memory whose weights are all zero is refused, where n is public.
    - No message contains a value, a row number or a number of rows.
    - Where reading fails, the scratch file is closed.
    """
    one_of("invalid_rows", invalid_rows, ("error", "zero"))
    sparse = stays_sparse(source, design)
    preparer = Preparer.of(design, sparse=sparse)
    encoder = replace(RecordEncoder.of(design, strict=invalid_rows == "error"), advice=_advice(source))
    needed = (*encoder.numbers, *encoder.labels)
    sources.require_columns(sources.names_read(source), needed, source.typed_by)
    if encoder.strict and fewest > 0 and source.resident:
        _require_weight(source, encoder)
    unit = design.attached.unit
    layout = layout_of(encoder, source.length or 0, dtype)
    resident = source.resident and unit is None and not sparse
    if resident:
        sources.require_records(layout.length, fewest)
    if progress is not None:
        progress(0, 1, LABEL)
    if unit is not None:
        store: Store = admit_persons(source, encoder, preparer, layout, unit, fewest)
    elif sparse:
        store = _admit_sparse(source, encoder, preparer, layout)
    elif resident:
        store = _admit_resident(source, encoder, preparer, layout, draw)
    else:
        store = _admit_streamed(source, encoder, preparer, layout, memory_limit, fewest)
    if progress is not None:
        progress(1, 1, LABEL)
    return store


def _advice(source: Source) -> str:
    """What to say of invalid records beside the demands: by the kind of the table, not by its cells."""
    if not source.resident:
        return FILE_ADVICE
    table = source.table if isinstance(source, sources.AttachedSource) else source
    # One cell can make objects or complex numbers of an array: all arrays are told the same.
    return ARRAY_ADVICE if isinstance(table, MatrixSource) else TABLE_ADVICE


def _require_weight(source: Source, encoder: RecordEncoder) -> None:
    """Refuse a table in which no record has a weight: there is nothing to fit."""
    weighting = encoder.outcome.weighting
    if weighting is None or weighting.column is None:
        return
    batches = source.batches(BLOCK_ROWS, numeric=(weighting.column,), labels=())
    if not any(bool((batch.numeric((weighting.column,)) > 0).any()) for batch in batches):
        raise InvalidRecordsError("Some records are invalid: the weights must not all be zero.")


def layout_of(encoder: RecordEncoder, length: int, dtype: DTypeLike) -> Layout:
    """Shape of the store that a design's records are prepared into."""
    design, outcome = encoder.design, encoder.outcome
    opened, unit = design if design.open_places else None, design.attached.unit
    # Raw records need float64, whatever is asked for.
    stored = require_dtype(dtype if opened is None else np.float64)
    weighted, shifted = outcome.weighting is not None, outcome.offset is not None
    rows = default_block_rows(design.width, stored, outcome.count)
    most = None if unit is None else unit.max_rows
    return Layout(length, design.width, stored, rows, weighted, shifted, opened, most)


def stays_sparse(source: Source, design: Design) -> bool:
    """Whether the table is sparse and the design takes its columns as they stand."""
    table = source.table if isinstance(source, sources.AttachedSource) else source
    return (
        isinstance(table, SparseSource)
        and design.feature_map is None
        and not design.open_places
        and design.attached.unit is None
        and tuple(column.factors for column in design.columns) == tuple((Numeric(name),) for name in table.names)
    )


def _admit_sparse(source: Source, encoder: RecordEncoder, preparer: Preparer, layout: Layout) -> Store:
    """A sparse table in memory: batches are blocks of a sparse store."""

    def prepare(_: int, batch: Batch) -> SparseBlock:
        outcome, valid = encoder.outcome.encode(batch)
        if batch.sparse_rows is None:
            raise TypeError("A sparse table hands out sparse batches.")
        block = prepare_sparse(preparer, batch.sparse_rows(), outcome, valid, layout.dtype)
        encoder.check(valid)
        return block

    blocks = [*encoder.read(source, BLOCK_ROWS, prepare)]
    return SparseStore(replace(layout, block_rows=BLOCK_ROWS), blocks)


def _admit_resident(
    source: Source, encoder: RecordEncoder, preparer: Preparer, layout: Layout, draw: Draw | None
) -> Store:
    """A dense table in memory: batches are blocks, written to their place in one array."""
    tiles = record_store.pooled_array(layout.shape, layout.dtype)
    drawn = None if draw is None else draw(layout.length)
    counts = np.zeros(layout.block_count, dtype=np.int64)

    def prepare(index: int, batch: Batch) -> None:
        order = None
        if drawn is not None:
            first = index * layout.block_rows
            order, counts[index] = record_store.subsample_first(drawn[first : first + batch.length])
        preparer.prepare(*encoder.encode(batch), tiles[layout.tiles(index)], order)

    try:
        for _ in encoder.read(source, layout.block_rows, prepare):
            pass
    except BaseException:
        tiles.fill(0)
        raise
    return record_store.MemoryStore.of_tiles(layout, tiles, None if drawn is None else counts)


def _admit_streamed(
    source: Source, encoder: RecordEncoder, preparer: Preparer, layout: Layout, memory_limit: int, fewest: int
) -> Store:
    """A dense table in a file: batches of any size are joined to blocks, then prepared."""
    rows, length = layout.block_rows, 0

    def blocks() -> Iterator[NDArray[Any]]:
        nonlocal length
        waiting: list[Encoded] = []
        for encoded in encoder.read(source, rows, lambda _, batch: encoder.encode(batch)):
            waiting.append(encoded)
            length += len(encoded[2])
            if sum(len(valid) for *_, valid in waiting) >= rows:
                values, outcome, valid = _joined(waiting)
                yield preparer.tiles((values[:rows], outcome[:rows], valid[:rows]), layout)
                waiting = [(values[rows:], outcome[rows:], valid[rows:])]
        if waiting and len((rest := _joined(waiting))[2]):
            yield preparer.tiles(rest, layout)
        sources.require_records(length, fewest)
        if layout.length not in {0, length}:
            raise FileError("The file does not hold as many records as it says.")

    store = record_store.collected(layout, blocks(), memory_limit)
    store.layout = replace(layout, length=length)
    return store


def _joined(encoded: list[Encoded]) -> Encoded:
    if len(encoded) == 1:
        return encoded[0]
    values, outcome, valid = map(np.concatenate, zip(*encoded, strict=True))
    return values, outcome, valid
