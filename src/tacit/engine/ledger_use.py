"""What a fit owes to the ledger around it: the charge, and silence about single records.

An error about the content of a record is an exact answer about it, free of charge. So inside a
ledger there is none, unless the curator opened the ledger for it; then each is logged first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.certificate.release_digest import digest_of_release
from tacit.certificate.stored_release import release_from_json, release_to_json, request_digest
from tacit.contract.block_query import BlackBox
from tacit.contract.plan import Plan
from tacit.contract.query import QueryKind
from tacit.contract.release import Release
from tacit.documents.canonical_json import canonical
from tacit.errors import AccountingError, DataError, FileError, LedgerError, SettingError, TacitError
from tacit.ledger.current_ledger import active_ledger
from tacit.ledger.repeated_fits import file_names
from tacit.losses.black_box import BlackBoxLoss
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation
from tacit.rows.sources.dask_frame import is_computed_later
from tacit.validate import one_of

if TYPE_CHECKING:
    from tacit.ledger.entry import Reservation
    from tacit.ledger.ledger import Ledger

LARGEST_ANSWER = 2**23
"""Characters of a release beyond which a ledger does not store it."""
CHOICES = ("error", "zero")


class LedgerWarning(UserWarning):
    """A fit was charged and is complete, but the ledger could not write that down."""


@dataclass(frozen=True)
class Refusals:
    """What invalid records do in one fit ("error", "zero"), and whose log is told of a refusal.

    Guarantee: inside a ledger, no record is refused for its content, unless its curator allowed it. Where it is
    allowed, the log of the ledger holds the refusal before it is raised. Dask's collections run programs that may fail
    because of one cell, so inside a ledger they are for its curator alone.
    """

    invalid_rows: str
    ledger: Ledger | None = None
    label: str = ""
    formula: str | None = None
    file: str | None = None

    @classmethod
    def settle(
        cls,
        asked: str | None,
        *,
        label: str = "",
        formula: str | None = None,
        data: Any = None,
        beside: Iterable[Any] = (),
    ) -> Refusals:
        """Decide what invalid records do here and now, before a table is touched.

        `asked` is "error", "zero", or None: "error" outside a ledger, "zero" inside one. Of `data`
        the log is told nothing but the path, where it has one; of what is read `beside` it, nothing.
        """
        if asked is not None:
            one_of("invalid_rows", asked, CHOICES)
        ledger = active_ledger()
        later = any(map(is_computed_later, (data, *beside)))
        if ledger is None or not (asked == "error" or later):
            return cls(asked or ("error" if ledger is None else "zero"))
        if ledger.terms.refusals != "curator" and later:
            raise SettingError(
                "Dask's collections, and other objects that compute their cells when they are read, are refused inside "
                "a ledger: one cell may make that fail, which would tell of a single record, free of charge. Give the "
                "paths of its files, which Tacit reads itself, or an array that holds its cells; or, as the curator, "
                'begin the ledger with refusals="curator", which logs every refusal.'
            )
        if ledger.terms.refusals != "curator":
            raise SettingError(
                'invalid_rows="error" is refused inside a ledger: it would tell whoever fits '
                'about single records, free of charge. Three ways out: use invalid_rows="zero", '
                "which lets invalid records contribute nothing; mend the table outside the ledger; "
                'or, as the curator, begin it with refusals="curator", which logs every refusal.'
            )
        return cls(asked or "zero", ledger, label, formula, file_name(data))

    @contextmanager
    def logged(self) -> Iterator[None]:
        """Log a refusal before it is raised, where there is a ledger to be told."""
        try:
            yield
        except (DataError, FileError):
            if self.ledger is not None:
                try:
                    self.ledger.note_refusal(label=self.label, formula=self.formula, file=self.file)
                except TacitError as failure:
                    # What could not be logged is not told, not even in the traceback.
                    raise failure from None
            raise


def require_declared(what: str, how: str) -> None:
    """Refuse, inside a ledger, what would be read off the records for want of a declaration."""
    if active_ledger() is not None:
        why = "to read them off the records would be an answer about single records, free of charge"
        raise SettingError(f"Inside a ledger {what} must be declared with {how}: {why}.")


def require_no_key() -> None:
    """Refuse, inside a ledger's block with a key, answers that no request can stand for."""
    ledger = active_ledger()
    if ledger is not None and ledger.key is not None:
        why = "what a program will ask cannot be told before it asks, so that no key can stand for it"
        raise LedgerError(f"{why}. Nothing was spent. Ask outside of a block with a key")


