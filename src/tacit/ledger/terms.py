"""The terms of a ledger: its budget and what it is a ledger of. Fixed in the first entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tacit.errors import BudgetError, InputError, LedgerError, SettingError
from tacit.ledger.entry import LONGEST_LINE, require_line
from tacit.ledger.exact_amounts import LAW, TOLERANCE, capacity_of, read_number
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

FORMAT = "tacit-ledger/2"
OLD_FORMAT = "tacit-ledger/1"
"""Of version 0.1, which knew no refusals for curators."""
DELTA = 1e-6
"""The delta of a budget that names none: a ledger does not know the number of records."""
STAMP = {"time", "sqlite"}
"""What an entry says besides its own fields: when it was written, and in 0.1 by which library."""

_LONGEST_AMOUNT = 4001
_CURRENCIES = ("epsilon", "delta", "mu", "rho")
_OLD_FIELDS = {"format", "budget", "law", "capacity", "dataset", "relation", "unit"}
_FIELDS = {FORMAT: _OLD_FIELDS | {"refusals"}, OLD_FORMAT: _OLD_FIELDS}


@dataclass(frozen=True, slots=True)
class Terms:
    """What every charge of a ledger must agree with.

    Guarantee
    ---------
    - The budget is finite and has a delta.
    - The dataset is a name that somebody declared; nothing here is read from a record.

    Parameters
    ----------
    relation, unit
        For which neighbours the budget is meant; None where the first charge decides.
    capacity
        The exact cost that the budget allows, stored because a later version may round otherwise.
    refusals
        "never": no record can make a fit fail. "curator": the users are the curators of the table,
        and may ask for errors about records; each refusal is an entry.
    """

    budget: Budget
    dataset: str | None = None
    relation: Relation | None = None
    unit: str | None = None
    capacity: Fraction = field(default=Fraction(0), repr=False)
    refusals: str = "never"

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise BudgetError(
                "the budget of a ledger is no Budget; expected for example "
                "tacit.Budget(epsilon=3, delta=1e-6)"
            )
        if self.budget.is_infinite:
            raise BudgetError("a ledger needs a finite budget; an infinite one has nothing to keep")
        object.__setattr__(self, "budget", self.budget.with_delta(DELTA))
        if not self.capacity:
            object.__setattr__(self, "capacity", capacity_of(self.budget))
        if self.relation is not None:
            object.__setattr__(self, "relation", Relation.parse(self.relation))
        if self.refusals not in ("never", "curator"):
            raise SettingError(
                f'refusals is {str(self.refusals)[:40]!r}; expected "never", or "curator" where '
                "only the curators of the table use the ledger"
            )
        for name in ("dataset", "unit"):
            if getattr(self, name) is not None:
                require_line(name, getattr(self, name))

    @property
    def delta(self) -> float:
        """The delta at which a guarantee is read."""
        return DELTA if self.budget.delta is None else self.budget.delta

    def document(self) -> dict[str, Any]:
        """The terms as plain data."""
        return {
            "format": FORMAT,
            "budget": budget_document(self.budget),
            "law": LAW,
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
                f'the format of the ledger is unknown; expected "{FORMAT}". '
                "A newer version may have written it"
            )
        if set(document) - STAMP != known:
            raise LedgerError("the first entry of the ledger has missing or unknown fields")
        try:
            budget = read_budget(document["budget"])
            terms = cls(
                budget,
                document["dataset"],
                document["relation"],
                document["unit"],
                read_amount(document["capacity"], budget),
                document.get("refusals", "never"),
            )
            if document["law"] != LAW:
                raise LedgerError("its law is unknown; a newer version may have written it")
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


def require_named(given: str | None, stored: str | None) -> None:
    """Refuse a charge that does not name the dataset of the ledger."""
    if stored is not None and given is None:
        raise LedgerError(
            f"this ledger is kept for the dataset {stored!r}, and none was named: a charge must "
            f"say that it is for it. Open it with dataset={stored!r}, on the command line --dataset"
        )


def budget_document(budget: Budget) -> dict[str, float | None]:
    """Return a budget as plain data."""
    return {name: getattr(budget, name) for name in _CURRENCIES}


def read_budget(document: object) -> Budget:
    """Read what `budget_document` wrote."""
    if not isinstance(document, dict) or set(document) != set(_CURRENCIES):
        raise LedgerError("a budget in the ledger has missing or unknown fields")
    return Budget(**document)


def read_amount(text: object, budget: Budget) -> Fraction:
    """Read an exact amount above 0 that must not be more than a budget is worth."""
    amount = read_number(text, _LONGEST_AMOUNT, "its capacity")
    if not 0 < amount <= capacity_of(budget) * (1 + TOLERANCE):
        raise LedgerError("its capacity is 0 or more than its budget allows")
    return amount
