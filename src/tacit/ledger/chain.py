"""The rules of a ledger: its state is computed from its entries, and every entry is checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tacit.accounting.composition import guarantee_of
from tacit.display import Displayed, Shown
from tacit.errors import BudgetError, InputError, LedgerError, SettingError
from tacit.ledger import entry as entries
from tacit.ledger.accounts import TOLERANCE, Accounts, read_number, require, units
from tacit.ledger.entry import NOTES, Charge, Entry, EntryKind, Purpose, Reservation, Terms, require_line
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event_json import from_json
from tacit.privacy.relation import Relation
from tacit.text_table import Table
from tacit.validate import within

_CHARGED = {"events", "relation", "unit", "label"}
_FIELDS = {
    EntryKind.RESERVE: _CHARGED | set(NOTES),
    EntryKind.COMMIT: {"reservation", "release", "answer"},
    EntryKind.GRANT: {"source", "to", "budget", "amount", "reason"},
    EntryKind.LOWER: {"budget", "capacity", "reason"},
    EntryKind.PAUSE: {"analyst", "reason"},
    EntryKind.RESUME: {"analyst", "reason"},
    EntryKind.REFUSAL: {"label", *NOTES},
}
SMALLEST = 1e-6  # A mu, or where delta is 0 an epsilon, that no fit can use.
_stated = lru_cache(maxsize=8)(guarantee_of)  # Events without a μ take a transform to price.
_OLD_FIELDS = {EntryKind.RESERVE: _CHARGED, EntryKind.COMMIT: {"reservation", "release"}}  # Entries of version 0.1.


@dataclass(frozen=True)
class Check:
    """What `Ledger.verify` found: how many entries and charges, the last hash, and so in words."""

    entries: int
    charges: int
    unreleased: int
    head: str
    guarantee: Guarantee | None
    statement: str


@dataclass(frozen=True, repr=False)
class Status(Displayed):
    """What was spent and what is left, for one analyst or for what is granted to nobody.

    `spent` is what all charges guarantee together, `remaining` what is left in mu, rounded down, and `left` the same as
    epsilon at the ledger's delta; each None where there is nothing. Where delta is 0, both are the epsilon that is
    left. `granted` has, of each analyst, the share of the budget that was granted and that is left. Guarantee: A fit
    with Gaussian noise, or a pure one where delta is 0, of `remaining`, or of `left` at its delta, is accepted if
    nobody charges before it. `more_like_last` further charges as the last one would be accepted, and not one more;
    `last` says which that is: the analyst's own, or anybody's where none was asked for.
    """

    budget: Budget
    spent: Guarantee | None
    remaining: Budget | None
    left: Budget | None
    more_like_last: int | None
    granted: Mapping[str, tuple[float, float]]
    paused: Mapping[str | None, str]
    last: str = ""

    def __str__(self) -> str:
        """Say in words what is left."""
        if self.remaining is None or (self.remaining.mu or self.remaining.epsilon or 0.0) < SMALLEST:
            # What rounding left of shares that add up to the whole is nothing that a fit could use.
            return "nothing is left"
        # So little that delta alone allows it has a mu, and an epsilon of 0.
        text = f"about μ = {self.remaining.mu:.4g}" if self.left is None else f"about {_amount(self.left)}"
        if self.more_like_last is not None:
            fits = "fit" if self.more_like_last == 1 else "fits"
            text += f", or {self.more_like_last} more {fits} like the last{self.last}"
        return text

    def _shown(self) -> Shown:
        spent = "nothing" if self.spent is None else str(self.spent)
        facts = [("Budget", str(self.budget)), ("Spent", spent), ("Left", str(self))]
        facts += [("Paused", f"{who or 'everybody'}: {why}") for who, why in self.paused.items()]
        rows = tuple((name, f"{whole:.0%}", f"{left:.0%}") for name, (whole, left) in self.granted.items())
        return Shown(
            "Ledger", tuple(facts), Table(("analyst", "granted", "left of the budget"), rows) if rows else None
        )

    def __repr__(self) -> str:
        """Say it in full, as a notebook does."""
        return self._shown().text()


class Chain:
    """The state that the entries of a ledger lead to.

    Guarantee: An entry is accepted only if its hash follows the entry before it, its integers are those of the exact
    running total, and the total stays within the budget. All charges are of one relation and one unit; an answer is
    committed once, after its charge. A key stands for one request; the budget in force never rises.
    """

    def __init__(self, following: Sequence[Entry]) -> None:
        require(following, "the ledger has no first entry; expected its budget there")
        self._charges: dict[int, Charge] = {}
        self._reservations: dict[int, Reservation] = {}
        self._keys: dict[str, int] = {}
        self.refusals = 0
        self.head = following[0]
        self.terms = Terms.read(_document_of(self.head, None))
        _require_amounts(self.head, 0, 0)
        self.accounts, self.budget = Accounts(self.terms.capacity), self.terms.budget
        self.relation, self.unit = self.terms.relation, self.terms.unit
        for entry in following[1:]:
            self.accept(entry)

    @property
    def length(self) -> int:
        """Number of entries."""
        return self.head.sequence + 1

    @property
    def charges(self) -> tuple[Charge, ...]:
        """Every charge, in the order in which they were made."""
        return tuple(self._charges.values())

    def guarantee(self) -> Guarantee | None:
        """State what all charges guarantee together, rounded up; None before the first charge."""
        if self.relation is None or self.unit is None or not self._charges:
            return None
        events = tuple(event for charge in self.charges for event in charge.events)
        return _stated(events, delta=self.terms.delta, relation=self.relation, unit=self.unit)

    def check(self, unfinished: int) -> Check:
        """State what the whole chain holds; after it, so many bytes of the file are no entry."""
        unreleased = sum(charge.release is None for charge in self.charges)
        guarantee = self.guarantee()
        counts = (self.length, len(self.charges), unreleased)
        statement = "The ledger holds: {} entries, {} charges, {} of them without a release. ".format(*counts)
        statement += f"{self.refusals} tables were refused. " if self.refusals else ""
        statement += "Nothing was charged yet." if guarantee is None else f"All charges: {guarantee}."
        if unfinished:
            statement += f" The last {unfinished} bytes are an entry that was cut short and never acknowledged; "
            statement += "the next charge removes them."
        return Check(*counts, self.head.hash, guarantee, statement)

    def status(self, analyst: str | None) -> Status:
        """State what is spent, and what is left to an analyst or in common."""
        accounts, delta, whole = self.accounts, self.terms.delta, self.accounts.capacity
        left = accounts.left(analyst)
        remaining, epsilon = self.terms.pricing.affordable(left, delta)
        own = [charge for charge in self.charges if analyst in (None, charge.analyst)]
        last = own[-1] if own else None
        shares = ((name, granted / whole, accounts.left(name) / whole) for name, granted in accounts.granted.items())
        return Status(
            budget=self.budget,
            spent=self.guarantee(),
            remaining=remaining,
            left=epsilon,
            more_like_last=math.floor(left / last.cost) if last else None,
            granted={name: (float(granted), float(rest)) for name, granted, rest in shares},
            paused=accounts.paused,
            last="" if last is None else _named(last, analyst),
        )

    def budget_of(self, share: float | Fraction) -> Budget:
        """Return the largest budget, in mu or by pure in epsilon, that is worth at most a share of the whole."""
        exact = Fraction(within("share", share, 0.0, 1.0))
        part = exact.limit_denominator(10**9)
        # 1/10 is what 0.1 stands for, up to the rounding of a float; no further up.
        part = part if part <= exact * (1 + Fraction(1, 2**52)) else exact
        found = self.terms.pricing.affordable(part * self.accounts.capacity, self.terms.delta)[0]
        if found is None:
            raise SettingError("share is too small to be granted; expected a part of 1, such as 0.5 for one half")
        return found

    def recalled(self, purpose: Purpose, *, again: bool) -> Reservation | None:
        """Return the answered charge of a request under its key, or None; refuse an unanswered one, unless `again`."""
        if purpose.key is None or purpose.key not in self._keys:
            return None
        sequence = self._keys[purpose.key]
        if self._charges[sequence].request != purpose.request:
            raise LedgerError(
                f"the key {purpose.key!r} stands for another request in this ledger: the model, "
                "the budget, the public facts or the number of records differ. Nothing was spent. "
                "Use another key, or ask for what it stands for"
            )
        known = self._reservations[sequence]
        if known.answer is not None:
            return known
        if again:
            return None
        raise LedgerError(
            f"the request under the key {purpose.key!r} was charged and its answer was not kept: "
            "it is still being computed, or was interrupted. Nothing was spent now. Wait for it, "
            "or pay once more: ledger.request(key, again=True), on the command line --again"
        )

    def require_reserved(self, reservation: Reservation) -> None:
        """Refuse a reservation of another ledger."""
        known = self._reservations.get(reservation.sequence)
        if known is None or known.hash != reservation.hash:
            raise LedgerError("this ledger holds no such reservation; it belongs to another one")

    def draft(self, kind: EntryKind, document: Mapping[str, Any]) -> Entry:
        """Return the next entry, not yet accepted; refuse what breaks a rule."""
        return Entry.follow(self.head, kind, self._after(kind, document)[0], document)

    def accept(self, entry: Entry) -> None:
        """Take the next entry, or refuse it with `LedgerError` and stay as before."""
        try:
            self._take(entry, _document_of(entry, self.head))
        except BudgetError as error:
            raise LedgerError(f"entry {entry.sequence} exceeds the budget: {error}") from error
        except LedgerError:
            raise
        except InputError as error:
            raise LedgerError(f"entry {entry.sequence} of the ledger does not hold: {error}") from error

    def extended(self, following: Iterable[Entry]) -> Chain:
        """Return the chain with further entries; this one stays as it is."""
        longer = copy(self)
        for name in ("_charges", "_reservations", "_keys"):
            setattr(longer, name, dict(getattr(self, name)))
        for entry in following:
            longer.accept(entry)
        return longer

    def _take(self, entry: Entry, document: Mapping[str, Any]) -> None:
        costs = {"cost"} if entry.kind is EntryKind.RESERVE and self.terms.pricing.stores_costs else set()
        if set(document) - entries.STAMP not in (_FIELDS[entry.kind] | costs, _OLD_FIELDS.get(entry.kind)):
            raise LedgerError(f"entry {entry.sequence} has missing or unknown fields")
        spent, accounts, budget, charge = self._after(entry.kind, document)
        _require_amounts(entry, spent, spent - self.head.spent)
        self.accounts, self.budget, self.head = accounts, budget, entry
        self.refusals += entry.kind is EntryKind.REFUSAL
        if charge is None:
            return
        number = charge.sequence
        self._charges[number] = charge
        if entry.kind is EntryKind.COMMIT:
            self._reservations[number] = replace(self._reservations[number], answer=document.get("answer"))
            return
        self._reservations[number] = Reservation(number, entry.hash)
        self.relation, self.unit = Relation.parse(document["relation"]), document["unit"]
        if charge.key is not None:
            # The newest: an interrupted request that was paid for again has its answer there.
            self._keys[charge.key] = number

    def _after(self, kind: EntryKind, document: Mapping[str, Any]) -> tuple[int, Accounts, Budget, Charge | None]:
        """Return the integer units spent, accounts, budget and new charge after an entry, or refuse it."""
        accounts, budget, spent, charge = self.accounts, self.budget, self.head.spent, None
        if kind is EntryKind.RESERVE:
            charge = self._priced(document)
            accounts = accounts.charged(charge.analyst, charge.cost)
        elif kind is EntryKind.COMMIT:
            charge = self._committed(document)
        elif kind is EntryKind.REFUSAL:
            Purpose.read(document)
        else:
            budget, accounts = self._curated(kind, document)
        if kind in (EntryKind.RESERVE, EntryKind.LOWER):
            # What is spent or withdrawn of the first budget. Other entries change neither total nor capacity.
            whole = self.terms.capacity
            spent = units(accounts.total + whole - accounts.capacity, whole)
        return spent, accounts, budget, charge

    def _priced(self, document: Mapping[str, Any]) -> Charge:
        relation, unit = Relation.parse(document["relation"]), document["unit"]
        require_line("unit", unit)
        purpose = Purpose.read(document)
        if purpose.key is not None and purpose.request is None:
            raise SettingError("a key needs the digest of the request that it stands for")
        for name, given, own in (("relation", relation, self.relation), ("unit", unit, self.unit)):
            if own is not None and given != own:
                how = f'give relation="{own}"' if name == "relation" else _declaring(own)
                raise LedgerError(
                    f'the charge is for the {name} "{given}", but this ledger is kept for '
                    f'"{own}": the two do not add up. Fit under "{own}" ({how}), or start another ledger'
                )
        if not isinstance(document["events"], list) or not document["events"]:
            raise LedgerError("a charge without events has no price and cannot be made")
        require(self.recalled(purpose, again=True) is None, "the request was answered before; it is not charged again")
        events = tuple(from_json(event) for event in document["events"])
        return Charge(
            **purpose.document(),  # type: ignore[arg-type]
            sequence=self.length,
            time=document.get("time", ""),
            events=events,
            cost=self._cost(document, self.terms.pricing.cost(events, relation)),
        )

    def _cost(self, document: Mapping[str, Any], derived: Fraction) -> Fraction:
        """Return the cost that is written down, where it is: another machine or version may round it otherwise."""
        if not self.terms.pricing.stores_costs:
            return derived
        stated = read_number(document.get("cost"), entries.LONGEST_AMOUNT, "the cost of a charge")
        require(derived <= stated * (1 + TOLERANCE), "the cost of a charge is below that of its events")
        return stated

    def _committed(self, document: Mapping[str, Any]) -> Charge:
        number, release = document["reservation"], document["release"]
        if type(number) is not int or number not in self._charges:
            raise LedgerError("a release was committed that no charge was reserved for")
        if self._charges[number].release is not None:
            raise LedgerError("the charge was committed before; every answer is paid for once")
        if not isinstance(release, str) or not 0 < len(release) <= entries.LONGEST_LINE:
            raise SettingError("the digest of a release is not a line of text")
        if not isinstance(document.get("answer"), dict | None):
            raise SettingError("the answer to be stored is not an object")
        return replace(self._charges[number], release=release)

    def _curated(self, kind: EntryKind, document: Mapping[str, Any]) -> tuple[Budget, Accounts]:
        require_line("reason", document["reason"], empty=kind is EntryKind.GRANT)
        for name in ("source", "to", "analyst"):
            require_line(name, document.get(name), optional=True)
        budget, amount = self.budget, None
        if kind in (EntryKind.PAUSE, EntryKind.RESUME):
            return budget, self.accounts.halted(
                document["analyst"], document["reason"] if kind is EntryKind.PAUSE else None
            )
        if kind is EntryKind.GRANT:
            if (document["budget"] is None) != (document["amount"] is None):
                raise LedgerError("a grant has a budget without an amount, or the reverse")
            if document["budget"] is not None:
                amount = entries.read_worth(document, "amount", self.terms.pricing.worth)[1]
            return budget, self.accounts.moved(document["source"], document["to"], amount)
        capacity_of = self.terms.pricing.capacity
        budget, capacity = entries.read_worth(document, "capacity", capacity_of)
        require(budget.delta == self.terms.delta, "the delta of a ledger is fixed; lower epsilon, mu or rho")
        # A certificate states the budget too, so that may not rise either.
        if capacity_of(budget) > self.accounts.capacity * (1 + TOLERANCE):
            raise BudgetError("the budget of a ledger may be lowered, never raised")
        return budget, self.accounts.lowered(capacity)


def _named(charge: Charge, analyst: str | None) -> str:
    """Which charge it is, in words that follow "the last": what was asked for, and who asked unless that is known."""
    what = charge.formula or charge.label
    who = charge.analyst if analyst is None else None
    return (f" ({what}" if what else " (no label") + (f", by {who})" if who else ")")


def _declaring(unit: str) -> str:
    """Say how a fit declares a unit."""
    if unit in {"row", "record"}:
        return f'in the schema unit = "{unit}"; of an estimator leave units= out'
    named = f'with a name: max_rows_per_unit=1 and fit(X, y, units=pandas.Series(…, name="{unit}"))'
    return f'in the schema unit = "{unit}"; an estimator has the column of whose each record is, {named}'


def _amount(left: Budget) -> str:
    return f"ε = {left.epsilon:.4g} at δ = {left.delta:g}"


def _require_amounts(entry: Entry, spent: int, amount: int) -> None:
    same = (entry.spent, entry.amount) == (spent, amount)
    require(same, f"entry {entry.sequence}: its amounts are not those of its events")


def _document_of(entry: Entry, last: Entry | None) -> dict[str, Any]:
    """What an entry says that comes right after the last one, None before the first."""
    entry.require_after(last)
    opens = f"entry {entry.sequence} of the ledger is an {entry.kind}; only the first entry opens a ledger"
    require((entry.kind is EntryKind.OPEN) == (last is None), opens)
    document = entry.document()
    require(isinstance(document.get("time"), str), f"entry {entry.sequence} has no time")
    return document
