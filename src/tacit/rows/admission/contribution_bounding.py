"""Contribution bounding: records are grouped by person, of whom at most so many are stored.

Private: everything given here but the design. Which records of a person are stored depends on their order cells and on
a hash of their content, never on their place in the file. All are held in memory: a person's may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.design.attached_columns import Unit
from tacit.errors import DataError
from tacit.kernel_compilation import compiled
from tacit.rows.admission.clip_and_scale import Preparer
from tacit.rows.encoding.cells import normal_form, quiet, remembering
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.encoding.transforms import splitmix64
from tacit.rows.sources.source import Batch, Source
from tacit.rows.storage.person_store import PersonBlock, PersonStore, place_groups
from tacit.rows.storage.record_store import BLOCK_ROWS
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, readonly

Form = int | Decimal | str | None
"""A label's normal form, whole numbers as integers."""
NOBODY = -1


def admit_persons(
    source: Source, encoder: RecordEncoder, preparer: Preparer, layout: Layout, unit: Unit, fewest: int
) -> PersonStore:
    """Store of a table with several records of a person, dense or sparse, in memory or in a file.

    Fewer persons than `fewest` are refused; it is 0 where their number is private.

    Guarantee: a person's stored records depend on that person's records alone: not on others', on their place in the
    file, or on how the file is cut into batches. At most `unit.max_rows` records of a person are stored. A record that
    names no person is left out. A person whose records are all invalid remains a person, with one row of zeros.
    """
    known: dict[Form, int] = {}
    parts: list[PersonRecords] = [no_records(layout)]
    for forms, *prepared in prepared_records(source, encoder, preparer, layout, unit):
        parts.append(PersonRecords(person_numbers(known, forms), *prepared))
    require_persons(len(known), fewest)
    return bounded_store(parts, len(known), layout, unit)


class PersonRecords(NamedTuple):
    """Prepared records of one batch: the number of each one's person, validity, order, hashes of content, and tiles."""

    person: Integers
    valid: Flags
    order: Floats
    hashes: NDArray[np.uint64]
    tiles: NDArray[Any]


def no_records(layout: Layout) -> PersonRecords:
    """Arrays of no records, which give the types where there are none."""
    tiles = np.empty((0, layout.columns, LANES), dtype=layout.dtype)
    return PersonRecords(np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0), np.empty((0, 2), np.uint64), tiles)


def prepared_records(
    source: Source, encoder: RecordEncoder, preparer: Preparer, layout: Layout, unit: Unit
) -> Iterator[tuple[list[Form], Flags, Floats, NDArray[np.uint64], NDArray[Any]]]:
    """Of one batch after the other, whose the records are, and what `PersonRecords` has of them."""

    def prepare(_: int, batch: Batch) -> tuple[list[Form], Flags, Floats, NDArray[np.uint64], NDArray[Any]]:
        forms = label_forms(batch.labels(unit.column))
        named = np.fromiter((form is not None for form in forms), np.bool_, len(forms))
        order = np.zeros(batch.length)
        if unit.order is not None:
            order = np.array(batch.numeric((unit.order,))[:, 0])
        encoded = encoder.encode(batch, named & np.isfinite(order))
        tiles = preparer.tiles(encoded, layout)
        return forms, encoded[2], order, record_hashes(tiles, batch.length), tiles

    yield from encoder.read(source, layout.block_rows, prepare)


