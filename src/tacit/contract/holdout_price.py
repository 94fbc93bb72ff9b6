"""What a reusable holdout costs: every release is two pure events, the comparisons before it and the answer itself.

A record adds an integer of size at most S to a sum, which one record moves by Δ = 2S (replace-one) or S (zero-out).
Answers have noise of scale 2^bits, thresholds of 2^(bits + 1), comparisons of 2^(bits + 2). Any number of comparisons up
to the first that is above its threshold is Δ / 2^bits-private, and so is the answer
(proofs/mechanisms/reusable_holdout.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from tacit.accounting.composition import compose
from tacit.accounting.rounding import float_down
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import FINEST_BOUND, LARGEST_BITS, LARGEST_TOTAL, is_resolved, squared_sensitivity
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Pure, Repeated
from tacit.privacy.relation import Relation

COMPARISONS, ANSWER = "comparisons up to one above the threshold", "answer of the holdout"
STEPS = 14
"""Halvings of the interval of ε of one event: to a part in 10^4."""
ROUNDED = 1.0 - 2.0**-30
"""The total is stated with a little rounding, which must be within the budget too."""


@dataclass(frozen=True)
class HoldoutPrice:
    """Integer bound S, noise scale 2^bits of an answer, and how many answers there are at most."""

    bound: int
    bits: int
    releases: int

    def epsilon(self, relation: Relation) -> Fraction:
        """ε of each of the two events of a release."""
        if not relation.n_is_public:
            raise SettingError("A holdout needs a public number of records: relation='replace-one' or 'zero-out'.")
        squared = squared_sensitivity(QueryKind.MEANS, self.bound, relation)
        return Fraction(math.isqrt(squared), 2**self.bits)

    def events(self, relation: Relation) -> tuple[Event, ...]:
        """All that the holdout releases."""
        each = self.epsilon(relation)
        return tuple(Repeated(Pure(each, label), self.releases) for label in (COMPARISONS, ANSWER))


def holdout_price(budget: Budget, relation: Relation, releases: int, records: int) -> HoldoutPrice:
    """The finest price of so many releases within a budget of ε and δ.

    Guarantee: its events together are within the budget.
    """
    if budget.epsilon is None or budget.delta is None or budget.is_infinite:
        raise BudgetError("A holdout has no μ or ρ; expected a budget of a finite epsilon and a delta, which may be 0.")
    each = _each(budget.epsilon, budget.delta, releases)
    sensitivity = math.isqrt(squared_sensitivity(QueryKind.MEANS, 1, relation))
    finest = min(FINEST_BOUND, LARGEST_TOTAL // max(records, 1))
    # Comparisons have four times the scale of an answer.
    for bits in range(LARGEST_BITS - 2, -1, -1):
        bound = math.floor(each * 2**bits / sensitivity)
        if bound <= finest:
            if not is_resolved(QueryKind.MEANS, bound, 1):
                break
            return HoldoutPrice(bound, bits, releases)
    raise BudgetError("The budget is too small for so many releases of a holdout: use a larger epsilon, or fewer.")


@lru_cache(maxsize=64)
def _each(epsilon: float, delta: float, releases: int) -> Fraction:
    """The largest ε of an event of which 2·releases are within ε and δ."""
    low, high = Fraction(epsilon) / (2 * releases), Fraction(epsilon)
    for _ in range(STEPS if delta > 0 else 0):
        middle = Fraction(float_down((low + high) / 2))
        total = compose([Repeated(Pure(middle), 2 * releases)]).epsilon(delta)
        low, high = (middle, high) if total <= epsilon * ROUNDED else (low, middle)
    return low
