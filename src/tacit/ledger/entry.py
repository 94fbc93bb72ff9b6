"""One entry of a ledger: what happened, the running total, and a hash over all before it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from tacit.documents.canonical_json import canonical
from tacit.documents.reading import parse_document
from tacit.errors import CertificateError, LedgerError

ORIGIN = "0" * 64
"""What stands for the hash before the first entry."""

COLUMNS = ("sequence", "kind", "amount", "spent", "body", "previous", "hash")
_TYPES = (int, str, int, int, str, str, str)


class Kind(StrEnum):
    """What an entry says."""

    OPEN = "open"
    """The terms of the ledger: the first entry, and only that."""
    RESERVE = "reserve"
    """A charge."""
    COMMIT = "commit"
    """The answer of a charge is complete."""
    GRANT = "grant"
    """Budget moved between analysts."""
    LOWER = "lower"
    """A lower cap."""
    PAUSE = "pause"
    RESUME = "resume"
    REFUSAL = "refusal"
    """A table was refused because of a record."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the chain.

    .. code-block:: text

        hash = SHA-256(canonical JSON of sequence, kind, amount, spent, body, previous)

    Guarantee
    ---------
    - What exists has a hash that fits its fields, and a body in its one spelling.

    Parameters
    ----------
    amount, spent
        Integer units of this charge and of the running total; see `tacit.ledger.exact_amounts`.
    body
        Canonical JSON of everything else.
    previous
        The hash of the entry before.
    """

    sequence: int
    kind: Kind
    amount: int
    spent: int
    body: str
    previous: str
    hash: str

    @classmethod
    def follow(
        cls, head: Entry | None, kind: Kind, spent: int, document: Mapping[str, Any]
    ) -> Entry:
        """Return the entry that comes after `head`, with the time."""
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        sequence, previous, before = 0, ORIGIN, 0
        if head is not None:
            sequence, previous, before = head.sequence + 1, head.hash, head.spent
        body = canonical({**document, "time": time})
        fields = (sequence, kind, spent - before, spent, body, previous)
        return cls(*fields, _hash(fields))

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Entry:
        """Read the fields in the order of `COLUMNS`, strictly."""
        place = f"entry {row[0]!r:.20}"
        if len(row) != len(COLUMNS) or any(
            type(value) is not kind for value, kind in zip(row, _TYPES, strict=True)
        ):
            raise LedgerError(f"{place} of the ledger is damaged: a field has the wrong type")
        if _hash(row[:-1]) != row[-1]:
            raise LedgerError(
                f"{place} of the ledger does not fit its hash: it was altered after it was written"
            )
        if row[1] not in list(Kind):
            raise LedgerError(f"{place} of the ledger is of an unknown kind")
        return cls(row[0], Kind(row[1]), *row[2:])

    def require_after(self, last: Entry | None) -> None:
        """Refuse an entry that does not come right after the last one (None: before the first)."""
        sequence, previous = (0, ORIGIN) if last is None else (last.sequence + 1, last.hash)
        if (self.sequence, self.previous) != (sequence, previous):
            raise LedgerError(
                f"entry {self.sequence} of the ledger breaks the chain: entry {sequence} is "
                "expected there, with the hash of its predecessor"
            )

    def row(self) -> tuple[int, str, int, int, str, str, str]:
        """The fields in the order of `COLUMNS`."""
        numbers = (self.sequence, str(self.kind), self.amount, self.spent)
        return (*numbers, self.body, self.previous, self.hash)

    def document(self) -> dict[str, Any]:
        """Everything the body says."""
        try:
            document = parse_document(self.body)
        except CertificateError as error:
            raise LedgerError(f"entry {self.sequence} cannot be read: {error}") from error
        if canonical(document) != self.body:
            raise LedgerError(f"entry {self.sequence} is not in its one spelling")
        return document


def _hash(fields: Sequence[Any]) -> str:
    text = canonical(dict(zip(COLUMNS[:-1], fields, strict=True)))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
