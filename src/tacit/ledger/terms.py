"""The terms of a ledger: its budget and what it is a ledger of. Fixed in the first entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.errors import BudgetError, InputError, LedgerError, SettingError
from tacit.ledger.price import capacity_of
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

FORMAT = "tacit-ledger/1"
DELTA = 1e-6
"""The delta of a budget that names none: a ledger does not know the number of records."""
LONGEST_LINE = 200

_CURRENCIES = ("epsilon", "delta", "mu", "rho")
_FIELDS = {"format", "budget", "dataset", "relation", "unit", "time", "sqlite"}


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

    Examples
    --------
    >>> Terms(Budget(mu=0.5), dataset="clinic 2024").budget.delta
    1e-06
    """

    budget: Budget
    dataset: str | None = None
    relation: Relation | None = None
    unit: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget):
            raise BudgetError(
                "the budget of a ledger is no Budget; expected for example "
                "tacit.Budget(epsilon=3, delta=1e-6)"
            )
        if self.budget.is_infinite:
            raise BudgetError("a ledger needs a finite budget; an infinite one has nothing to keep")
        object.__setattr__(self, "budget", self.budget.with_delta(DELTA))
        capacity_of(self.budget)
        if self.relation is not None:
            object.__setattr__(self, "relation", Relation.parse(self.relation))
        for name in ("dataset", "unit"):
            if getattr(self, name) is not None:
                require_line(name, getattr(self, name), empty=False)

    @property
    def capacity(self) -> Fraction:
        """The exact cost that the budget allows."""
        return capacity_of(self.budget)

    def document(self) -> dict[str, Any]:
        """The terms as plain data."""
        return {
            "format": FORMAT,
            "budget": {name: getattr(self.budget, name) for name in _CURRENCIES},
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
        if set(document) != _FIELDS or set(document["budget"]) != set(_CURRENCIES):
            raise LedgerError("the first entry of the ledger has missing or unknown fields")
        try:
            return cls(
                Budget(**document["budget"]),
                document["dataset"],
                document["relation"],
                document["unit"],
            )
        except InputError as error:
            raise LedgerError(f"the first entry of the ledger does not hold: {error}") from error

    def require(self, name: str, given: object) -> None:
        """Refuse a term that was given again and is not the one of the ledger."""
        kept = getattr(self, name)
        if given is not None and given != kept:
            raise LedgerError(
                f"the {name} given is {str(given)[:LONGEST_LINE]!r}, but this ledger is kept for "
                f"{kept if kept is None else str(kept)!r}. Open the ledger that belongs to it, or "
                "start another one"
            )


def require_line(name: str, value: object, *, empty: bool) -> None:
    """Refuse what is not one line of printable text."""
    line = isinstance(value, str) and len(value) <= LONGEST_LINE and value.isprintable()
    if not line or not (empty or str(value).strip()):
        raise SettingError(
            f"{name} is not a line of text; expected at most {LONGEST_LINE} printable characters"
        )
