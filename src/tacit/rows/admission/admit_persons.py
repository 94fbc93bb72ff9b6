"""The door for tables with several records of a person: encoded, chosen and laid out by person.

Private: the source and the store. Public: the design. Records are held in memory, those of a file
too, since a person's may stand anywhere in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.design.attached_columns import Unit
from tacit.errors import DataError
from tacit.rows.admission.contribution_bounding import (
    NOBODY,
    Form,
    Persons,
    kept_ranks,
    label_forms,
    put_records,
    row_hashes,
)
from tacit.rows.sources.source import Batch
from tacit.rows.storage.person_tiles import PersonBlock, PersonStore, place_groups
from tacit.rows.storage.store import THREADS, Layout
from tacit.rows.storage.tiles import LANES

Prepared = tuple[NDArray[Any], NDArray[np.bool_]]
Prepare = Callable[[Batch, NDArray[np.bool_]], Prepared]


@dataclass(frozen=True)
class _Part:
    """Prepared records of a batch, and what decides which of them are kept."""

    rows: NDArray[Any]
    person: NDArray[np.int64]
    valid: NDArray[np.bool_]
    order: NDArray[np.float64]
    hashes: NDArray[np.uint64]


def admit_persons(
    batches: Iterable[Batch],
    unit: Unit,
    layout: Layout,
    prepare: Prepare,
    *,
    resident: bool,
    fewest: int = 2,
) -> PersonStore:
    """Store of the kept records of all persons.

    Guarantee
    ---------
    - A person's stored records depend on that person's records alone: not on others', on their
      place in the file, or on how the file is cut into batches.
    - At most `unit.max_rows` records of a person are stored.
    - A record that names no person is left out. A person whose records are all invalid remains a
      person, with one row of zeros.

    Parameters
    ----------
    batches
        The table, once through.
    unit
        Public: whose a record is, how many are kept, and by which order.
    layout
        Shape of the store to be; its length is counted here.
    prepare
        Makes rows of a batch, given which records name a person and an order; says which are valid,
        or raises where the caller wants none that is not.
    resident
        Whether the table lies in memory already, so that batches may wait for each other.
    fewest
        Fewer persons are refused; 0 where their number is private.
    """
    persons = Persons()
    read = _each(batches, lambda batch: _read(batch, unit, prepare), resident=resident)
    parts = [_nobody(layout), *(_part(persons, *batch) for batch in read)]
    if persons.count < fewest:
        raise DataError(
            f"The table has records of fewer than {fewest} persons; a fit needs at least {fewest}."
        )
    person = np.concatenate([part.person for part in parts])
    slot, kept = kept_ranks(
        person,
        np.concatenate([part.valid for part in parts]),
        np.concatenate([part.order for part in parts]),
        np.concatenate([part.hashes for part in parts]),
        persons.count,
        unit.max_rows,
    )
    places = place_groups(kept)
    # Empty slots of records that are kept as they came are no numbers, as invalid records are.
    empty = 0.0 if layout.opened is None else np.nan
    tiles = np.full((int(places.starts[-1]), layout.columns, LANES), empty, dtype=layout.dtype)
    start = 0
    while parts:
        rows = parts.pop(0).rows
        own = slice(start, start + len(rows))
        whose = person[own]
        put_records(rows, slot[own], places.first[whose], places.lane[whose], tiles)
        start = own.stop
    return PersonStore.of_groups(
        replace(layout, length=persons.count),
        unit.max_rows,
        PersonBlock(tiles, places.starts, places.counts),
        layout.block_rows // LANES,
    )


def _nobody(layout: Layout) -> _Part:
    """The part of a batch without records, so that a table without any has a part."""
    rows = np.empty((0, layout.columns), dtype=layout.dtype)
    none = np.empty(0)
    return _Part(rows, none.astype(np.int64), none.astype(np.bool_), none, row_hashes(rows))


def _read(
    batch: Batch, unit: Unit, prepare: Prepare
) -> tuple[list[Form], NDArray[np.float64], Prepared]:
    """Labels in normal form, order cells and prepared records of a batch."""
    forms = label_forms(batch.labels(unit.column))
    named = np.fromiter((form is not None for form in forms), np.bool_, len(forms))
    order = np.zeros(batch.length)
    if unit.order is not None:
        order = np.array(batch.numeric((unit.order,))[:, 0])
    return forms, order, prepare(batch, named & np.isfinite(order))


def _part(
    persons: Persons, forms: list[Form], order: NDArray[np.float64], prepared: Prepared
) -> _Part:
    number = persons.numbers(forms)
    somebody = number != NOBODY
    rows, valid = (array[somebody] for array in prepared)
    return _Part(rows, number[somebody], valid, order[somebody], row_hashes(rows))


def _each(
    batches: Iterable[Batch], work: Callable[[Batch], Any], *, resident: bool
) -> Iterator[Any]:
    if not resident:
        yield from map(work, batches)
        return
    with ThreadPoolExecutor(THREADS) as pool:
        yield from pool.map(work, batches)
