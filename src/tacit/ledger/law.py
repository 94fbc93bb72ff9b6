r"""The law of a ledger: which costs of charges add up. It is fixed when a ledger begins.

=======  ================================================  =====================================
``gdp``  squares of mu, exact                              Gaussian events
``zcdp`` rhos                                              events of concentrated privacy
``rdp``  the Rényi curve at one order, fixed at the start  every event that does not leak
``pure`` epsilons, exact                                   events without a delta; delta is 0
=======  ================================================  =====================================

The sums are privacy filters (``proofs/accounting/filters.md``): the budget holds also where each price is chosen in
view of earlier answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

from tacit.accounting import gaussian
from tacit.accounting.composition import mu_squared_of
from tacit.accounting.filters import LAWS, CompositionLaw, capacity_under, cost_under, fixed_order
from tacit.accounting.rounding import float_down
from tacit.errors import BudgetError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Gaussian
from tacit.privacy.relation import Relation

DELTA = 1e-6  # The delta of a budget that names none.
_SMALLER = 1.0 - 2.0**-40


@dataclass(frozen=True, slots=True)
class LedgerLaw:
    """How a ledger prices events and budgets; the order is that of ``rdp``.

    Guarantee: `cost` is never below the exact one, `capacity` never above it. While the costs of charges add up to at
    most the capacity of a budget, all of them together are within it, whoever chose them and in view of what.
    """

    name: CompositionLaw = "gdp"
    order: float | None = None

    @property
    def stores_costs(self) -> bool:
        """Whether costs are written down with the charges: they are, unless every machine finds the same rational."""
        return self.name != "gdp"

    def document(self) -> dict[str, Any]:
        """As plain data; only ``rdp`` has an order."""
        return {"law": self.name} | ({"order": self.order} if self.name == "rdp" else {})

    def cost(self, events: Iterable[Event], relation: Relation) -> Fraction:
        """Cost of a charge; events without one are refused by name, with the law that takes them."""
        return _cost(tuple(events), relation, self.name, self.order)

    def capacity(self, budget: Budget) -> Fraction:
        """Largest sum of costs that a budget allows, rounded down."""
        found = capacity_under(budget, self.name, self.order)
        if found <= 0:
            at = "" if self.order is None else f" at the order {self.order:g}"
            raise BudgetError(
                f"the budget {budget} is too small for a ledger by {self.name}{at}; expected a larger one"
            )
        return found

    def worth(self, budget: Budget) -> Fraction:
        """What a grant of a budget moves: the cost of the largest Gaussian release within it; by ``pure``, epsilon."""
        if self.name == "pure":
            return self.capacity(budget)
        return self.cost([Gaussian(mu_squared_of(budget), 1)], Relation.REPLACE_ONE)

    def affordable(self, left: Fraction, delta: float) -> tuple[Budget | None, Budget | None]:
        """Return the largest budget in mu, and in epsilon at delta, whose Gaussian fits cost at most `left`.

        By ``pure`` both are the epsilon that is left.
        """
        if self.name == "pure":
            rest = float_down(left)
            found = Budget(epsilon=rest, delta=0.0) if rest > 0.0 else None
            return found, found
        mu = root_down(left if self.name == "gdp" else 2 * left / Fraction(self.order or 1))
        while mu > 0.0 and self.worth(Budget(mu=mu)) > left:
            mu *= _SMALLER
        if not mu > 0.0:
            return None, None
        epsilon = gaussian.epsilon(mu, delta)
        while epsilon > 0.0 and self.worth(Budget(epsilon=epsilon, delta=delta)) > left:
            epsilon *= _SMALLER
        return Budget(mu=mu, delta=delta), Budget(epsilon=epsilon, delta=delta) if epsilon > 0.0 else None


def law_of(budget: Budget, name: str | None, order: float | None) -> tuple[Budget, LedgerLaw]:
    """Return the budget with its delta, and the law: by default ``gdp``, or ``pure`` where delta is 0."""
    chosen = name or ("pure" if budget.is_pure else "gdp")
    if chosen not in LAWS:
        fixed_order(budget, chosen)
    whole = budget.with_delta(0.0 if chosen == "pure" else DELTA)
    if chosen == "pure" and not whole.is_pure:
        raise BudgetError('law="pure" is for delta = 0; leave delta out, or choose law="rdp", which takes every event')
    return whole, LedgerLaw(cast("CompositionLaw", chosen), fixed_order(whole, chosen, order))


# Charges are priced when they are made, when they are read and when they are certified.
@lru_cache(maxsize=4096)
def _cost(events: tuple[Event, ...], relation: Relation, law: CompositionLaw, order: float | None) -> Fraction:
    return cost_under(events, relation, law, order)


def root_down(square: Fraction) -> float:
    """Return the largest float whose exact square is at most the given one."""
    shift = 1100  # 2^-1074 squared is 2^-2148: finer than any float's square.
    result = float(Fraction(math.isqrt(math.floor(square * 4**shift)), 2**shift))
    while Fraction(result) ** 2 > square:
        result = math.nextafter(result, 0.0)
    return result
