"""Contribution bounding: records are grouped by person, of whom at most so many are stored.

Private: everything given here but the design. Which records of a person are stored depends on that
person's records alone: on their order cells and on a hash of their content, never on their place in
the file. All records are held in memory, those of a file too, since a person's may stand anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tacit.compiling import compiled
from tacit.design.attached_columns import Unit
from tacit.errors import DataError
from tacit.rows.admission.clip_and_scale import AnyPreparer
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.encoding.labels import normal_form, remembering
from tacit.rows.sources.source import Batch
from tacit.rows.storage.person_store import PersonBlock, PersonStore, place_groups
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, Flags, Floats, Integers, readonly, tile_count

Form = int | Decimal | str | None
"""A label's normal form, whole numbers as integers."""
LARGEST_INTEGER = 2.0**53
"""Below it a whole float64 is spelt like the integer, and is the same label."""
NOBODY = -1


class _Prepared(NamedTuple):
    """Prepared records of a batch, and what decides which of them are stored."""

    forms: list[Form]
    order: Floats
    valid: Flags
    hashes: NDArray[np.uint64]
    tiles: NDArray[Any]


@dataclass(frozen=True)
class PersonAdmission:
    """A table with several records of a person, dense or sparse, in memory or in a file.

    Guarantee
    ---------
    - A person's stored records depend on that person's records alone: not on others', on their
      place in the file, or on how the file is cut into batches.
    - At most `unit.max_rows` records of a person are stored.
    - A record that names no person is left out. A person whose records are all invalid remains a
      person, with one row of zeros.

    Fewer persons than `fewest` are refused; it is 0 where their number is private.
    """

    encoder: RecordEncoder
    preparer: AnyPreparer
    layout: Layout
    unit: Unit
    fewest: int
    known: dict[Form, int] = field(default_factory=dict)
    parts: list[tuple[Integers, _Prepared]] = field(default_factory=list)

    def prepare(self, index: int, batch: Batch) -> _Prepared:
        """Encode and prepare a batch; records without a person or an order are invalid."""
        del index
        forms = label_forms(batch.labels(self.unit.column))
        named = np.fromiter((form is not None for form in forms), np.bool_, len(forms))
        order = np.zeros(batch.length)
        if self.unit.order is not None:
            order = np.array(batch.numeric((self.unit.order,))[:, 0])
        values, outcome, valid = self.encoder.encode(batch, named & np.isfinite(order))
        shape = tile_count(batch.length), self.layout.columns, LANES
        tiles = np.empty(shape, dtype=self.layout.dtype)
        self.preparer.prepare(values, outcome, valid, tiles)
        return _Prepared(forms, order, valid, record_hashes(tiles, batch.length), tiles)

    def put(self, prepared: _Prepared) -> None:
        """Number the persons of the next batch."""
        self.parts.append((person_numbers(self.known, prepared.forms), prepared))

    def finish(self) -> PersonStore:
        """The store of all persons, with at most `unit.max_rows` records each."""
        persons = len(self.known)
        if persons < self.fewest:
            raise DataError(
                f"The table has records of fewer than {self.fewest} persons; a fit needs at least "
                f"{self.fewest}."
            )
        slot, stored = self._ranked(persons)
        places = place_groups(stored)
        # Empty slots of raw records are NaN, as invalid records are.
        empty = 0.0 if self.layout.opened is None else np.nan
        shape = int(places.starts[-1]), self.layout.columns, LANES
        tiles = np.full(shape, empty, dtype=self.layout.dtype)
        start = 0
        while self.parts:
            whose, part = self.parts.pop(0)
            own = slice(start, start + len(whose))
            # Nobody's records have no slot; any place will do.
            place = np.maximum(whose, 0)
            if persons:
                first, lane = places.first[place], places.lane[place]
                put_records(readonly(part.tiles), slot[own], first, lane, tiles)
            start = own.stop
        blocks = PersonBlock(tiles, places.starts, places.counts)
        return PersonStore(
            replace(self.layout, length=persons), [*blocks.parts(self.layout.block_rows // LANES)]
        )

    def _ranked(self, persons: int) -> tuple[Integers, Integers]:
        """Slot of every record, -1 for none, and how many records of each person are stored."""
        parts = [part for _, part in self.parts]
        nobody = np.empty(0, dtype=np.int64)
        person = np.concatenate([nobody, *(whose for whose, _ in self.parts)])
        somebody = person != NOBODY
        slot = np.full(len(person), NOBODY)
        slot[somebody], stored = bounded_slots(
            person[somebody],
            np.concatenate([nobody.astype(np.bool_), *(part.valid for part in parts)])[somebody],
            np.concatenate([nobody.astype(np.float64), *(part.order for part in parts)])[somebody],
            np.concatenate([np.empty((0, 2), np.uint64), *(p.hashes for p in parts)])[somebody],
            persons,
            self.unit.max_rows,
        )
        return slot, stored

    def close(self) -> None:
        """Drop what was admitted."""
        self.parts.clear()


def person_numbers(known: dict[Form, int], forms: Sequence[Form]) -> Integers:
    """Number of each label's person, in the order in which they come; -1 where it is missing."""
    found = (NOBODY if form is None else known.setdefault(form, len(known)) for form in forms)
    return np.fromiter(found, np.int64, len(forms))


def label_forms(labels: NDArray[Any]) -> list[Form]:
    """Normal forms of labels, whole numbers as integers; None where a label is missing."""
    # An integer equals the exact decimal of the same number and has its hash, so that either finds
    # the other in a dictionary.
    kind = labels.dtype.kind
    if kind in "biu":
        return [*map(int, labels.tolist())] if kind == "b" else [*labels.tolist()]
    if kind == "f":
        # A warning by numpy would reveal something of the labels.
        with np.errstate(over="ignore"):
            return [*map(_float_form, labels.astype(np.float64).tolist())]
    return [*map(remembering(normal_form), labels.tolist())]


def _float_form(label: float) -> Form:
    if -LARGEST_INTEGER < label < LARGEST_INTEGER and label == int(label):
        return int(label)
    return normal_form(label)


def bounded_slots(
    person: Integers,
    valid: Flags,
    order: Floats,
    hashes: NDArray[np.uint64],
    persons: int,
    max_rows: int,
) -> tuple[Integers, Integers]:
    """Choose at most `max_rows` records of each person: their slots, and how many each person has.

    Valid records come first, then those with the smallest order, then with the smallest hash. A
    person without a valid record keeps one that is not, and so remains a person. The slot of a
    record that is left out is -1.

    Guarantee
    ---------
    - Which of a person's records are stored, and in which slots, does not depend on other persons'.
    - Nor does it depend on the order in which the records come.
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


@njit(nogil=True, error_model="numpy")
def _mixed(state: Any) -> Any:
    """Steele, Lea, Flood (2014), splitmix64: a step of the sequence and its finaliser."""
    state += np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@compiled
def put_records(
    records: NDArray[Any], slot: Integers, first: Integers, lane: Integers, tiles: NDArray[Any]
) -> None:
    """Write records into their slots, counted from a first tile; those of slot -1 are left out."""
    for i in range(slot.shape[0]):
        if slot[i] >= 0:
            for j in range(records.shape[1]):
                tiles[first[i] + slot[i], j, lane[i]] = records[i // LANES, j, i % LANES]
