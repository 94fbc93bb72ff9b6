"""Prices of selections: the rate by which scores are told apart, and what it costs.

A score is a sum over records of integers in [0, S], or in [-S, S] where it is signed. Between neighbours the
differences of all scores lie in an interval of length S, or 2S where signed, and of twice that under replace-one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.contract.query import QueryKind
from tacit.contract.selection_query import SelectionLaw
from tacit.errors import BudgetError, SettingError
from tacit.privacy.event import BoundedRange, Event, Pure
from tacit.privacy.relation import Relation

SELECTIONS = frozenset({QueryKind.SELECTION, QueryKind.SIGNED_SELECTION})
"""Kinds that have a rate in the place of noise."""
SMALLEST_RATE = Fraction(1, 2**52)
"""Of an exact selection."""
SCORE_BOUND = 2**24
"""Integer bound of scores: rounding costs a record less than 2^-24 of its part."""


@dataclass(frozen=True)
class SelectionPrice:
    """Integer bound S on a record's part of each score, and the rate by which scores are told apart."""

    bound: int
    rate: Fraction
    law: SelectionLaw = SelectionLaw.EXPONENTIAL

    @property
    def bits(self) -> int:
        """None: nothing is added to a score."""
        return 0


def score_range(kind: QueryKind, bound: int, relation: Relation) -> int:
    """Length of the interval in which the differences of all scores between neighbours lie."""
    if kind not in SELECTIONS:
        raise SettingError("Scores are those of selections.")
    signed = 2 if kind is QueryKind.SIGNED_SELECTION else 1
    return bound * signed * (2 if relation is Relation.REPLACE_ONE else 1)


def selection_event(kind: QueryKind, price: SelectionPrice, relation: Relation) -> Event:
    """The event of a selection: rate times the range of its scores."""
    found = price.rate * score_range(kind, price.bound, relation)
    # Permute-and-flip has no bounded range: its privacy loss can be ±ε for one pair of tables.
    return (BoundedRange if price.law is SelectionLaw.EXPONENTIAL else Pure)(found, str(kind))


def selection_price(
    kind: QueryKind, epsilon: Fraction, relation: Relation, *, law: SelectionLaw = SelectionLaw.EXPONENTIAL
) -> SelectionPrice:
    """The price of a selection whose event costs exactly `epsilon`, a range or an ε, in exact rationals."""
    rate = epsilon / score_range(kind, SCORE_BOUND, relation)
    if not SMALLEST_RATE <= rate <= 1:
        way = "a larger epsilon, or fewer iterations" if rate < 1 else "a smaller epsilon, or epsilon=inf"
        raise BudgetError(f"The budget is beyond what an exact selection can resolve. Use {way}.")
    return SelectionPrice(SCORE_BOUND, rate, law)
