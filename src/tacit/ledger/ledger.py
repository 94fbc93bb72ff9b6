"""The ledger: one budget for many fits, in memory or in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tacit.display import Displayed
from tacit.errors import FileError, LedgerError, SettingError
from tacit.ledger import entry, with_blocks
from tacit.ledger.chain import Chain, Check, Status
from tacit.ledger.entry import Charge, Entry, EntryKind, Purpose, Reservation, Terms
from tacit.ledger.joint_certificate import JointCertificate
from tacit.ledger.locked_file import create
from tacit.ledger.storage import Session, file_of, is_version_one, read_entries, storage_at, written
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event
from tacit.privacy.event_json import to_json
from tacit.privacy.relation import Relation


class Ledger(Displayed):
    """One budget for several fits: within ``with ledger:`` each is charged before its first answer.

    Guarantee: The exact costs of all charges never exceed the budget, whoever makes them: threads, processes, repeated
    runs. Parts that add up to the budget are all accepted. A charge is on disk before `reserve` returns; an
    interruption leaves it spent. Charges are of one relation and one unit; a ledger of another dataset is refused.
    Nothing in a ledger is read from a record.

    Without a `path` to a file, the ledger is in the memory of this process. `budget` is the most that all charges may
    cost together, its delta by default 1e-6; it is needed for a new ledger. `dataset` is a public name of the table,
    never derived from the data. `relation` and `unit` say for which neighbours the budget is meant; where None, the
    first charge decides. `refusals` are for the "curator" where only curators use the ledger, who may ask a fit to fail
    at an invalid record. `law` says which costs of charges add up: "gdp" (by default) and "zcdp" take Gaussian fits,
    "pure" (by default where the budget's delta is 0) pure ones, and "rdp" takes every fit, at one Rényi `order` that is
    chosen from the budget unless it is given. All of these are None or the same again for an existing ledger. `analyst`
    and `project`, who charges through this object and for which work, are noted with every charge.

    Examples
    --------
    >>> from tacit.privacy.event import Gaussian
    >>> ledger = Ledger(budget=Budget(mu=1.0))
    >>> for part in range(10):
    ...     charge = ledger.reserve([Gaussian(1, 10)], relation="replace-one", unit="row")
    ...     ledger.commit(charge, "sha256:...")
    >>> ledger.remaining() is None
    True
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        budget: Budget | None = None,
        dataset: str | None = None,
        relation: Relation | str | None = None,
        unit: str | None = None,
        refusals: str | None = None,
        law: str | None = None,
        order: float | None = None,
        analyst: str | None = None,
        project: str | None = None,
    ) -> None:
        self._purpose = Purpose(analyst=analyst, project=project)
        self._dataset = dataset
        self._again = False
        self._storage = storage_at(None if path is None else file_of(path))
        given = None if relation is None else Relation.parse(relation)
        file = self.path
        if file is None or not file.exists():
            if budget is None:
                new = "a ledger in memory" if file is None else f"{file} does not exist; a new one"
                raise SettingError(f"{new} needs a budget, such as Budget(epsilon=3, delta=1e-6)")
            terms = Terms(budget, dataset, given, unit, refusals=refusals or "never", law=law, order=order)
            self._storage.create(Entry.follow(None, EntryKind.OPEN, 0, terms.document()))
        # What was just made is read like any other: somebody else may have been faster.
        with self._storage.session(alone=False) as session:
            self._chain = Chain(session.entries())
        entry.require_same("dataset", dataset, self.terms.dataset)
        entry.require_same("relation", given, self._chain.relation)
        entry.require_same("unit", unit, self._chain.unit)
        entry.require_same("refusals", refusals, self.terms.refusals)
        entry.require_same("law", law, self.terms.law)
        entry.require_same("order", order, self.terms.order)
        if (
            budget is not None
            and (whole := entry.require_finite(budget).with_delta(self.terms.delta)) != self._chain.budget
        ):
            entry.require_same("budget", whole, self.terms.budget)

    @property
    def path(self) -> Path | None:
        """The file, or None for a ledger in memory."""
        return self._storage.path

    @property
    def terms(self) -> Terms:
        """Budget, dataset, relation, unit, refusals and law as the ledger began with them."""
        return self._chain.terms

    @property
    def budget(self) -> Budget:
        """The budget in force; it may be lower than the one that the ledger began with."""
        return self._current().budget

    @property
    def analyst(self) -> str | None:
        """Who charges through this object."""
        return self._purpose.analyst

    @property
    def key(self) -> str | None:
        """The key under which this object keeps answers, see `request`."""
        return self._purpose.key

    def handle(self) -> str:
        """Name the ledger and who charges, as JSON: objects of one name charge the same."""
        mine = self._purpose
        who = {"dataset": self._dataset, "analyst": mine.analyst, "project": mine.project}
        where = "memory" if self.path is None else "path"
        return json.dumps({where: self._storage.name, **who}, sort_keys=True)

    def request(self, key: str | None = None, *, label: str | None = None, again: bool = False) -> Ledger:
        """Return the ledger for one request: its fits are charged under a key, with a label.

        The same request under the same key is answered from the ledger, and nothing is charged.
        Another request under the key is refused. Without a key no answer is stored. With `again` a
        request that was charged and interrupted is charged once more.
        """
        for_one = copy(self)
        vars(for_one).update(_purpose=replace(self._purpose, label=label or "", key=key), _again=again)
        return for_one

    def reserve(
        self,
        events: Iterable[Event],
        *,
        relation: Relation | str,
        unit: str,
        label: str = "",
        formula: str | None = None,
        file: str | None = None,
        request: str | None = None,
        private: bool = True,
    ) -> Reservation:
        """Charge events before they happen. The charge is durable when this returns.

        The sensitivities in the events hold for the `relation` and `unit`. A `label`, the `formula` and the `file` say
        what it is for. Under a key, a digest of the `request` is needed. What is not `private` is refused. Guarantee:
        What is refused costs nothing; what is accepted stays spent, whatever happens to this process. The same request
        under the key of `Ledger.request` costs nothing: its answer comes back.
        """
        if not private:
            raise LedgerError(
                "a fit without privacy (infinite epsilon, or a random_state) cannot be charged: it "
                "would void what the ledger guarantees. Run it outside the ledger's block"
            )
        dataset = self.terms.dataset
        if dataset is not None and self._dataset is None:
            raise LedgerError(
                f"this ledger is kept for the dataset {dataset!r}, and none was named: a charge must say that it is "
                f"for it. Open it with dataset={dataset!r}, on the command line --dataset"
            )
        purpose = self._purpose.described(label, formula, file, request)
        priced = tuple(events)
        document = {
            "events": [to_json(event) for event in priced],
            "relation": str(Relation.parse(relation)),
            "unit": unit,
            **purpose.document(),
        }
        if self.terms.pricing.stores_costs:
            document["cost"] = str(self.price(priced, relation))
        with self._storage.session(alone=True) as session:
            chain = self._catch_up(session)
            known = chain.recalled(purpose, again=self._again)
            if known is not None:
                return known
            charge = chain.draft(EntryKind.RESERVE, document)
            session.append(charge)
        return Reservation(charge.sequence, charge.hash)

    def require_open(self) -> None:
        """Refuse what would be refused at any price: charges that are paused, or of an analyst who has no grant.

        Guarantee: nothing is spent, and no record is read. A request under a key may be answered already.
        """
        if self.key is None:
            self._current().accounts.require_open(self.analyst)

    def price(self, events: Iterable[Event], relation: Relation | str) -> Fraction:
        """Return what events would cost here, in the currency of the law; refuse those that have no cost in it.

        Guarantee: nothing is spent, and no record is read.
        """
        return self.terms.pricing.cost(events, Relation.parse(relation))

    def commit(self, reservation: Reservation, release: str, answer: Mapping[str, Any] | None = None) -> None:
        """Note the digest of a complete answer; a given answer is stored. Costs nothing."""
        document = {"reservation": reservation.sequence, "release": release, "answer": answer}
        with self._storage.session(alone=True) as session:
            chain = self._catch_up(session)
            chain.require_reserved(reservation)
            session.append(chain.draft(EntryKind.COMMIT, document))

    def charges(self) -> tuple[Charge, ...]:
        """Every charge so far, also of other processes."""
        return self._current().charges

    def guarantee(self) -> Guarantee | None:
        """State what all charges guarantee together, rounded up (see `JointCertificate`); None before the first."""
        return self._current().guarantee()

    def remaining(self, *, analyst: str | None = None) -> Budget | None:
        """Return the rest of the budget or of the analyst's grant, rounded down; None where nothing is left.

        A fit with this budget is accepted, if nobody else charges before it. The analyst is by default this object's.
        """
        return self.status(analyst=analyst).remaining

    def status(self, *, analyst: str | None = None) -> Status:
        """State what was spent and what is left, in mu, in epsilon and in further fits."""
        return self._current().status(self.analyst if analyst is None else analyst)

    def certificate(self) -> JointCertificate:
        """Certify everything charged so far, as one total."""
        return JointCertificate.issue(self._current())

    def verify(self) -> Check:
        """Check the whole ledger again: any altered byte is found (of version 0.1: any altered entry)."""
        with self._storage.session(alone=False) as session:
            entries, unfinished = session.entries(), session.unfinished
            self._catch_up(session)
        return Chain(entries).check(unfinished)

    def grant(
        self,
        to: str | None,
        budget: Budget | None = None,
        *,
        share: float | Fraction | None = None,
        source: str | None = None,
        reason: str = "",
    ) -> None:
        """Move a part of the budget from one analyst (None: what is common) to another.

        The part is what Gaussian fits of that budget cost together, where delta is 0 pure ones, or a `share` of the
        whole budget, rounded down: shares add up to 1, epsilons do not add up to the whole. From the first grant on, an
        analyst spends what was granted to that name and no more, and charges without a name spend what is granted to
        nobody. Without a budget or share, all that `source` has left is moved.

        Examples
        --------
        >>> ledger = Ledger(budget=Budget(epsilon=3, delta=1e-6))
        >>> ledger.grant("ana", Budget(epsilon=1, delta=1e-6))
        >>> ledger.grant("ben", source="ana", reason="ana has left")
        >>> ledger.remaining(analyst="ana") is None
        True
        >>> ledger.grant("eva", share=0.5)
        >>> round(ledger.status().granted["eva"][0], 6)
        0.5
        """
        if share is not None:
            if budget is not None:
                raise SettingError("a grant is a budget or a share of the whole; expected one of the two")
            budget = self._current().budget_of(share)
        worth: dict[str, Any] = {"budget": None, "amount": None}
        if budget is not None:
            whole = entry.require_finite(budget).with_delta(self.terms.delta)
            worth = {"budget": entry.budget_document(whole), "amount": str(self.terms.pricing.worth(whole))}
        self._append(EntryKind.GRANT, {"source": source, "to": to, **worth, "reason": reason})

    def lower(self, budget: Budget, reason: str) -> None:
        """Lower the budget, not below what is spent or granted; it can never be raised again."""
        whole = entry.require_finite(budget).with_delta(self.terms.delta)
        worth = {"budget": entry.budget_document(whole), "capacity": str(self.terms.pricing.capacity(whole))}
        self._append(EntryKind.LOWER, {**worth, "reason": reason})

    def pause(self, reason: str, *, analyst: str | None = None) -> None:
        """Refuse all charges, or those of one analyst, until `resume`."""
        self._append(EntryKind.PAUSE, {"analyst": analyst, "reason": reason})

    def resume(self, reason: str, *, analyst: str | None = None) -> None:
        """Allow charges again that were paused."""
        self._append(EntryKind.RESUME, {"analyst": analyst, "reason": reason})

    def note_refusal(self, *, label: str, formula: str | None = None, file: str | None = None) -> None:
        """Record that a table was refused because of a record, in a ledger for curators alone."""
        if self.terms.refusals != "curator":
            raise LedgerError(
                "in this ledger no record can make a fit fail. A curator who wants such errors "
                'begins one with refusals="curator"'
            )
        self._append(EntryKind.REFUSAL, self._purpose.described(label, formula, file).document())

    @staticmethod
    def upgrade(old: str | os.PathLike[str], new: str | os.PathLike[str]) -> Ledger:
        """Write a ledger of version 0.1 anew, every entry with its hash, and open the new one.

        The old file stays, and no existing one is overwritten. While both exist they are two ledgers with a budget
        each: charge the old one no more, and move it away.
        """
        former, file = file_of(old), file_of(new)
        if not former.is_file():
            raise FileError(f"the ledger {former} cannot be read: no such file")
        if not is_version_one(former):
            raise LedgerError(
                f"{former} is no ledger of version 0.1: there is nothing to upgrade, and a copy of "
                "a ledger would be another one with a whole budget of its own"
            )
        if former.stat().st_nlink > 1:
            # The write-ahead log that a crash left has one of the names only.
            raise LedgerError(
                f"{former} has a second name (a hard link), whose write-ahead log may hold charges "
                "that are not in the file yet; remove the other name first"
            )
        entries = read_entries(former)
        Chain(entries)  # A chain that does not hold is refused.
        if not create(file, written(entries)):
            raise FileError(f"{file} exists; a ledger is written to a new file")
        return Ledger(new, dataset=Ledger(new).terms.dataset)

    def __enter__(self) -> Ledger:
        """Charge every fit of this block to the ledger."""
        with_blocks.enter(self)
        return self

    def __exit__(self, *error: object) -> None:
        """Stop charging fits; what was charged stays."""
        with_blocks.leave(self)

    def __repr__(self) -> str:
        # Where its folder lies is nobody's concern who reads a notebook.
        where = "in memory" if self.path is None else repr(self.path.name)
        return f"<Ledger {where}: {self.terms.budget}>"

    def _append(self, kind: EntryKind, document: Mapping[str, Any]) -> None:
        with self._storage.session(alone=True) as session:
            session.append(self._catch_up(session).draft(kind, document))

    def _current(self) -> Chain:
        """Return the newest state. It is never altered, so that it is used without the lock."""
        with self._storage.session(alone=False) as session:
            return self._catch_up(session)

    def _catch_up(self, session: Session) -> Chain:
        """Accept what others have written, and return the chain with it."""
        # Once: threads that read at the same time may set it meanwhile, to the same.
        chain, mine = self._chain, self._storage.acknowledged
        entries = session.entries(chain.length - 2)  # The first of them is the last one known.
        lost = mine is not None and mine.sequence >= chain.length and mine not in entries
        if not entries or entries[0] != chain.head or lost:
            raise LedgerError(
                "the ledger is not the one that was opened: entries that were there are gone or "
                "altered. Restoring an older copy forgets charges"
            )
        if entries[1:]:
            # In one assignment: an interruption leaves the chain as it was.
            self._chain = chain = chain.extended(entries[1:])
        return chain
