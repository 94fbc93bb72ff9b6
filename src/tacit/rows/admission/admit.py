"""The door: the one place where records enter, encoded and prepared into a store.

Private: the source and the store. Public: the design and the declared levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tacit.contract.gate import Progress, silent
from tacit.design.design import Design
from tacit.errors import DataError, FileError, SettingError
from tacit.rows.admission.admit_persons import admit_persons
from tacit.rows.admission.admit_sparse import admit_sparse, stays_sparse
from tacit.rows.admission.prepare import Preparer
from tacit.rows.admission.rescale import RawPreparer, stored_type
from tacit.rows.encoding.attached_columns import names_read
from tacit.rows.encoding.encode import Encoded, Encoder
from tacit.rows.sources.source import Batch, Source, require_columns, require_records
from tacit.rows.storage.buffer_pool import wiped_on_failure
from tacit.rows.storage.collector import Collector
from tacit.rows.storage.store import (
    THREADS,
    Layout,
    MemoryStore,
    Store,
    default_block_rows,
    empty_tiles,
)
from tacit.rows.storage.subsampling import Draw, ordered

MEMORY_LIMIT = 256 << 20
NAMED = 5
"""Columns that the refusal of invalid records names, of those that need numbers."""
LABEL = "reading records"


def admit(
    source: Source,
    design: Design,
    *,
    invalid_rows: str = "error",
    dtype: DTypeLike = np.float32,
    progress: Progress = silent,
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
    source
        The table.
    design
        Public: how a record becomes a row.
    invalid_rows
        What a missing, infinite or undeclared value does, or a count, weight or exposure that is
        none: "error" raises `DataError`, "zero" makes the record a row of zeros.
    dtype
        float32 or float64.
    progress
        Told that reading begins and ends; not how far it is, which would tell of the records.
    memory_limit
        Bytes of prepared records of a file that are kept in memory before a scratch file is used.
    fewest
        Fewer records (or persons) are refused; 0 where their number is private, so that it cannot
        be told from a refusal.
    draw
        Where a table in memory draws a lot for each record from; in a block those of the part then
        stand first, and can be read alone. Without it records stay as they came.

    Examples
    --------
    >>> from tacit.design.design import matrix_design
    >>> from tacit.design.response import Binary
    >>> from tacit.rows.sources.opening import open_source
    >>> source = open_source([[0.0], [5.0]], response=[0, 1])
    >>> design = matrix_design(
    ...     source.names, Binary("y", (0, 1)), bounds=(0, 1), row_norm=None, intercept=True
    ... )
    >>> from tacit.rows.storage.tiles import to_rows
    >>> to_rows(admit(source, design).block(0), 2).tolist()
    [[-1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    """
    if invalid_rows not in {"error", "zero"}:
        raise SettingError(f'invalid_rows must be "error" or "zero"; got {invalid_rows!r}.')
    door = _Door(
        Encoder.of(design),
        RawPreparer(design.intercept) if design.open_places else Preparer.of(design),
        stored_type(design, dtype),
        invalid_rows == "error",
    )
    require_columns(names_read(source), (*door.numbers, *door.labels))
    progress(0, 1, LABEL)
    store: Store
    if design.beside.unit is not None:
        store = admit_persons(
            door.batches(source),
            design.beside.unit,
            door.layout(0),
            door.prepared,
            resident=source.resident,
            fewest=fewest,
        )
    elif stays_sparse(source, design):
        store = admit_sparse(source, design, door.dtype, door.check)
    elif source.resident:
        store = _admit_resident(source, door, fewest, draw)
    else:
        store = _admit_streamed(source, door, memory_limit, fewest)
    progress(1, 1, LABEL)
    return store