def bounded_store(parts: list[PersonRecords], persons: int, layout: Layout, unit: Unit) -> PersonStore:
    """Store of at most `unit.max_rows` records of each of the persons 0, …, persons - 1; the parts are used up."""
    person, valid, order, hashes = (np.concatenate(arrays) for arrays in [*zip(*parts, strict=True)][:4])
    somebody = person != NOBODY
    slot = np.full(len(person), NOBODY)
    slot[somebody], stored = bounded_slots(
        person[somebody], valid[somebody], order[somebody], hashes[somebody], persons, unit.max_rows
    )
    first, lane, starts, counts = place_groups(stored)
    # Empty slots of raw records are NaN, as invalid records are.
    empty = 0.0 if layout.opened is None else np.nan
    tiles = np.full((int(starts[-1]), layout.columns, LANES), empty, dtype=layout.dtype)
    start = 0
    while parts and persons:
        whose, *_, records = parts.pop(0)
        # Nobody's records have no slot; any place will do.
        place, own = np.maximum(whose, 0), slot[start : start + len(whose)]
        put_records(readonly(records), own, first[place], lane[place], tiles)
        start += len(whose)
    blocks = PersonBlock(tiles, starts, counts).parts(layout.block_rows // LANES)
    return PersonStore(replace(layout, length=persons), [*blocks])


def require_persons(persons: int, fewest: int) -> None:
    """Refuse fewer persons than a fit needs, where their number is public (else `fewest` is 0)."""
    if persons < fewest:
        raise DataError(f"The table has records of fewer than {fewest} persons; a fit needs at least {fewest}.")


def number_persons(source: Source, column: str) -> tuple[Integers, int]:
    """Number of the person of each record of a table, -1 for those of nobody, and how many persons there are.

    Guarantee: two records are of one person exactly where a fit takes them for one person's. Whether they are depends
    on their two labels alone, and no label can raise.
    """
    known: dict[Form, int] = {}
    batches = source.batches(BLOCK_ROWS, numeric=(), labels=(column,))
    numbers = [person_numbers(known, label_forms(batch.labels(column))) for batch in batches]
    return np.concatenate([np.empty(0, np.int64), *numbers]), len(known)


def person_numbers(known: dict[Form, int], forms: Sequence[Form]) -> Integers:
    """Number of each label's person, in the order in which they come; -1 where it is missing."""
    found = (NOBODY if form is None else known.setdefault(form, len(known)) for form in forms)
    return np.fromiter(found, np.int64, len(forms))


def label_forms(labels: NDArray[Any]) -> list[Form]:
    """Normal forms of labels, whole numbers as integers; None where a label is missing."""
    # An integer equals the exact decimal of the same number and has its hash: either finds the other in a dictionary.
    kind = labels.dtype.kind
    if kind in "biu":
        return [*map(int, labels.tolist())] if kind == "b" else [*labels.tolist()]
    if kind == "f":
        with quiet():
            cells = labels.astype(np.float64).tolist()
        # Below 2^53 a whole float64 is spelt like the integer, and is the same label.
        return [int(cell) if abs(cell) < 2.0**53 and cell == int(cell) else normal_form(cell) for cell in cells]
    return [*map(remembering(normal_form), labels.tolist())]


def bounded_slots(
    person: Integers, valid: Flags, order: Floats, hashes: NDArray[np.uint64], persons: int, max_rows: int
) -> tuple[Integers, Integers]:
    """Choose at most `max_rows` records of each person: their slots, and how many each person has.

    Valid records come first, then those with the smallest order, then with the smallest hash. A person without a valid
    record keeps one that is not, and so remains a person. The slot of a record that is left out is -1.

    Guarantee: which of a person's records are stored, and where, depends neither on other persons' nor on their order.
    """
    sequence = np.lexsort((hashes[:, 1], hashes[:, 0], order, ~valid, person))
    sizes = np.bincount(person, minlength=persons)
    rank = np.empty(len(person), dtype=np.int64)
    rank[sequence] = np.arange(len(person)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    stored = np.clip(np.bincount(person[valid], minlength=persons), 1, max_rows).astype(np.int64)
    return np.where(rank < stored[person], rank, NOBODY), stored


def record_hashes(tiles: NDArray[Any], length: int) -> NDArray[np.uint64]:
    """Two 64-bit hashes (record, 2) of each prepared record, by its own bits."""
    # The first is of the numbers rounded to float32, so that the same records are chosen whether
    # the table is stored in float64 or in float32. Zeros of either sign are one.
    hashes = np.empty((length, 2), dtype=np.uint64)
    _hash(readonly(tiles), hashes)
    return hashes


_mixed = njit(nogil=True, error_model="numpy")(splitmix64)


@compiled
def _hash(tiles: NDArray[Any], hashes: NDArray[np.uint64]) -> None:
    for i in range(hashes.shape[0]):
        t, lane = i // LANES, i % LANES
        one, two = np.uint64(0x243F6A8885A308D3), np.uint64(0x13198A2E03707344)
        for j in range(tiles.shape[1]):
            coarse = np.float32(np.float32(tiles[t, j, lane]) + np.float32(0.0))
            fine = np.float64(np.float64(tiles[t, j, lane]) + 0.0)
            one = _mixed(one ^ np.uint64(coarse.view(np.uint32)))
            two = _mixed(two ^ fine.view(np.uint64))
        hashes[i, 0] = one
        hashes[i, 1] = two


@compiled
def put_records(records: NDArray[Any], slot: Integers, first: Integers, lane: Integers, tiles: NDArray[Any]) -> None:
    """Write records into their slots, counted from a first tile; those of slot -1 are left out."""
    for i in range(slot.shape[0]):
        if slot[i] >= 0:
            for j in range(records.shape[1]):
                tiles[first[i] + slot[i], j, lane[i]] = records[i // LANES, j, i % LANES]
