"""Persons across partitions: records are exchanged by a keyed hash of the person before contributions are bounded.

Private: everything but the design. A worker prepares the records of its partitions and sorts them into buckets by the
hash; another collects a bucket from all. Buckets are whole persons, so what is stored of a person is what one machine
would have stored: it depends on that person's records alone. The key is fresh for every fit and stays on the cluster.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tacit.design.design import Design
from tacit.rows.admission.admit_rows import layout_of
from tacit.rows.admission.clip_and_scale import Preparer
from tacit.rows.admission.contribution_bounding import (
    Form,
    PersonRecords,
    bounded_store,
    label_forms,
    no_records,
    prepared_records,
)
from tacit.rows.encoding.encode_rows import RecordEncoder
from tacit.rows.sources.source import Source
from tacit.rows.storage.person_store import PersonStore
from tacit.rows.storage.record_store import BLOCK_ROWS
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import Flags, Floats, to_rows, to_tiles

Hashes = NDArray[np.uint64]


class Piece(NamedTuple):
    """Prepared records of some persons: two words of each one's keyed hash, and what a batch has of them, as rows."""

    person: Hashes
    valid: Flags
    order: Floats
    hashes: Hashes
    rows: NDArray[Any]

    def at(self, places: NDArray[Any]) -> Piece:
        """The records at some places."""
        return Piece(*(array[places] for array in self))


@dataclass
class Pieces:
    """What one worker has of each bucket, ready to be collected."""

    empty: Piece = field(repr=False)
    by_bucket: dict[int, list[Piece]] = field(default_factory=dict, repr=False)

    def of(self, bucket: int) -> Piece:
        """All records of a bucket."""
        return Piece(*map(np.concatenate, zip(self.empty, *self.by_bucket.get(bucket, []), strict=True)))


def sorted_out(
    source: Source, design: Design, invalid_rows: str, dtype: str, key: bytes, buckets: int, wanted: Sequence[int]
) -> Pieces:
    """Prepare the records of a source and sort them into buckets; those of nobody are left out."""
    encoder, preparer, layout = _ways(design, dtype, strict=invalid_rows == "error")
    unit = design.attached.unit
    pieces, kept = Pieces(_piece(np.empty((0, 2), np.uint64), no_records(layout))), frozenset(wanted)
    if unit is None:
        raise TypeError("Only records of units are exchanged.")
    for forms, *prepared in prepared_records(source, encoder, preparer, layout, unit):
        named = np.flatnonzero([form is not None for form in forms])
        records = PersonRecords(np.empty(0, np.int64), *prepared)
        whole = _piece(keyed_hashes([forms[place] for place in named.tolist()], key), records, named)
        bucket = (whole.person[:, 0] % np.uint64(buckets)).astype(np.int64)
        for own in np.unique(bucket).tolist():
            if own in kept:
                pieces.by_bucket.setdefault(own, []).append(whole.at(np.flatnonzero(bucket == own)))
    return pieces


def gathered_persons(parts: Sequence[Piece], design: Design, dtype: str) -> PersonStore:
    """Store of the persons of some buckets, collected from all workers."""
    *_, layout = _ways(design, dtype, strict=False)
    unit = design.attached.unit
    if unit is None:
        raise TypeError("Only records of units are exchanged.")
    hashed = np.concatenate([np.empty((0, 2), np.uint64), *(part.person for part in parts)])
    found, numbers = np.unique(hashed, axis=0, return_inverse=True)
    records, start = [no_records(layout)], 0
    for part in parts:
        stop = start + len(part.valid)
        own = np.asarray(numbers).reshape(-1)[start:stop].astype(np.int64)
        records.append(
            PersonRecords(own, part.valid, part.order, part.hashes, to_tiles(np.ascontiguousarray(part.rows)))
        )
        start = stop
    return bounded_store(records, len(found), layout, unit)


def unit_hashes(source: Source, column: str, key: bytes) -> Hashes:
    """Keyed hashes of the units of a source, each once, those of nobody left out."""
    found = [np.empty((0, 2), np.uint64)]
    for batch in source.batches(BLOCK_ROWS, numeric=(), labels=(column,)):
        forms = [form for form in label_forms(batch.labels(column)) if form is not None]
        found.append(keyed_hashes(forms, key))
    return np.unique(np.concatenate(found), axis=0)


def _ways(design: Design, dtype: str, *, strict: bool) -> tuple[RecordEncoder, Preparer, Layout]:
    encoder = RecordEncoder.of(design, strict=strict)
    return encoder, Preparer.of(design), layout_of(encoder, 0, np.dtype(dtype))


def _piece(person: Hashes, records: PersonRecords, places: NDArray[Any] | None = None) -> Piece:
    rows = to_rows(records.tiles, len(records.valid))
    piece = Piece(np.empty((len(records.valid), 0), np.uint64), records.valid, records.order, records.hashes, rows)
    return (piece if places is None else piece.at(places))._replace(person=person)


def keyed_hashes(forms: Sequence[Form], key: bytes) -> Hashes:
    """Two words of a keyed BLAKE2b of each label's form; equal forms, of whatever type, have equal hashes."""
    known: dict[Form, bytes] = {}
    for form in forms:
        if form not in known:
            known[form] = hashlib.blake2b(_spelt(form), digest_size=16, key=key).digest()
    joined = b"".join(map(known.__getitem__, forms))
    return np.frombuffer(joined, dtype=np.uint64).reshape(-1, 2).copy()


def _spelt(form: Form) -> bytes:
    if isinstance(form, str):
        return b"text " + form.encode("utf-8", errors="surrogatepass")
    sign, digits, exponent = Decimal(form or 0).as_tuple()
    spelt = "".join(map(str, digits))
    bare = spelt.lstrip("0").rstrip("0")
    if not bare:
        return b"number 0"
    power = int(exponent) + len(spelt) - len(spelt.rstrip("0"))
    return f"number {'-' if sign else ''}{bare}e{power}".encode()