@dataclass(frozen=True)
class Charged:
    """A durable charge whose answer has not left yet, or was stored under its key before."""

    ledger: Ledger
    reservation: Reservation

    def stored_release(self, plan: Plan) -> Release | None:
        """Return the release that was stored for the same request; None if it is to be run."""
        answer = self.reservation.answer
        return None if answer is None else release_from_json(plan, answer)

    def settle(self, release: Release) -> None:
        """Note the release's digest. Guarantee: what was paid for is not lost: an unwritable ledger only warns."""
        self.note(digest_of_release(release), self._answer(release))

    def note(self, digest: str, answer: Mapping[str, Any] | None = None) -> None:
        """Note the digest of what was released, and the answer where the ledger keeps it."""
        try:
            self.ledger.commit(self.reservation, digest, answer)
        except (LedgerError, FileError) as error:
            text = "The fit is complete and its charge is kept, but the ledger could not note that"
            warnings.warn(f"{text}: {error}", LedgerWarning, stacklevel=6)

    def _answer(self, release: Release) -> Mapping[str, Any] | None:
        if self.ledger.key is None:
            return None
        answer = release_to_json(release)
        if len(canonical(answer)) <= LARGEST_ANSWER:
            return answer
        text = "The fit is too large to be kept in the ledger: the same key cannot return it."
        warnings.warn(f"{text} Save it to a file", LedgerWarning, stacklevel=7)
        return None


def require_price(plan: Plan, *, private: bool) -> None:
    """Refuse a plan that the active ledger cannot price, or charges that it has paused, before a record is read."""
    ledger = active_ledger()
    if ledger is None or not private:
        return
    ledger.require_open()
    if ledger.terms.refusals != "curator":
        how = 'Nothing was spent. As the curator, begin the ledger with refusals="curator"; or use'
        if isinstance(plan.loss, BlackBoxLoss):
            why = "a black-box loss is a Python function that sees single records, so that only a curator may fit it"
            raise LedgerError(f"{why}. {how} tacit.own_loss")
        if isinstance(getattr(plan.solver, "function", None), BlackBox):
            why = "an estimator on blocks is a Python program that sees records, so that only a curator may run it"
            raise LedgerError(f"{why}. {how} an estimator of tacit")
        if getattr(getattr(plan.solver, "network", None), "foreign", False):
            why = "a module or loss of your own is a Python program that sees records: only a curator may train it"
            raise LedgerError(f"{why}. {how} layers of torch.nn and a loss by its name")
    try:
        ledger.price(plan.events(), plan.relation)
    except AccountingError as error:
        law = ledger.terms.law
        # A test that may fail with probability δ has no Rényi curve.
        priced = law != "rdp" and all(step.kind is not QueryKind.BLOCK_DEPTH for step in plan.steps)
        takes = f'Begin a ledger with law="rdp", which takes {plan.solver.name}' if priced else "Fit outside of it"
        raise LedgerError(
            f'this ledger has law="{law}", under which {plan.solver.name} has no price: {error}. Nothing was spent. '
            f"{takes}, or choose another solver"
        ) from error


def charge(plan: Plan, *, private: bool, data: object = None) -> Charged | None:
    """Reserve a plan with the active ledger; None where there is none.

    Guarantee: when this returns, the charge is durable, whatever happens to the run. Within a ledger, a run that is not
    private is refused, and so is one that its law cannot price. Nothing written down is of a record: of `data` only a
    file's path is.
    """
    ledger = active_ledger()
    if ledger is None:
        return None
    require_price(plan, private=private)
    reservation = ledger.reserve(
        plan.events(),
        relation=plan.relation,
        unit=plan.unit,
        label=f"{plan.loss.name} by {plan.solver.name}",
        formula=next((str(fact.value) for fact in plan.facts if fact.name == "formula"), None),
        file=file_name(data),
        request=request_digest(plan) if ledger.key is not None else None,
        private=private,
    )
    return Charged(ledger, reservation)


def charge_events(
    events: Sequence[Event], relation: Relation, unit: str, *, label: str, private: bool
) -> Charged | None:
    """Reserve events that belong to no plan with the active ledger; None where there is none.

    Guarantee: as for `charge`. With a ledger's key it is refused.
    """
    ledger = active_ledger()
    if ledger is None:
        return None
    require_no_key()
    if private:
        try:
            ledger.price(events, relation)
        except AccountingError as error:
            raise LedgerError(
                f'this ledger has law="{ledger.terms.law}", under which a {label} has no price: {error}. Nothing was '
                'spent. Begin a ledger with law="rdp", which takes it'
            ) from error
    return Charged(ledger, ledger.reserve(events, relation=relation, unit=unit, label=label, private=private))


def file_name(data: object) -> str | None:
    """Return the paths of files as they were given, the first of many; None for a table in memory."""
    names = file_names(data)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{names[0]}{more}" if names else None
