"""The entries of a ledger, each with a hash over all before it: first the terms, then mostly charges."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from fractions import Fraction
from typing import Any

from tacit.accounting.filters import LAWS
from tacit.documents.canonical_json import canonical, parse_document
from tacit.errors import BudgetError, CertificateError, InputError, LedgerError, SettingError
from tacit.ledger.accounts import TOLERANCE, read_number, require
from tacit.ledger.law import LedgerLaw, law_of
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation

ORIGIN = "0" * 64  # What stands for the hash before the first entry.
COLUMNS = ("sequence", "kind", "amount", "spent", "body", "previous", "hash")
_TYPES = [int, str, int, int, str, str, str]
LONGEST_LINE = 200
_LONGEST_FORMULA = 1000
NOTES = {"analyst": LONGEST_LINE, "project": LONGEST_LINE, "formula": _LONGEST_FORMULA}
NOTES |= {"file": _LONGEST_FORMULA, "key": LONGEST_LINE, "request": LONGEST_LINE}
"""What a charge says besides its price, each None or one line of at most so many characters."""

FORMAT = "tacit-ledger/2"
OLD_FORMAT = "tacit-ledger/1"  # Of version 0.1, which knew no refusals for curators.
STAMP = {"time", "sqlite"}
"""What an entry says besides its own fields: when it was written, and in 0.1 by which library."""

LONGEST_AMOUNT = 4001
_CURRENCIES = ("epsilon", "delta", "mu", "rho")
_OLD_FIELDS = {"format", "budget", "law", "capacity", "dataset", "relation", "unit"}
_FIELDS = {FORMAT: _OLD_FIELDS | {"refusals"}, OLD_FORMAT: _OLD_FIELDS}


class EntryKind(StrEnum):
    """What an entry says."""

    OPEN = "open"  # The terms of the ledger: the first entry, and only that.
    RESERVE = "reserve"  # A charge.
    COMMIT = "commit"  # The answer of a charge is complete.
    GRANT = "grant"
    LOWER = "lower"
    PAUSE = "pause"
    RESUME = "resume"
    REFUSAL = "refusal"  # A table was refused because of a record.


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the chain, with the integer units of this charge and of the total; hash and body fit its fields."""

    sequence: int
    kind: EntryKind
    amount: int
    spent: int
    body: str
    previous: str
    hash: str

    @classmethod
    def follow(cls, head: Entry | None, kind: EntryKind, spent: int, document: Mapping[str, Any]) -> Entry:
        """Return the entry that comes after `head`, with the time."""
        time = datetime.now(UTC).isoformat(timespec="microseconds")
        sequence, previous = _place_after(head)
        amount = spent if head is None else spent - head.spent
        fields = (sequence, kind, amount, spent, canonical({**document, "time": time}), previous)
        return cls(*fields, _hash(fields))

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Entry:
        """Read the fields in the order of `COLUMNS`, strictly."""
        place = f"entry {row[0]!r:.20} of the ledger"
        require([type(value) for value in row] == _TYPES, f"{place} is damaged: a field has the wrong type")
        require(_hash(row[:-1]) == row[-1], f"{place} does not fit its hash: it was altered after it was written")
        require(row[1] in list(EntryKind), f"{place} is of an unknown kind")
        return cls(row[0], EntryKind(row[1]), *row[2:])

    def require_after(self, last: Entry | None) -> None:
        """Refuse an entry that does not come right after the last one (None: before the first)."""
        sequence, previous = _place_after(last)
        if (self.sequence, self.previous) != (sequence, previous):
            raise LedgerError(
                f"entry {self.sequence} of the ledger breaks the chain: entry {sequence} is "
                "expected there, with the hash of its predecessor"
            )

    def document(self) -> dict[str, Any]:
        """Everything the body says."""
        try:
            document = parse_document(self.body)
        except CertificateError as error:
            raise LedgerError(f"entry {self.sequence} cannot be read: {error}") from error
        require(canonical(document) == self.body, f"entry {self.sequence} is not in its one spelling")
        return document


def _place_after(last: Entry | None) -> tuple[int, str]:
    return (0, ORIGIN) if last is None else (last.sequence + 1, last.hash)


