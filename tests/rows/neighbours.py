"""Neighbouring tables, and what can be seen of the difference from outside.

A table of valid records is read with one of them replaced by a poisoned one, with that one replaced
by another valid one, and without it. What is said, and what becomes of all others, must be the
same.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.design.attached_columns import AttachedColumns, Offset, Unit, Weighting
from tacit.design.design import Design
from tacit.formula.formula import design_from_formula
from tacit.rows.admission.admit_rows import admit
from tacit.rows.storage.person_store import PersonStore
from tacit.rows.storage.record_store import SparseStore
from tacit.rows.storage.tiles import to_rows
from tacit.schema.schema import Schema

ROWS, PLACE = 9, 4
COLUMNS = ("age", "x", "ward", "y", "w", "t", "id", "day")
SCHEMA = Schema.parse("""
[columns.age]
type = "numeric"
lower = 1
upper = 100
missing = 40
[columns.x]
type = "numeric"
lower = -5
upper = 5
[columns.ward]
type = "factor"
levels = ["a", "b"]
missing = "a"
other = "b"
[columns.y]
type = "binary"
""")
PLAIN = design_from_formula("y ~ age + x + ward", SCHEMA)
EXPOSED = AttachedColumns(Weighting("w", 2.0), Offset("t", -1.0, 1.0, exposure=True))
OWNED = replace(EXPOSED, unit=Unit("id", 2, "day"))
DESIGNS = {"records": replace(PLAIN, attached=EXPOSED), "persons": replace(PLAIN, attached=OWNED)}
Records = dict[str, list[Any]]


def records() -> Records:
    """Valid cells; nobody else has the person of the record at PLACE."""
    rng = np.random.default_rng(1)
    return {
        "age": rng.integers(1, 100, ROWS).tolist(),
        "x": rng.normal(size=ROWS).tolist(),
        "ward": rng.choice(["a", "b"], ROWS).tolist(),
        "y": rng.integers(0, 2, ROWS).tolist(),
        "w": rng.uniform(0.5, 2, ROWS).tolist(),
        "t": rng.uniform(0.5, 2, ROWS).tolist(),
        "id": [50, 50, 51, 51, 77, 52, 52, 52, 53],
        "day": rng.integers(0, 9, ROWS).tolist(),
    }


def with_cell(column: str, cell: Any) -> Records:
    table = records()
    table[column][PLACE] = cell
    return table


def without_record() -> Records:
    return {name: [*cells[:PLACE], *cells[PLACE + 1 :]] for name, cells in records().items()}


@dataclass(frozen=True)
class Outcome:
    """What can be seen from outside, and what became of each record."""

    kind: str
    said: tuple[str, ...]
    stored: Counter[bytes]
    length: int


def outcome(source: Callable[[], Any], design: Design, invalid_rows: str, fewest: int) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind, said, stored, length = "read", [], Counter[bytes](), -1
        try:
            store = admit(source(), design, invalid_rows=invalid_rows, fewest=fewest)
        except Exception as error:  # noqa: BLE001 - whatever it is, it would be seen
            kind, said = type(error).__name__, [str(error)]
        else:
            stored, length = rows_of(store), store.length
            store.close()
    return Outcome(kind, (*said, *(str(note.message) for note in caught)), stored, length)


def rows_of(store: Any) -> Counter[bytes]:
    """Bits of all units, and how often they occur."""
    blocks = [store.block(index) for index in range(store.block_count)]
    if isinstance(store, PersonStore):
        return Counter(
            block.tiles[block.starts[g] :][: block.counts[g, lane], :, lane].tobytes()
            for block in blocks
            for g in range(len(block.counts))
            for lane in np.flatnonzero(block.counts[g])
        )
    if isinstance(store, SparseStore):
        blocks = [block.dense(store.width) for block in blocks]
    rows = [to_rows(block, store.length) for block in blocks]
    return Counter(row.tobytes() for part in rows for row in part)


@dataclass(frozen=True)
class Neighbours:
    """A valid table and the one without the record, with which poisoned ones are compared."""

    source: Callable[[Any], Any]
    design: Design
    reference: Outcome
    rest: Outcome
    refusal: tuple[str, ...]
    """What is said where invalid records are refused; the design alone decides."""

    @classmethod
    def of(cls, source: Callable[[Any], Any], tables: Iterable[Any], design: Design) -> Neighbours:
        """Of a valid table, one without the record, and one in which it has a missing cell."""
        valid, shorter, missing = tables
        reference = outcome(lambda: source(valid), design, "zero", 0)
        rest = outcome(lambda: source(shorter), design, "zero", 0)
        assert (rest.kind, rest.said) == (reference.kind, reference.said) == ("read", ())
        assert not rest.stored - reference.stored
        refused = outcome(lambda: source(missing), design, "error", 0)
        assert refused.kind == "InvalidRecordsError"
        return cls(source, design, reference, rest, refused.said)

    def fault(self, poisoned: Any) -> str:
        """What can be seen of a table in which the record is a poisoned one; "" for nothing."""
        seen = outcome(lambda: self.source(poisoned), self.design, "zero", 0)
        if seen.kind != "read" or seen.said:
            return f"{seen.kind}: {seen.said}"
        # A person without a name is nobody; any other record stays, if only as a row of zeros.
        nobody = self.design.attached.unit is not None and seen.length == self.rest.length
        if seen.length != self.reference.length and not nobody:
            return "another number of records"
        if self.rest.stored - seen.stored:
            return "another record changed"
        refused = outcome(lambda: self.source(poisoned), self.design, "error", 0)
        if refused.kind != "read" and refused.said != self.refusal:
            return f"{refused.kind}: {refused.said}"
        return ""
