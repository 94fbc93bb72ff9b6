"""The entries of a ledger: each has a hash over all before it; most are charges."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from tacit.documents.canonical_json import canonical
from tacit.documents.reading import parse_document
from tacit.errors import CertificateError, LedgerError, SettingError
from tacit.privacy.event import Event

ORIGIN = "0" * 64
"""What stands for the hash before the first entry."""
COLUMNS = ("sequence", "kind", "amount", "spent", "body", "previous", "hash")
LONGEST_LINE = 200
LONGEST_FORMULA = 1000
NOTES = {"analyst": LONGEST_LINE, "project": LONGEST_LINE, "formula": LONGEST_FORMULA}
NOTES |= {"file": LONGEST_FORMULA, "key": LONGEST_LINE, "request": LONGEST_LINE}
"""What a charge says besides its price, each None or one line of at most so many characters."""

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
    LOWER = "lower"
    PAUSE = "pause"
    RESUME = "resume"
    REFUSAL = "refusal"
    """A table was refused because of a record."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the chain, with the integer units of this charge and of the running total.

    .. code-block:: text

        hash = SHA-256(canonical JSON of sequence, kind, amount, spent, body, previous)

    Guarantee
    ---------
    - What exists has a hash that fits its fields, and a body in its one spelling.
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
        sequence, previous = _place_after(head)
        before = 0 if head is None else head.spent
        body = canonical({**document, "time": time})
        fields = (sequence, kind, spent - before, spent, body, previous)
        return cls(*fields, _hash(fields))

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Entry:
        """Read the fields in the order of `COLUMNS`, strictly."""
        place = f"entry {row[0]!r:.20} of the ledger"
        if [type(value) for value in row] != list(_TYPES):
            raise LedgerError(f"{place} is damaged: a field has the wrong type")
        if _hash(row[:-1]) != row[-1]:
            raise LedgerError(f"{place} does not fit its hash: it was altered after it was written")
        if row[1] not in list(Kind):
            raise LedgerError(f"{place} is of an unknown kind")
        return cls(row[0], Kind(row[1]), *row[2:])

    def require_after(self, last: Entry | None) -> None:
        """Refuse an entry that does not come right after the last one (None: before the first)."""
        sequence, previous = _place_after(last)
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


def _place_after(last: Entry | None) -> tuple[int, str]:
    return (0, ORIGIN) if last is None else (last.sequence + 1, last.hash)


def _hash(fields: Sequence[Any]) -> str:
    text = canonical(dict(zip(COLUMNS[:-1], fields, strict=True)))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a charge is for, in public words; nothing in it is read from a record.

    The same request (its digest) under the same key is answered from the ledger.
    """

    label: str = ""
    analyst: str | None = None
    project: str | None = None
    formula: str | None = None
    file: str | None = None
    key: str | None = None
    request: str | None = None

    def __post_init__(self) -> None:
        require_line("label", self.label, empty=True)
        for name, longest in NOTES.items():
            if getattr(self, name) is not None:
                require_line(name, getattr(self, name), longest=longest)

    def document(self) -> dict[str, str | None]:
        """Return the purpose as plain data."""
        return {"label": self.label, **{name: getattr(self, name) for name in NOTES}}

    def described(
        self, label: str, formula: object, file: object, request: str | None = None
    ) -> Purpose:
        """Return the purpose of one charge: what is fixed already stays, long texts are cut."""
        return replace(
            self,
            label=self.label or label,
            formula=shortened(formula, LONGEST_FORMULA),
            file=shortened(file, LONGEST_FORMULA),
            request=None if self.key is None else request,
        )

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Purpose:
        """Read what `document` wrote; entries of version 0.1 have a label and no more."""
        return cls(document["label"], **{name: document.get(name) for name in NOTES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Purpose):
    """What was paid for, when, and whether its answer is known to have left.

    `release` is the digest of the answer; None after an interruption, where the charge stays spent.
    """

    sequence: int
    time: str
    events: tuple[Event, ...]
    cost: Fraction
    release: str | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is durable, so that its answer may be computed; `Ledger.commit` takes it.

    `answer` is what was stored under the key of the request. It was paid for before: nothing was
    charged now, and there is nothing to compute or to commit.
    """

    sequence: int
    hash: str
    answer: Mapping[str, Any] | None = None


def require_line(
    name: str, value: object, *, empty: bool = False, longest: int = LONGEST_LINE
) -> None:
    """Refuse what is not one line of printable text."""
    line = isinstance(value, str) and len(value) <= longest and value.isprintable()
    if not line or not (empty or str(value).strip()):
        raise SettingError(
            f"{name} is not a line of text; expected at most {longest} printable characters"
        )


def shortened(text: object, longest: int) -> str | None:
    """Return a text as one printable line of at most so many characters; None for nothing."""
    if text is None:
        return None
    line = "".join(mark if mark.isprintable() else " " for mark in str(text)).strip()
    return (line if len(line) <= longest else line[: longest - 1] + "…") or None