def _hash(fields: Sequence[Any]) -> str:
    return hashlib.sha256(canonical(dict(zip(COLUMNS[:-1], fields, strict=True))).encode("ascii")).hexdigest()


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a charge is for, in public words; nothing in it is read from a record."""

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
            require_line(name, getattr(self, name), longest=longest, optional=True)

    def document(self) -> dict[str, str | None]:
        """As plain data."""
        return {"label": self.label, **{name: getattr(self, name) for name in NOTES}}

    def described(self, label: str, formula: object, file: object, request: str | None = None) -> Purpose:
        """Return the purpose of one charge: what is fixed already stays, long texts are cut."""
        return replace(
            self,
            label=self.label or label,
            formula=shortened(formula, _LONGEST_FORMULA),
            file=shortened(file, _LONGEST_FORMULA),
            request=None if self.key is None else request,
        )

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Purpose:
        """Read what `document` wrote; entries of version 0.1 have a label and no more."""
        return cls(document["label"], **{name: document.get(name) for name in NOTES})


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge(Purpose):
    """What was paid for, when, and the digest of its answer; None where that has not left."""

    sequence: int
    time: str
    events: tuple[Event, ...]
    cost: Fraction
    release: str | None = None


@dataclass(frozen=True, slots=True)
class Reservation:
    """A durable charge, for `Ledger.commit`; with an `answer`, one that was stored by key and paid for before."""

    sequence: int
    hash: str
    answer: Mapping[str, Any] | None = None


def require_line(
    name: str, value: object, *, empty: bool = False, optional: bool = False, longest: int = LONGEST_LINE
) -> None:
    """Refuse what is not one line of printable text, or None where it is optional."""
    line = isinstance(value, str) and len(value) <= longest and value.isprintable()
    if not (optional and value is None) and not (line and (empty or str(value).strip())):
        raise SettingError(f"{name} is not a line of text; expected at most {longest} printable characters")


def shortened(text: object, longest: int) -> str | None:
    """Return a text as one printable line of at most so many characters; None for nothing."""
    if text is None:
        return None
    line = "".join(mark if mark.isprintable() else " " for mark in str(text)).strip()
    return (line if len(line) <= longest else line[: longest - 1] + "…") or None


@dataclass(frozen=True, slots=True)
class Terms:
    """What every charge of a ledger must agree with; relation and unit may be left to the first.

    The budget is finite and has a delta. The law says which costs add up; its order is chosen from the budget unless it
    is given. The capacity, the exact cost that it allows, is stored because a later version
    may round otherwise. Refusals are for "never" (no record can make a fit fail) or the "curator" of the table.
    """

    budget: Budget
    dataset: str | None = None
    relation: Relation | None = None
    unit: str | None = None
    capacity: Fraction = field(default=Fraction(0), repr=False)
    refusals: str = "never"
    law: str | None = None
    order: float | None = None

    def __post_init__(self) -> None:
        budget, law = law_of(require_finite(self.budget), self.law, self.order)
        for name, value in {"budget": budget, "law": law.name, "order": law.order}.items():
            object.__setattr__(self, name, value)
        if not self.capacity:
            object.__setattr__(self, "capacity", law.capacity(budget))
        if self.relation is not None:
            object.__setattr__(self, "relation", Relation.parse(self.relation))
        if self.refusals not in ("never", "curator"):
            raise SettingError(
                f'refusals is {str(self.refusals)[:40]!r}; expected "never", or "curator" where '
                "only the curators of the table use the ledger"
            )
        require_line("dataset", self.dataset, optional=True)
        require_line("unit", self.unit, optional=True)

    @property
    def delta(self) -> float:
        """The delta at which a guarantee is read."""
        return self.budget.delta or 0.0

    @property
    def pricing(self) -> LedgerLaw:
        """What prices charges and budgets."""
        return law_of(self.budget, self.law, self.order)[1]

    def document(self) -> dict[str, Any]:
        """The terms as plain data."""
        return {
            "format": FORMAT,
            "budget": budget_document(self.budget),
            **self.pricing.document(),
            "capacity": str(self.capacity),
            "dataset": self.dataset,
            "relation": None if self.relation is None else str(self.relation),
            "unit": self.unit,
            "refusals": self.refusals,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Terms:
        """Read what `document` wrote."""
        known = _FIELDS.get(str(document.get("format")))
        if known is None:
            raise LedgerError(
                f'the format of the ledger is unknown; expected "{FORMAT}". A newer version may have written it'
            )
        law, order = document.get("law"), document.get("order")
        require(law in LAWS, "the law of the ledger is unknown; a newer version may have written it")
        fields = known | ({"order"} if law == "rdp" else set())
        require(set(document) - STAMP == fields, "the first entry of the ledger has missing or unknown fields")
        require(law != "rdp" or type(order) in (int, float), "the order of the ledger is no number")
        try:
            budget, capacity = read_worth(document, "capacity", lambda it: law_of(it, law, order)[1].capacity(it))
            declared = document["dataset"], document["relation"], document["unit"]
            terms = cls(budget, *declared, capacity, document.get("refusals", "never"), law, order)
        except InputError as error:
            raise LedgerError(f"the first entry of the ledger does not hold: {error}") from error
        return terms


def require_same(name: str, given: object, stored: object) -> None:
    """Refuse a term that was given again and is not the one of the ledger."""
    if given is not None and given != stored:
        known = "none in particular" if stored is None else repr(str(stored))
        raise LedgerError(
            f"the {name} given is {str(given)[:LONGEST_LINE]!r}, but this ledger is kept for "
            f"{known}. Open the ledger that belongs to it, or start another one"
        )


def budget_document(budget: Budget) -> dict[str, float | None]:
    """Return a budget as plain data."""
    return {name: getattr(budget, name) for name in _CURRENCIES}


def require_finite(budget: object) -> Budget:
    """Return what is a finite budget."""
    if not isinstance(budget, Budget):
        raise BudgetError("a ledger needs a budget, as tacit.Budget(epsilon=3, delta=1e-6)")
    finite = "a ledger needs a finite budget; an infinite one has nothing to keep"
    require(not budget.is_infinite, finite, error=BudgetError)
    return budget


def read_worth(document: Mapping[str, Any], name: str, worth: Callable[[Budget], Fraction]) -> tuple[Budget, Fraction]:
    """Read a budget and its exact amount, above 0 and not more than the budget is worth."""
    stated = document["budget"]
    if not isinstance(stated, dict) or set(stated) != set(_CURRENCIES):
        raise LedgerError("a budget in the ledger has missing or unknown fields")
    budget, amount = Budget(**stated), read_number(document[name], LONGEST_AMOUNT, "its capacity")
    require(0 < amount <= worth(budget) * (1 + TOLERANCE), "its capacity is 0 or more than its budget allows")
    return budget, amount