@dataclass(frozen=True)
class _Door:
    encoder: Encoder
    preparer: Preparer | RawPreparer
    dtype: np.dtype[Any]
    strict: bool

    @property
    def numbers(self) -> tuple[str, ...]:
        """Columns whose numbers are needed, the order of a person's records among them."""
        unit = self.encoder.design.beside.unit
        order = () if unit is None or unit.order is None else (unit.order,)
        return tuple(dict.fromkeys((*self.encoder.numbers, *order)))

    @property
    def labels(self) -> tuple[str, ...]:
        """Columns whose labels are needed, the person's among them."""
        unit = self.encoder.design.beside.unit
        column = () if unit is None else (unit.column,)
        return tuple(dict.fromkeys((*self.encoder.labels, *column)))

    def layout(self, length: int) -> Layout:
        design, behind = self.encoder.design, self.encoder.behind
        rows = default_block_rows(design.width, self.dtype, behind.count)
        opened = design if design.open_places else None
        return Layout(
            length, design.width, self.dtype, rows, behind.weighted, behind.shifted, opened
        )

    def batches(self, source: Source) -> Iterator[Batch]:
        return source.batches(self.layout(0).block_rows, numeric=self.numbers, labels=self.labels)

    def encode(self, batch: Batch) -> Encoded:
        values, behind, valid = self.encoder.encode(batch)
        self.check(valid)
        return values, behind, valid

    def prepared(
        self, batch: Batch, named: NDArray[np.bool_]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Prepared records of a batch and which are valid; only those that are named can be."""
        values, behind, valid = self.encoder.encode(batch)
        valid &= named
        self.check(valid)
        rows = np.empty((batch.length, self.layout(0).columns), dtype=self.dtype)
        self.preparer.prepare(values, behind, valid, rows)
        return rows, valid

    @property
    def demands(self) -> tuple[str, ...]:
        """What cells must be beyond present and finite, one sentence for each declared column."""
        demands = [*self.encoder.behind.demands]
        if self.numbers:
            more = len(self.numbers) - NAMED
            names = ", ".join(map(repr, self.numbers[:NAMED])) + (f", {more} more" * (more > 0))
            demands.insert(0, f"Numbers are needed in {names}.")
        unit = self.encoder.design.beside.unit
        if unit is not None:
            ranked = "" if unit.order is None else " and have a number that orders it"
            demands.append(f"Every record must say whose it is{ranked}.")
        return tuple(demands)

    def check(self, valid: NDArray[np.bool_]) -> None:
        if self.strict and not valid.all():
            # What is demanded of the cells is public; which demand was not met is not said.
            demands = "".join(f"{sentence} " for sentence in self.demands)
            raise DataError(
                "Some records are invalid: a needed value is missing, infinite or no number, a "
                "label is not declared, or a record has more or fewer fields than the table. "
                f"{demands}"
                'Mend or remove them, or set invalid_rows="zero" to let such records contribute '
                "nothing."
            )


def _admit_resident(source: Source, door: _Door, fewest: int, draw: Draw | None) -> Store:
    length = source.length or 0
    require_records(length, fewest)
    layout = door.layout(length)
    tiles = empty_tiles(layout)
    lots = np.zeros(layout.block_count, dtype=np.int64)

    def drawn() -> Iterator[tuple[int, Batch, NDArray[np.uint8] | None]]:
        for index, batch in enumerate(door.batches(source)):
            yield index, batch, None if draw is None else draw(batch.length)

    def work(item: tuple[int, Batch, NDArray[np.uint8] | None]) -> None:
        index, batch, own = item
        order = None
        if own is not None:
            order, lots[index] = ordered(own)
        door.preparer.prepare_tiles(*door.encode(batch), tiles[layout.tiles(index)], order)

    with wiped_on_failure([tiles]), ThreadPoolExecutor(THREADS) as pool:
        # Asking for the results raises what a worker raised.
        list(pool.map(work, drawn()))
    return MemoryStore.of_tiles(layout, tiles, None if draw is None else lots)


def _admit_streamed(source: Source, door: _Door, memory_limit: int, fewest: int) -> Store:
    collector = Collector(door.layout(0), memory_limit)
    try:
        for batch in door.batches(source):
            _collect(collector, door, batch)
        require_records(collector.length, fewest)
        if source.length not in {None, collector.length}:
            raise FileError("The file does not hold as many records as it says.")
        return collector.finish()
    finally:
        collector.close()


def _collect(collector: Collector, door: _Door, batch: Batch) -> None:
    values, behind, valid = door.encode(batch)
    start = 0
    while start < batch.length:
        room = collector.room(batch.length - start)
        part = slice(start, start + len(room))
        door.preparer.prepare(values[part], behind[part], valid[part], room)
        collector.advance(len(room))
        start = part.stop
