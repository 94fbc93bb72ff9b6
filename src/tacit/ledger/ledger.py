"""The ledger: one budget for many fits, kept in memory or in a file."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType

from tacit.errors import FileError, LedgerError, SettingError
from tacit.ledger import active
from tacit.ledger.chain import Chain, Charge, Reservation
from tacit.ledger.entry import Entry, Kind
from tacit.ledger.joint import JointCertificate
from tacit.ledger.storage import storage_at
from tacit.ledger.terms import Terms, require_same
from tacit.ledger.upgrade import upgrade
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation


@dataclass(frozen=True)
class Check:
    """What `Ledger.verify` found: how many entries and charges, the last hash, and so in words."""

    entries: int
    charges: int
    unreleased: int
    head: str
    guarantee: Guarantee | None
    statement: str


class Ledger:
    """One budget for several fits.

    Within ``with ledger:`` every private fit reserves its charge before its first answer and is
    refused where the budget does not allow it.

    Guarantee
    ---------
    - The exact costs of all charges never exceed the budget, whoever makes them: threads,
      processes, repeated runs. Parts that add up to the budget are all accepted.
    - A charge is on disk before `reserve` returns; an interruption leaves it spent.
    - Charges are of one relation and one unit; a ledger of another dataset is refused.
    - Nothing in a ledger is read from a record.

    Parameters
    ----------
    path
        The file; None keeps the ledger in the memory of this process.
    budget
        The most that all charges may cost together. Needed for a new ledger; for an existing one,
        None or the same again. Where it has no delta, 1e-6.
    dataset
        A public name of the table, declared and compared, never derived from the data.
    relation, unit
        For which neighbours the budget is meant; where None, the first charge decides.

    Raises
    ------
    LedgerError
        If the file is damaged, not a ledger, or kept under other terms.
    FileError
        If the file cannot be made or read.
    BudgetError
        If the budget is infinite or there is none for a new ledger.

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
    ) -> None:
        self._storage = storage_at(None if path is None else _file(path))
        self._chain = Chain()
        self._written: Entry | None = None
        given = None if relation is None else Relation.parse(relation)
        file = self._storage.path
        if file is None or not file.exists():
            if budget is None:
                raise _no_budget(file)
            terms = Terms(budget, dataset, given, unit)
            self._storage.create(Entry.follow(None, Kind.OPEN, 0, terms.document()))
        # What was just made is read like any other: somebody else may have been faster.
        with self._storage.reading() as session:
            self._chain = Chain(session.entries())
        require_same("dataset", dataset, self.terms.dataset)
        require_same("relation", given, self._chain.relation)
        require_same("unit", unit, self._chain.unit)
        if budget is not None:
            require_same("budget", Terms(budget).budget, self.terms.budget)

    @property
    def path(self) -> Path | None:
        """The file, or None for a ledger in memory."""
        return self._storage.path

    @property
    def terms(self) -> Terms:
        """Budget, dataset, relation and unit as they were declared."""
        return self._chain.terms

    def reserve(
        self,
        events: Iterable[Event],
        *,
        relation: Relation | str,
        unit: str,
        label: str = "",
        private: bool = True,
    ) -> Reservation:
        """Charge events before they happen. The charge is durable when this returns.

        Guarantee
        ---------
        - What is refused costs nothing.
        - What is accepted stays spent, whatever happens to this process afterwards.

        Parameters
        ----------
        events
            Everything that will be released, at least one event.
        relation, unit
            For which the sensitivities in the events hold; those of the ledger.
        label
            What it is for, in at most 200 printable characters.
        private
            Whether the noise will protect; a release that is not private is refused.

        Raises
        ------
        BudgetError
            If the budget does not allow it.
        LedgerError
            If it does not agree with the terms, or the ledger cannot be used.
        """
        if not private:
            raise LedgerError(
                "a fit without privacy (infinite epsilon, or a random_state) cannot be charged: it "
                "would void what the ledger guarantees. Run it outside the ledger's block"
            )
        charged = tuple(events)
        with self._storage.writing() as session:
            self._catch_up(session.entries(self._chain.length - 2))
            entry = self._chain.draft_charge(charged, relation=relation, unit=unit, label=label)
            session.append(entry)
        self._written = entry
        return Reservation(entry.sequence, entry.hash)

    def commit(self, reservation: Reservation, release: str) -> None:
        """Note that the answer of a charge is complete, by its digest. Costs nothing.

        Raises
        ------
        LedgerError
            If there is no such charge, or it was committed before.
        """
        with self._storage.writing() as session:
            self._catch_up(session.entries(self._chain.length - 2))
            session.append(self._chain.draft_commit(reservation, release))

    def charges(self) -> tuple[Charge, ...]:
        """Every charge so far, also of other processes."""
        with self._current() as chain:
            return chain.charges

    def guarantee(self) -> Guarantee | None:
        """State what all charges guarantee together, rounded up; None before the first.

        Where the price of a charge was chosen in view of earlier answers, the guarantee is that
        of the whole budget: a filter bounds what may be spent, not what has been.
        """
        with self._current() as chain:
            return chain.guarantee() if chain.charges else None

    def remaining(self) -> Budget | None:
        r"""Return the rest of the budget, rounded down; None where nothing is left.

        .. math:: \mu = \sqrt{\text{capacity} - \text{total}}

        Guarantee
        ---------
        - A fit with this budget is accepted, if nobody else charges before it.

        Examples
        --------
        >>> Ledger(budget=Budget(mu=0.5)).remaining()
        Budget(epsilon=None, delta=1e-06, mu=0.5, rho=None)
        """
        with self._current() as chain:
            mu = _root_down(chain.terms.capacity - chain.total)
        return Budget(mu=mu, delta=self.terms.delta) if mu > 0.0 else None

    def certificate(self) -> JointCertificate:
        """Certify everything charged so far, as one total."""
        with self._current() as chain:
            return JointCertificate.issue(chain)

    def verify(self) -> Check:
        """Check the whole ledger again: file, chain, amounts, budget.

        Guarantee
        ---------
        - Any altered byte of the file is found.
        - In a file of version 0.1: any altered entry, and what SQLite's own check finds.

        Raises
        ------
        LedgerError
            If something does not hold; the message says what.
        """
        with self._storage.reading() as session:
            entries = session.entries()
            chain = Chain(entries)
            self._catch_up(entries[self._chain.length - 1 :])
            return _check(chain, session.unfinished)

    @staticmethod
    def upgrade(old: str | os.PathLike[str], new: str | os.PathLike[str]) -> Ledger:
        """Write a ledger of version 0.1 anew, every entry with its hash, and open the new one.

        The old file stays as it is: charge it no more, and move it away.

        Raises
        ------
        LedgerError
            If the old file is not a ledger of version 0.1, or damaged.
        FileError
            If the new file exists or cannot be written.
        """
        upgrade(_file(old), _file(new))
        return Ledger(new)

    def __enter__(self) -> Ledger:
        """Charge every fit of this block to the ledger."""
        active.enter(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop charging fits; what was charged stays."""
        active.leave(self)

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else repr(str(self.path))
        return f"<Ledger {where}: {self.terms.budget}>"

    @contextmanager
    def _current(self) -> Iterator[Chain]:
        # Within the lock of the storage, so that no other thread appends meanwhile.
        with self._storage.reading() as session:
            self._catch_up(session.entries(self._chain.length - 2))
            yield self._chain

    def _catch_up(self, entries: list[Entry]) -> None:
        """Accept what others have written; the first entry given is the last one known."""
        mine = self._written
        lost = mine is not None and mine.sequence >= self._chain.length and mine not in entries
        if not entries or entries[0] != self._chain.head or lost:
            raise LedgerError(
                "the ledger is not the one that was opened: entries that were there are gone or "
                "altered. Restoring an older copy forgets charges"
            )
        if entries[1:]:
            # In one assignment: an interruption leaves the chain as it was.
            self._chain = self._chain.extended(entries[1:])


def _check(chain: Chain, unfinished: int) -> Check:
    unreleased = sum(charge.release is None for charge in chain.charges)
    guarantee = chain.guarantee() if chain.charges else None
    spent = "Nothing was charged yet." if guarantee is None else f"All charges: {guarantee}."
    cut_short = (
        f" The last {unfinished} bytes are an entry that was cut short and never acknowledged; the "
        "next charge removes them."
        if unfinished
        else ""
    )
    return Check(
        chain.length,
        len(chain.charges),
        unreleased,
        chain.head_hash,
        guarantee,
        f"The ledger holds: {chain.length} entries, {len(chain.charges)} charges, {unreleased} of "
        f"them without a release. {spent}{cut_short}",
    )


def _file(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise SettingError("the path of a ledger is not a path; expected the name of a file")
    try:
        file = Path(os.fsdecode(path)).resolve()
        if file.is_dir() or not file.parent.is_dir():
            raise FileError(f"the ledger {path!s:.200} is no file; give the name of a file")
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"the ledger {path!s:.200} cannot be opened") from error
    return file


def _no_budget(file: Path | None) -> Exception:
    name = "A ledger in memory" if file is None else f"The ledger {file} does not exist; a new one"
    return SettingError(f"{name} needs a budget, for example tacit.Budget(epsilon=3, delta=1e-6)")


def _root_down(square: Fraction) -> float:
    """Return the largest float whose exact square is at most the given one."""
    # 2^-1074 squared is 2^-2148: finer than any float's square.
    shift = 1100
    root = Fraction(math.isqrt(math.floor(square * 4**shift)), 2**shift)
    result = float(root)
    while Fraction(result) ** 2 > square:
        result = math.nextafter(result, 0.0)
    return result
