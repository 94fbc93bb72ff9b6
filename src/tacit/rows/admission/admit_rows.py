"""Admission: the one place where records enter, encoded and prepared into a store.

Private: the source and the store. Public: the design and the declared levels.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tacit.contract.gate import Progress
from tacit.design.design import Design
from tacit.design.factor import Numeric
from tacit.errors import FileError
from tacit.rows.admission.clip_and_scale import AnyPreparer, Preparer, RawPreparer
from tacit.rows.admission.clip_and_scale_sparse import SparseAdmission
from tacit.rows.admission.contribution_bounding import PersonAdmission
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.sources.source import (
    AttachedSource,
    Batch,
    Source,
    names_read,
    require_columns,
    require_records,
)
from tacit.rows.sources.sparse_matrix import SparseSource
from tacit.rows.storage.memory_store import THREADS, Draw, MemoryStore, empty_tiles, subsample_first
from tacit.rows.storage.scratch_store import BlockCollector
from tacit.rows.storage.store import Layout, Store, default_block_rows, require_dtype
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, tile_count
from tacit.validate import one_of

MEMORY_LIMIT = 256 << 20
LABEL = "reading records"

Encoded = tuple[Floats, Floats, Flags]
"""Design columns, outcome columns and validity of some records."""


class _Admission(Protocol):
    """How the batches of a table become a store; one implementation for each storage.

    `prepare` is called from several threads, `put` with what it made of one batch after the other.
    `close` wipes or frees what was admitted, after a failure.
    """

    @property
    def layout(self) -> Layout: ...
    def prepare(self, index: int, batch: Batch) -> Any: ...
    def put(self, prepared: Any) -> None: ...
    def finish(self) -> Store: ...
    def close(self) -> None: ...


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

    Guarantee
    ---------
    - The stored bits are the same for any layout, file type or block size of the same records, and
      a record's do not depend on the other records.
    - With invalid_rows="zero" no content of a record can raise or change the number of records; an
      invalid record is a row of zeros, its weight among them. (Where a unit is declared, records
      that name none are left out.) A cell that is no number where one is declared makes its record
      invalid; columns of dates, times and nested values are refused by their type.
    - No message contains a value, a row number or a number of rows.
    - Where reading fails, the scratch file is closed.

    Parameters
    ----------
    invalid_rows
        What a missing, infinite or undeclared value does, or a count, weight or exposure that is
        none: "error" raises `DataError`, "zero" makes the record a row of zeros.
    progress
        Told that reading begins and ends; not how far it is, which would tell of the records.
    memory_limit
        Bytes of prepared records of a file that are kept in memory before a scratch file is used.
    fewest
        Fewer records (or persons) are refused; 0 where their number is private, so that it cannot
        be told from a refusal.
    draw
        Draws the subsample of a dense table in memory; without it there is none.
    """
    one_of("invalid_rows", invalid_rows, ("error", "zero"))
    opened = design if design.open_places else None
    # Raw records need float64, whatever is asked for.
    stored = require_dtype(dtype if opened is None else np.float64)
    preparer = Preparer.of(design) if opened is None else RawPreparer(design.intercept)
    encoder = RecordEncoder.of(design, strict=invalid_rows == "error")
    require_columns(names_read(source), (*encoder.numbers, *encoder.labels))
    outcome = encoder.outcome
    unit = design.attached.unit
    layout = Layout(
        source.length or 0,
        design.width,
        stored,
        default_block_rows(design.width, stored, outcome.count),
        outcome.weighting is not None,
        outcome.offset is not None,
        opened,
        None if unit is None else unit.max_rows,
    )
    admission: _Admission
    if unit is not None:
        admission = PersonAdmission(encoder, preparer, layout, unit, fewest)
    elif stays_sparse(source, design):
        admission = SparseAdmission.of(encoder, layout)
    elif source.resident:
        require_records(layout.length, fewest)
        admission = _ResidentAdmission.of(encoder, preparer, layout, draw)
    else:
        admission = _StreamedAdmission(encoder, preparer, layout, memory_limit, fewest)
    if progress is not None:
        progress(0, 1, LABEL)
    try:
        _read(source, encoder, admission)
        store = admission.finish()
    except BaseException:
        admission.close()
        raise
    if progress is not None:
        progress(1, 1, LABEL)
    return store


