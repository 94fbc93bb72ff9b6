"""The terms of a ledger: its budget and what it is a ledger of. Fixed in the first entry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tacit.errors import BudgetError, InputError, LedgerError, SettingError
from tacit.ledger.price import LAW, capacity_of
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

FORMAT = "tacit-ledger/1"
DELTA = 1e-6
"""The delta of a budget that names none: a ledger does not know the number of records."""
LONGEST_LINE = 200
TOLERANCE = Fraction(1, 10**9)
"""Relative excess of a kept capacity over the derived one: room for another version's rounding."""

_NUMBER = re.compile(r"[1-9][0-9]{0,1999}(/[1-9][0-9]{0,1999})?", re.ASCII)
_CURRENCIES = ("epsilon", "delta", "mu", "rho")
_FIELDS = {"format", "budget", "law", "capacity", "dataset", "relation", "unit"}
_STAMP = {"time", "sqlite"}


@dataclass(frozen=True, slots=True)
class Terms:
    """What every charge of a ledger must agree with.

    Guarantee
    ---------
    - The budget is finite and has a delta.
    - The dataset is a name that somebody declared; nothing here is read from a record.

    Parameters
    ----------
    budget
        The most that all charges may cost together.
    dataset
        A public name of the table, or None.
    relation, unit
        For which neighbours the budget is meant; None where the first charge decides.
    capacity
        The exact cost that the budget allows. It is kept, so that the integers of a ledger mean
        the same to a later version that knows the budget's worth to another digit.

    Examples
    --------
    >>> Terms(Budget(mu=0.5), dataset="clinic 2024").budget.delta
    1e-06
    """

    budget: Budget
    dataset: str | None = None
    relation: Relation | None = None
    unit: str | None = None
    capacity: Fraction = field(default=Fraction(0), repr=False)

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
        for name in ("dataset", "unit"):
            if getattr(self, name) is not None:
                require_line(name, getattr(self, name), empty=False)

    @property
    def delta(self) -> float:
        """The delta at which a guarantee is read."""
        return DELTA if self.budget.delta is None else self.budget.delta

    def document(self) -> dict[str, Any]:
        """The terms as plain data."""
        return {
            "format": FORMAT,
            "budget": {name: getattr(self.budget, name) for name in _CURRENCIES},
            "law": LAW,
            "capacity": str(self.capacity),
            "dataset": self.dataset,
            "relation": None if self.relation is None else str(self.relation),
            "unit": self.unit,
        }

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> Terms:
        """Read what `document` wrote."""
        if document.get("format") != FORMAT:
            raise LedgerError(
                f'the format of the ledger is unknown; expected "{FORMAT}". '
                "A newer version may have written it"
            )
        budget = document.get("budget")
        laid_out = isinstance(budget, dict) and set(budget) == set(_CURRENCIES)
        if set(document) != _FIELDS | _STAMP or not laid_out:
            raise LedgerError("the first entry of the ledger has missing or unknown fields")
        try:
            terms = cls(
                Budget(**document["budget"]),
                document["dataset"],
                document["relation"],
                document["unit"],
                _positive(document["capacity"]),
            )
            if terms.capacity > capacity_of(terms.budget) * (1 + TOLERANCE):
                raise LedgerError("its capacity is more than its budget allows")
            if document["law"] != LAW:
                raise LedgerError("its law is unknown; a newer version may have written it")
        except InputError as error:
            raise LedgerError(f"the first entry of the ledger does not hold: {error}") from error
        return terms


def require_same(name: str, given: object, kept: object) -> None:
    """Refuse a term that was given again and is not the one of the ledger."""
    if given is not None and given != kept:
        known = "none in particular" if kept is None else repr(str(kept))
        raise LedgerError(
            f"the {name} given is {str(given)[:LONGEST_LINE]!r}, but this ledger is kept for "
            f"{known}. Open the ledger that belongs to it, or start another one"
        )


def _positive(text: object) -> Fraction:
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise LedgerError("its capacity is not an exact number")
    return Fraction(text)


def require_line(name: str, value: object, *, empty: bool) -> None:
    """Refuse what is not one line of printable text."""
    line = isinstance(value, str) and len(value) <= LONGEST_LINE and value.isprintable()
    if not line or not (empty or str(value).strip()):
        raise SettingError(
            f"{name} is not a line of text; expected at most {LONGEST_LINE} printable characters"
        )
