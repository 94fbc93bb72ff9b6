"""The rules of a ledger, once: a fold over its entries that accepts only what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tacit.accounting.composition import guarantee_of
from tacit.errors import BudgetError, InputError, LedgerError, SettingError
from tacit.ledger.accounts import Accounts
from tacit.ledger.charge import LONGEST_LINE, NOTES, Charge, Purpose, Reservation, require_line
from tacit.ledger.entry import ORIGIN, Entry, Kind
from tacit.ledger.price import capacity_of, cost_of, units
from tacit.ledger.terms import TOLERANCE, Terms, budget_document, read_amount, read_budget
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event, from_json, to_json
from tacit.privacy.relation import Relation

_STAMP = {"time", "sqlite"}
_CHARGED = {"events", "relation", "unit", "label"}
_FIELDS: Mapping[Kind, set[str]] = {
    Kind.RESERVE: _CHARGED | set(NOTES),
    Kind.COMMIT: {"reservation", "release", "answer"},
    Kind.GRANT: {"source", "to", "budget", "amount", "reason"},
    Kind.LOWER: {"budget", "capacity", "reason"},
    Kind.PAUSE: {"analyst", "reason"},
    Kind.RESUME: {"analyst", "reason"},
    Kind.REFUSAL: {"label", *NOTES},
}
# Entries of version 0.1; they also name the library that wrote them.
_OLD_FIELDS: Mapping[Kind, set[str]] = {
    Kind.RESERVE: _CHARGED,
    Kind.COMMIT: {"reservation", "release"},
}


class Chain:
    """What the entries of a ledger add up to.

    Guarantee
    ---------
    - An entry is accepted only if its hash follows the entry before it, its integers are those of
      the exact running total, and the total stays within the budget.
    - All charges are of one relation and one unit; an answer is committed once, after its charge.
    - A key stands for one request; the budget in force never rises.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._terms: Terms | None = None
        self._charges: dict[int, Charge] = {}
        self._hashes: dict[int, str] = {}
        self._keys: dict[str, int] = {}
        self._answers: dict[int, Mapping[str, Any]] = {}
        self.head: Entry | None = None
        self.accounts = Accounts(Fraction(0))
        self.budget = Budget(mu=1.0)
        self.relation: Relation | None = None
        self.unit: str | None = None
        self.refusals = 0
        for entry in entries:
            self.accept(entry)

    @property
    def terms(self) -> Terms:
        """The terms in the first entry."""
        if self._terms is None:
            raise LedgerError("the ledger has no first entry; expected its budget there")
        return self._terms

    @property
    def capacity(self) -> Fraction:
        """The exact cost that the budget in force allows; it may have been lowered."""
        return self.accounts.capacity

    @property
    def total(self) -> Fraction:
        """What all charges cost together, exactly."""
        return self.accounts.total

    @property
    def length(self) -> int:
        """Number of entries."""
        return 0 if self.head is None else self.head.sequence + 1

    @property
    def head_hash(self) -> str:
        """Hash of the last entry, which stands for all of them."""
        return ORIGIN if self.head is None else self.head.hash

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every charge, in the order in which they were made."""
        return tuple(self._charges.values())

    def guarantee(self) -> Guarantee | None:
        """State what all charges guarantee together, rounded up; None before the first charge."""
        if self.relation is None or self.unit is None:
            return None
        events = [event for charge in self.charges for event in charge.events]
        return guarantee_of(events, delta=self.terms.delta, relation=self.relation, unit=self.unit)

    def answer_of(self, key: str) -> Mapping[str, Any] | None:
        """Return what is kept under a key, or None."""
        return self._answers.get(self._keys.get(key, -1))

    def extended(self, entries: Iterable[Entry]) -> Chain:
        """Return the chain with further entries; this one stays as it is."""
        longer = copy(self)
        for name in ("_charges", "_hashes", "_keys", "_answers"):
            setattr(longer, name, dict(getattr(self, name)))
        for entry in entries:
            longer.accept(entry)
        return longer

    def accept(self, entry: Entry) -> None:
        """Take the next entry, or refuse it with `LedgerError` and stay as before."""
        place = f"entry {entry.sequence} of the ledger"
        if entry.sequence != self.length:
            raise LedgerError(f"{place} is out of place; expected entry {self.length}")
        if entry.previous != self.head_hash:
            raise LedgerError(f"{place} breaks the chain: its predecessor was altered or removed")
        if (entry.kind is Kind.OPEN) != (self.head is None):
            raise LedgerError(f"{place} is an {entry.kind}; only the first entry opens a ledger")
        try:
            self._fold(entry, entry.document())
        except LedgerError:
            raise
        except InputError as error:
            raise LedgerError(f"{place} does not hold: {error}") from error
        self.head = entry

    def recalled(self, purpose: Purpose, *, again: bool) -> Reservation | None:
        """Return the answered charge of the same request under the same key, or None.

        Raises
        ------
        LedgerError
            If the key stands for another request, or for one whose answer was never kept; the
            latter is charged anew where `again` says so.
        """
        if purpose.key is None or purpose.key not in self._keys:
            return None
        sequence = self._keys[purpose.key]
        if self._charges[sequence].purpose.request != purpose.request:
            raise LedgerError(
                f"the key {purpose.key!r} stands for another request in this ledger: the model, "
                "the budget, the public facts or the number of records differ. Nothing was spent. "
                "Use another key, or ask for what it stands for"
            )
        answer = self._answers.get(sequence)
        if answer is not None:
            return Reservation(sequence, self._hashes[sequence], answer)
        if again:
            return None
        raise LedgerError(
            f"the request under the key {purpose.key!r} was charged and its answer was not kept: "
            "it is still being computed, or was interrupted. Nothing was spent now. Wait for it, "
            "or pay once more: ledger.request(key, again=True), on the command line --again"
        )

    def draft_charge(
        self, events: Sequence[Event], *, relation: Relation | str, unit: str, purpose: Purpose
    ) -> Entry:
        """Return the entry of a new charge, not yet accepted.

        Raises
        ------
        BudgetError
            If the budget, or the room of its analyst, does not allow it.
        LedgerError
            If its relation or its unit is not that of the ledger, it has no events, or charges are
            paused.
        """
        document = {
            "events": [to_json(event) for event in events],
            "relation": str(Relation.parse(relation)),
            "unit": unit,
            **purpose.document(),
        }
        accounts = self._price(document)[1]
        return Entry.follow(self.head, Kind.RESERVE, self._units(accounts), document)

    def draft_commit(
        self, reservation: Reservation, release: str, answer: Mapping[str, Any] | None = None
    ) -> Entry:
        """Return the entry that says that the answer of a charge leaves, not yet accepted."""
        if self._hashes.get(reservation.sequence) != reservation.hash:
            raise LedgerError("this ledger holds no such reservation; it belongs to another one")
        document = {"reservation": reservation.sequence, "release": release, "answer": answer}
        self._committed(document)
        return Entry.follow(self.head, Kind.COMMIT, self._spent, document)

    def draft_grant(
        self, source: str | None, to: str | None, budget: Budget | None, reason: str
    ) -> Entry:
        """Return the entry that moves room; without a budget all that is left moves."""
        worth = None if budget is None else Terms(budget.with_delta(self.terms.delta))
        document = {
            "source": source,
            "to": to,
            "budget": None if worth is None else budget_document(worth.budget),
            "amount": None if worth is None else str(worth.capacity),
            "reason": reason,
        }
        self._granted(document)
        return Entry.follow(self.head, Kind.GRANT, self._spent, document)

    def draft_lower(self, budget: Budget, reason: str) -> Entry:
        """Return the entry that lowers the cap of the dataset."""
        terms = Terms(budget.with_delta(self.terms.delta))
        document = {
            "budget": budget_document(terms.budget),
            "capacity": str(terms.capacity),
            "reason": reason,
        }
        accounts = self._lowered(document)[1]
        return Entry.follow(self.head, Kind.LOWER, self._units(accounts), document)

    def draft_pause(self, analyst: str | None, reason: str, *, resume: bool = False) -> Entry:
        """Return the entry that pauses charges, or lets them go on."""
        kind = Kind.RESUME if resume else Kind.PAUSE
        document = {"analyst": analyst, "reason": reason}
        self._halted(kind, document)
        return Entry.follow(self.head, kind, self._spent, document)

    def draft_refusal(self, purpose: Purpose) -> Entry:
        """Return the entry that says that a table was refused because of a record."""
        return Entry.follow(self.head, Kind.REFUSAL, self._spent, purpose.document())

    @property
    def _spent(self) -> int:
        return 0 if self.head is None else self.head.spent

    def _units(self, accounts: Accounts) -> int:
        """Integer units of what is spent or withdrawn, of the budget that the ledger began with."""
        whole = self.terms.capacity
        return units(accounts.total + whole - accounts.capacity, whole)

    def _fold(self, entry: Entry, document: Mapping[str, Any]) -> None:
        if not isinstance(document.get("time"), str):
            raise LedgerError(f"entry {entry.sequence} has no time")
        if entry.kind is Kind.OPEN:
            terms = Terms.read(document)
            self._require_units(entry, 0)
            self._terms, self.relation, self.unit = terms, terms.relation, terms.unit
            self.budget, self.accounts = terms.budget, Accounts(terms.capacity)
            return
        if set(document) - _STAMP not in (_FIELDS[entry.kind], _OLD_FIELDS.get(entry.kind)):
            raise LedgerError(f"entry {entry.sequence} has missing or unknown fields")
        try:
            self._fold_later(entry, document)
        except BudgetError as error:
            raise LedgerError(f"entry {entry.sequence} exceeds the budget: {error}") from error

    def _fold_later(self, entry: Entry, document: Mapping[str, Any]) -> None:
        accounts, budget = self.accounts, self.budget
        if entry.kind is Kind.RESERVE:
            charge, accounts = self._price(document)
            self._require_units(entry, self._units(accounts))
            self._keep(replace(charge, time=document["time"]), entry.hash)
            self.relation, self.unit = Relation.parse(document["relation"]), document["unit"]
        elif entry.kind is Kind.COMMIT:
            charge = self._committed(document)
            self._require_units(entry, self._spent)
            self._charges[charge.sequence] = charge
            if document.get("answer") is not None:
                self._answers[charge.sequence] = document["answer"]
        elif entry.kind is Kind.GRANT:
            accounts = self._granted(document)
            self._require_units(entry, self._spent)
        elif entry.kind is Kind.LOWER:
            budget, accounts = self._lowered(document)
            self._require_units(entry, self._units(accounts))
        elif entry.kind is Kind.REFUSAL:
            Purpose.read(document)
            self._require_units(entry, self._spent)
            self.refusals += 1
        else:
            accounts = self._halted(entry.kind, document)
            self._require_units(entry, self._spent)
        self.accounts, self.budget = accounts, budget

    def _keep(self, charge: Charge, digest: str) -> None:
        self._charges[charge.sequence] = charge
        self._hashes[charge.sequence] = digest
        if charge.key is not None:
            # The newest: an interrupted request that was paid for again is answered by its second.
            self._keys[charge.key] = charge.sequence

    def _price(self, document: Mapping[str, Any]) -> tuple[Charge, Accounts]:
        """Read a charge and the accounts after it; it must be of the ledger's relation and unit."""
        relation, unit = Relation.parse(document["relation"]), document["unit"]
        require_line("unit", unit, empty=False)
        purpose = Purpose.read(document)
        if purpose.key is not None and purpose.request is None:
            raise SettingError("a key needs the digest of the request that it stands for")
        for name, given, kept in (
            ("relation", relation, self.relation),
            ("unit", unit, self.unit),
        ):
            if kept is not None and given != kept:
                raise LedgerError(
                    f'the charge is for the {name} "{given}", but this ledger is kept for '
                    f'"{kept}": the two do not add up. Fit under "{kept}", or start another ledger'
                )
        if not isinstance(document["events"], list) or not document["events"]:
            raise LedgerError("a charge without events has no price and cannot be kept")
        if self.recalled(purpose, again=True) is not None:
            raise LedgerError("the request was answered before; it is not charged again")
        events = tuple(from_json(event) for event in document["events"])
        cost = cost_of(events, relation)
        charge = Charge(self.length, "", purpose, events, cost)
        return charge, self.accounts.charged(purpose.analyst, cost)

    def _committed(self, document: Mapping[str, Any]) -> Charge:
        number, release = document["reservation"], document["release"]
        if type(number) is not int or number not in self._charges:
            raise LedgerError("a release was committed that no charge was reserved for")
        if self._charges[number].release is not None:
            raise LedgerError("the charge was committed before; every answer is paid for once")
        if not isinstance(release, str) or not 0 < len(release) <= LONGEST_LINE:
            raise SettingError("the digest of a release is not a line of text")
        if not isinstance(document.get("answer"), dict | None):
            raise SettingError("the answer that is kept is not an object")
        return replace(self._charges[number], release=release)

    def _granted(self, document: Mapping[str, Any]) -> Accounts:
        for name in ("source", "to"):
            if document[name] is not None:
                require_line(name, document[name], empty=False)
        require_line("reason", document["reason"], empty=True)
        if (document["budget"] is None) != (document["amount"] is None):
            raise LedgerError("a grant has a budget without an amount, or the reverse")
        amount = None
        if document["budget"] is not None:
            amount = read_amount(document["amount"], read_budget(document["budget"]))
        return self.accounts.moved(document["source"], document["to"], amount)

    def _lowered(self, document: Mapping[str, Any]) -> tuple[Budget, Accounts]:
        require_line("reason", document["reason"], empty=False)
        budget = read_budget(document["budget"])
        if budget.delta != self.terms.delta:
            raise LedgerError("the delta of a ledger is fixed; lower epsilon, mu or rho")
        # What is stated may not rise either: a certificate names the budget beside its capacity.
        if capacity_of(budget) > self.capacity * (1 + TOLERANCE):
            raise BudgetError("the budget of a ledger may be lowered, never raised")
        return budget, self.accounts.lowered(read_amount(document["capacity"], budget))

    def _halted(self, kind: Kind, document: Mapping[str, Any]) -> Accounts:
        if document["analyst"] is not None:
            require_line("analyst", document["analyst"], empty=False)
        require_line("reason", document["reason"], empty=False)
        reason = document["reason"] if kind is Kind.PAUSE else None
        return self.accounts.halted(document["analyst"], reason)

    def _require_units(self, entry: Entry, spent: int) -> None:
        if entry.spent != spent or entry.amount != spent - self._spent:
            raise LedgerError(f"entry {entry.sequence}: its amounts are not those of its events")