def stays_sparse(source: Source, design: Design) -> bool:
    """Whether the table is sparse and the design takes its columns as they stand.

    Anything else that a design asks of a sparse table (a feature map, some of the columns, bounds
    that are yet to be found, records of one person) is read with its zeros written out.
    """
    table = source.table if isinstance(source, AttachedSource) else source
    return (
        isinstance(table, SparseSource)
        and design.feature_map is None
        and not design.open_places
        and design.attached.unit is None
        and tuple(column.factors for column in design.columns)
        == tuple((Numeric(name),) for name in table.names)
    )


def _read(source: Source, encoder: RecordEncoder, admission: _Admission) -> None:
    rows = admission.layout.block_rows
    batches = source.batches(rows, numeric=encoder.numbers, labels=encoder.labels)
    if not source.resident:
        for prepared in map(admission.prepare, count(), batches):
            admission.put(prepared)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        for prepared in pool.map(admission.prepare, count(), batches):
            admission.put(prepared)


@dataclass(frozen=True)
class _ResidentAdmission:
    """A dense table in memory: batches are blocks, written to their place in one array."""

    encoder: RecordEncoder
    preparer: AnyPreparer
    layout: Layout
    tiles: NDArray[Any]
    drawn: NDArray[np.uint8] | None
    counts: Integers

    @classmethod
    def of(
        cls, encoder: RecordEncoder, preparer: AnyPreparer, layout: Layout, draw: Draw | None
    ) -> _ResidentAdmission:
        tiles, counts = empty_tiles(layout), np.zeros(layout.block_count, dtype=np.int64)
        drawn = None if draw is None else draw(layout.length)
        return cls(encoder, preparer, layout, tiles, drawn, counts)

    def prepare(self, index: int, batch: Batch) -> None:
        order = None
        if self.drawn is not None:
            first = index * self.layout.block_rows
            own = self.drawn[first : first + batch.length]
            order, self.counts[index] = subsample_first(own)
        tiles = self.tiles[self.layout.tiles(index)]
        self.preparer.prepare(*self.encoder.encode(batch), tiles, order)

    def put(self, prepared: None) -> None:
        """Nothing is left to do."""

    def finish(self) -> Store:
        counts = None if self.drawn is None else self.counts
        return MemoryStore.of_tiles(self.layout, self.tiles, counts)

    def close(self) -> None:
        self.tiles.fill(0)


class _StreamedAdmission:
    """A dense table in a file: batches of any size are joined to blocks, then prepared."""

    def __init__(
        self,
        encoder: RecordEncoder,
        preparer: AnyPreparer,
        layout: Layout,
        memory_limit: int,
        fewest: int,
    ) -> None:
        self._encoder, self._preparer, self.layout = encoder, preparer, layout
        self._fewest = fewest
        self._collector = BlockCollector(replace(layout, length=0), memory_limit)
        self._waiting: list[Encoded] = []

    def prepare(self, index: int, batch: Batch) -> Encoded:
        del index
        return self._encoder.encode(batch)

    def put(self, prepared: Encoded) -> None:
        self._waiting.append(prepared)
        rows = self.layout.block_rows
        if sum(len(valid) for *_, valid in self._waiting) >= rows:
            values, outcome, valid = _joined(self._waiting)
            self._append(values[:rows], outcome[:rows], valid[:rows])
            self._waiting = [(values[rows:], outcome[rows:], valid[rows:])]

    def finish(self) -> Store:
        if self._waiting and len((rest := _joined(self._waiting))[2]):
            self._append(*rest)
        require_records(self._collector.length, self._fewest)
        if self.layout.length not in {0, self._collector.length}:
            raise FileError("The file does not hold as many records as it says.")
        return self._collector.finish()

    def close(self) -> None:
        self._collector.close()

    def _append(self, values: Floats, outcome: Floats, valid: Flags) -> None:
        shape = tile_count(len(valid)), self.layout.columns, LANES
        tiles = np.empty(shape, dtype=self.layout.dtype)
        self._preparer.prepare(values, outcome, valid, tiles)
        self._collector.append(tiles, len(valid))


def _joined(encoded: list[Encoded]) -> Encoded:
    if len(encoded) == 1:
        return encoded[0]
    values, outcome, valid = map(np.concatenate, zip(*encoded, strict=True))
    return values, outcome, valid
