"""The rules of a ledger, once: a fold over its entries that accepts only what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from tacit.accounting.composition import guarantee_of
from tacit.errors import BudgetError, InputError, LedgerError, SettingError
from tacit.ledger.entry import ORIGIN, Entry, Kind
from tacit.ledger.price import cost_of, units
from tacit.ledger.terms import LONGEST_LINE, Terms, require_line
from tacit.privacy.event import Event, from_json, to_json
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation

_STAMP = {"time", "sqlite"}
_FIELDS = {
    Kind.RESERVE: {"events", "relation", "unit", "label"} | _STAMP,
    Kind.COMMIT: {"reservation", "release"} | _STAMP,
}


@dataclass(frozen=True, slots=True)
class Reservation:
    """A charge that is durable, so that its answer may be computed; `Ledger.commit` takes it."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class Charge:
    """What was paid for, when, and whether its answer is known to have left.

    `release` is the digest of the answer; None after an interruption, where the charge stays spent.
    """

    sequence: int
    time: str
    label: str
    events: tuple[Event, ...]
    cost: Fraction
    release: str | None = None


class Chain:
    """What the entries of a ledger add up to.

    Guarantee
    ---------
    - An entry is accepted only if its hash follows the entry before it, its integers are those of
      the exact running total, and the total stays within the budget.
    - All charges are of one relation and one unit; an answer is committed once, after its charge.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._terms: Terms | None = None
        self._charges: dict[int, Charge] = {}
        self._hashes: dict[int, str] = {}
        self.head: Entry | None = None
        self.total = Fraction(0)
        self.relation: Relation | None = None
        self.unit: str | None = None
        for entry in entries:
            self.accept(entry)

    @property
    def terms(self) -> Terms:
        """The terms in the first entry."""
        if self._terms is None:
            raise LedgerError("the ledger has no first entry; expected its budget there")
        return self._terms

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

    def extended(self, entries: Iterable[Entry]) -> Chain:
        """Return the chain with further entries; this one stays as it is."""
        longer = copy(self)
        vars(longer).update(_charges=dict(self._charges), _hashes=dict(self._hashes))
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

    def draft_charge(
        self, events: Sequence[Event], *, relation: Relation | str, unit: str, label: str
    ) -> Entry:
        """Return the entry of a new charge, not yet accepted.

        Raises
        ------
        BudgetError
            If the budget does not allow it.
        LedgerError
            If its relation or its unit is not that of the ledger, or it has no events.
        """
        document = {
            "events": [to_json(event) for event in events],
            "relation": str(Relation.parse(relation)),
            "unit": unit,
            "label": label,
        }
        charge, total = self._price(document)
        if total > self.terms.capacity:
            raise BudgetError(self._exhausted(charge))
        return Entry.follow(self.head, Kind.RESERVE, units(total, self.terms.capacity), document)

    def draft_commit(self, reservation: Reservation, release: str) -> Entry:
        """Return the entry that says that the answer of a charge leaves, not yet accepted."""
        if self._hashes.get(reservation.sequence) != reservation.hash:
            raise LedgerError("this ledger holds no such reservation; it belongs to another one")
        document = {"reservation": reservation.sequence, "release": release}
        self._committed(document)
        return Entry.follow(self.head, Kind.COMMIT, self._spent, document)

    @property
    def _spent(self) -> int:
        return 0 if self.head is None else self.head.spent

    def _fold(self, entry: Entry, document: Mapping[str, Any]) -> None:
        if entry.kind is Kind.OPEN:
            terms = Terms.read(document)
            self._require_units(entry, 0)
            self._terms, self.relation, self.unit = terms, terms.relation, terms.unit
        elif set(document) != _FIELDS[entry.kind]:
            raise LedgerError(f"entry {entry.sequence} has missing or unknown fields")
        elif entry.kind is Kind.RESERVE:
            self._accept_charge(entry, document)
        else:
            self._accept_commit(entry, document)

    def _accept_charge(self, entry: Entry, document: Mapping[str, Any]) -> None:
        charge, total = self._price(document)
        if total > self.terms.capacity:
            raise LedgerError(f"entry {entry.sequence} exceeds the budget of the ledger")
        self._require_units(entry, units(total, self.terms.capacity))
        self._charges[entry.sequence] = replace(
            charge, sequence=entry.sequence, time=str(document["time"])
        )
        self._hashes[entry.sequence] = entry.hash
        self.relation, self.unit = Relation.parse(document["relation"]), document["unit"]
        self.total = total

    def _accept_commit(self, entry: Entry, document: Mapping[str, Any]) -> None:
        charge = self._committed(document)
        self._require_units(entry, self._spent)
        self._charges[charge.sequence] = charge

    def _price(self, document: Mapping[str, Any]) -> tuple[Charge, Fraction]:
        """Read a charge and the total after it; it must be of the ledger's relation and unit."""
        relation, unit = Relation.parse(document["relation"]), document["unit"]
        require_line("unit", unit, empty=False)
        require_line("label", document["label"], empty=True)
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
        events = tuple(from_json(event) for event in document["events"])
        cost = cost_of(events, relation)
        return Charge(self.length, "", document["label"], events, cost), self.total + cost

    def _committed(self, document: Mapping[str, Any]) -> Charge:
        number, release = document["reservation"], document["release"]
        if type(number) is not int or number not in self._charges:
            raise LedgerError("a release was committed that no charge was reserved for")
        if self._charges[number].release is not None:
            raise LedgerError("the charge was committed before; every answer is paid for once")
        if not isinstance(release, str) or not 0 < len(release) <= LONGEST_LINE:
            raise SettingError("the digest of a release is not a line of text")
        return replace(self._charges[number], release=release)

    def _require_units(self, entry: Entry, spent: int) -> None:
        if entry.spent != spent or entry.amount != spent - self._spent:
            raise LedgerError(f"entry {entry.sequence}: its amounts are not those of its events")

    def _exhausted(self, charge: Charge) -> str:
        capacity = self.terms.capacity
        share = float(charge.cost / capacity)
        left = float((capacity - self.total) / capacity)
        return (
            f"the ledger's budget does not allow this charge: it would take {share:.3g} of the "
            f"whole budget, and {left:.3g} is left. Nothing was spent. Ask for less, for example "
            "with budget=ledger.remaining()"
        )
