r"""Filters and odometers: accounting for releases that are chosen adaptively, noise included.

A filter lets a release through while a sum stays within a capacity:

- ``gdp``: squares of mu, for Gaussian releases; exact rationals;
- ``zcdp``: rhos, for releases of concentrated privacy;
- ``rdp``: the Rényi curve at one order that is fixed in advance, for everything with a curve;
- ``pure``: epsilons, for releases without a delta; exact rationals.

Stopping when loss distributions cross a budget would **not** be valid, so there is no such filter.
An odometer has no budget. Proof: ``proofs/accounting/filters.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from tacit.accounting.accountants import required_delta, title
from tacit.accounting.composition import EventCounts, count_events, mu_squared_of, pure_epsilon, total_mu_squared
from tacit.accounting.event_curves import own_pair, total_curve
from tacit.accounting.release_prices import total_concentrated
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi import curve as curves
from tacit.accounting.rounding import bisect, float_up, root_down
from tacit.errors import AccountingError, BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation

CompositionLaw = Literal["gdp", "zcdp", "rdp", "pure"]
LAWS: tuple[CompositionLaw, ...] = ("gdp", "zcdp", "rdp", "pure")
Events: TypeAlias = Iterable[Event] | Event

# Amounts as integers count units of 2^-80.
UNIT_BITS = 80
_UNIT = Fraction(1, 2**UNIT_BITS)
# Readings of an odometer are taken at rhos of this ladder; delta is split over its rungs.
_LOWEST_RHO = 2.0**-14
_RATIO = 1.25
_SLACK = 2.0**-44


@dataclass(frozen=True, slots=True)
class Filter:
    """A budget that is spent release by release, each chosen in view of the earlier ones.

    `order` is that of ``rdp``, chosen from the budget if not given.

    Guarantee: whatever is chosen, all releases that were let through are within the budget together. ``gdp`` and
    ``pure`` add exact rationals: ten tenths of a capacity are the capacity. `amount` is never below the exact cost,
    `capacity` never above the exact budget.

    Examples
    --------
    >>> from tacit.privacy.event import Gaussian
    >>> first = Filter(Budget(mu=0.5), Relation.REPLACE_ONE)
    >>> then = first.after([Gaussian(1, 8)])
    >>> then.admits([Gaussian(1, 8)]), then.admits([Gaussian(1, 7)])
    (True, False)
    """

    budget: Budget
    relation: Relation
    law: CompositionLaw = "gdp"
    order: float | None = None
    spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.parse(self.relation))
        object.__setattr__(self, "order", fixed_order(self.budget, self.law, self.order))
        if self.spent < 0:
            raise BudgetError("spent is negative")
        if self.capacity <= 0:
            raise BudgetError(f"the budget is too small for a filter by {self.law}")

    @property
    def capacity(self) -> Fraction:
        """The most that may be added up, rounded down."""
        return capacity_under(self.budget, self.law, self.order)

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return self.capacity - self.spent

    def amount(self, events: Events, relation: Relation | str | None = None) -> Fraction:
        """Return what releases cost under the law of the filter, rounded up."""
        return _cost(_counts(events, relation, self.relation), self.relation, self.law, self.order)

    def admits(self, events: Events, relation: Relation | str | None = None) -> bool:
        """Whether releases still fit."""
        return self.amount(events, relation) <= self.remaining

    def after(self, events: Events, relation: Relation | str | None = None) -> Filter:
        """Return the filter after releases; they are refused if they do not fit."""
        amount = self.amount(events, relation)
        if amount > self.remaining:
            expected = "Expected less, or a larger budget from the start"
            raise BudgetError(f"the budget does not cover this release; nothing was spent. {expected}")
        return replace(self, spent=self.spent + amount)

    def units(self, events: Events) -> int:
        """Return what releases cost in whole units of 2^-80, rounded up."""
        return math.ceil(self.amount(events) / _UNIT)


@dataclass(frozen=True, slots=True)
class Odometer:
    r"""A record of releases of concentrated privacy, chosen as one goes along.

    With :math:`\bar\rho_j = 1.25^j 2^{-14}` the first rung at or above what was spent, and :math:`\delta_j =
    6\delta/(\pi^2 (j + 1)^2)`, the reading is :math:`\bar\rho_j + 2\sqrt{\bar\rho_j \log(1/\delta_j)}`.

    Guarantee: for any neighbours, with probability 1 - delta, no loss ever exceeds the reading of its time. Reading
    changes nothing; recording never lowers a reading.

    Examples
    --------
    >>> from tacit.privacy.event import Gaussian
    >>> before = Odometer(Relation.REPLACE_ONE)
    >>> after = before.after([Gaussian(1, 100)])
    >>> before.reading(1e-6), after.reading(1e-6) < 1.0
    (0.0, True)
    """

    relation: Relation
    spent: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.parse(self.relation))

    def after(self, events: Events, relation: Relation | str | None = None) -> Odometer:
        """Return the odometer after releases."""
        counts = _counts(events, relation, self.relation)
        found = total_concentrated(counts, self.relation)
        if found is None or found.leak > 0.0:
            raise AccountingError(f"{refusal(counts, self.relation, 'zcdp')}. An odometer adds up rhos")
        return replace(self, spent=self.spent + found.rho)

    def reading(self, delta: float) -> float:
        """Return the bound of the loss so far that holds at all times with 1 - delta."""
        target = required_delta(delta)
        if self.spent == 0:
            return 0.0
        spent = float_up(self.spent)
        if target == 0.0 or spent > 1e300:
            return math.inf
        rung = max(math.ceil(math.log(spent / _LOWEST_RHO) / math.log(_RATIO)), 0)
        while _LOWEST_RHO * _RATIO**rung * (1.0 - _SLACK) < spent:
            rung += 1
        rho = _LOWEST_RHO * _RATIO**rung
        log_inverse = math.log(math.pi**2 / 6.0) + 2.0 * math.log(rung + 1.0) - math.log(target)
        return (rho + 2.0 * math.sqrt(rho * log_inverse)) * (1.0 + _SLACK)


def amount(event: Event, relation: Relation | str | None = None, law: CompositionLaw = "gdp") -> int:
    """Return an event's cost in units of 2^-80, by a law without an order: exact if whole, else the next above it."""
    if law == "rdp":
        raise SettingError("an amount by rdp needs an order; use Filter(..., law='rdp').units")
    return math.ceil(cost_under([event], Relation.ADD_REMOVE if relation is None else relation, law) / _UNIT)


def capacity(budget: Budget, law: CompositionLaw = "gdp") -> int:
    """Return the most units of 2^-80 that events within a budget may cost, rounded down."""
    return math.floor(Filter(budget, Relation.ADD_REMOVE, law).capacity / _UNIT)


def fixed_order(budget: Budget, law: str, order: float | None = None) -> float | None:
    """Return the order of a law: that of ``rdp`` as given, or else chosen from the budget; None for the others.

    Guarantee: it is a function of its public arguments. An unknown law, and an order for another law, are refused.
    """
    if law not in LAWS:
        raise SettingError(f"unknown law {str(law)[:40]!r}; expected one of {', '.join(LAWS)}")
    if law != "rdp":
        if order is not None:
            raise SettingError(f"the law {law} has no order; leave it out, or choose rdp")
        return None
    chosen = _best_order(budget) if order is None else float(order)
    if not 1.0 < chosen < math.inf:
        raise SettingError(f"order is {order!r}; expected a number above 1")
    return chosen


def capacity_under(budget: Budget, law: CompositionLaw, order: float | None = None) -> Fraction:
    """Return the largest sum of costs that keeps releases within a budget, rounded down; 0 where there is none."""
    if law == "gdp":
        return _largest_square(budget)
    if law == "zcdp":
        return Fraction(_largest_rho(budget))
    if law == "rdp":
        return Fraction(_renyi_capacity(budget, order or 2.0))
    if budget.epsilon is None or budget.is_infinite:
        raise BudgetError("a filter by pure needs a finite budget of epsilon, such as Budget(epsilon=1, delta=0)")
    return Fraction(budget.epsilon)


def cost_under(
    events: Iterable[Event], relation: Relation | str, law: CompositionLaw, order: float | None = None
) -> Fraction:
    """Return what releases cost under a law, rounded up; one that has no cost there is refused by name.

    Guarantee: the costs of releases add up to at least their cost together, by ``gdp`` and ``pure`` exactly to it.
    """
    known = Relation.parse(relation)
    return _cost(count_events(events, known), known, law, order)


def shares(whole: int, parts: int) -> tuple[int, ...]:
    """Split units into parts that differ by at most one unit and add up to the whole.

    Guarantee: the sum is exactly the whole: nothing is exceeded and nothing stranded.

    Examples
    --------
    >>> shares(10, 3)
    (4, 3, 3)
    """
    if parts < 1 or whole < 0:
        raise SettingError("shares need a count of parts and an amount of at least 0")
    share, more = divmod(whole, parts)
    return tuple(share + (1 if part < more else 0) for part in range(parts))


def split(budget: Budget, *parts: float) -> tuple[Budget, ...]:
    """Split a budget by shares of μ² into budgets of μ, for releases of the same records.

    Guarantee: the squares of the parts add up to at most the μ² of the budget, in exact rationals. So releases within
    the parts are together within the budget.

    Examples
    --------
    >>> first, second = split(Budget(mu=1.0), 0.36, 0.64)
    >>> round(second.mu, 9)
    0.8
    """
    exact = [Fraction(share) for share in parts]
    # Shares such as 0.1 and 0.9 are floats, whose exact sum may be above 1 by a last bit.
    if any(share <= 0 for share in exact) or sum(exact) > 1 + Fraction(1, 2**50):
        raise SettingError("parts of a budget are shares above 0 that add up to at most 1")
    whole = mu_squared_of(budget) / max(Fraction(1), sum(exact, Fraction(0)))
    return tuple(Budget(mu=root_down(whole * share), delta=budget.delta) for share in exact)


def _counts(events: Events, relation: Relation | str | None, charged: Relation) -> EventCounts:
    if relation is not None and Relation.parse(relation) is not charged:
        why = "guarantees of different relations are never added"
        raise AccountingError(f"a release under {relation} cannot be charged under {charged}; {why}")
    return count_events([events] if isinstance(events, Event) else events, charged)


def _cost(counts: EventCounts, relation: Relation, law: CompositionLaw, order: float | None) -> Fraction:
    found = _cost_if_any(counts, relation, law, order)
    if found is None:
        raise AccountingError(refusal(counts, relation, law, order))
    return found


def _cost_if_any(counts: EventCounts, relation: Relation, law: CompositionLaw, order: float | None) -> Fraction | None:
    """The cost of counted releases under a law, or None where one of them has none."""
    if law == "gdp":
        return total_mu_squared(counts)
    if law == "zcdp":
        total = total_concentrated(counts, relation)
        return None if total is None or total.leak > 0.0 else total.rho
    if law == "pure":
        return _pure_cost(counts, relation)
    curve = total_curve(counts, relation)
    if curve is None or curve.leak > 0.0:
        return None
    value = float(curve.curve(np.array([order or 2.0]))[0]) if counts else 0.0
    return Fraction(value) if math.isfinite(value) else None


def _pure_cost(counts: EventCounts, relation: Relation) -> Fraction | None:
    """Exact epsilons; samples of pure releases, and the best of many, have theirs rounded up."""
    total = Fraction(0)
    for event, times in counts:
        epsilon = pure_epsilon(event)
        if epsilon is None:
            epsilon, delta = own_pair(event, relation) or (math.inf, 1.0)
            if delta > 0.0 or math.isinf(epsilon):
                return None
        total += times * Fraction(epsilon)
    return total


def refusal(counts: EventCounts, relation: Relation, law: CompositionLaw, order: float | None = None) -> str:
    """Say which release has no cost under a law, and that ``rdp`` takes it, where it does."""
    missing = [event for event, _ in counts if _cost_if_any(((event, 1),), relation, law, order) is None]
    what = title(missing[0]) if missing else "these releases together"
    takes = missing and law != "rdp" and _cost_if_any(((missing[0], 1),), relation, "rdp", 2.0) is not None
    none = "no law takes it, because it leaks with some probability or has no finite Rényi curve"
    way = 'choose law="rdp" at the start, which takes it' if takes else none
    return f'a filter with law="{law}" cannot price {what}: {way}'


# Every step of a filter asks for the same number.
_largest_square = lru_cache(maxsize=256)(mu_squared_of)


@lru_cache(maxsize=256)
def _largest_rho(budget: Budget) -> float:
    """The largest rho that a budget allows, rounded down."""
    if budget.rho is not None and not budget.is_infinite:
        return budget.rho
    epsilon, delta = _pair(budget, "zcdp")

    def exceeds(rho: float) -> bool:
        return conversion.zcdp_to_epsilon(rho, delta) > epsilon

    found = bisect(0.0, max(epsilon, 1.0), exceeds, 1e-10)[0]
    return found if found > 1e-300 else 0.0


def _renyi_capacity(budget: Budget, order: float) -> float:
    """The largest value at one order whose conversion stays within epsilon, rounded down."""
    epsilon, delta = _pair(budget, "rdp")
    gain = (math.log(delta) + math.log(order)) / (order - 1.0) - math.log1p(-1.0 / order)
    value, step = epsilon + gain, 2.0**-46 * (epsilon + abs(gain) + 1.0)
    while value > 0.0 and conversion.epsilon_from_values([order], [value], delta) > epsilon:
        value, step = value - step, 2.0 * step
    return max(value, 0.0)


@lru_cache(maxsize=256)
def _best_order(budget: Budget) -> float:
    """The order at which a Gaussian release could spend most."""
    grid = curves.default_orders()
    values = [_renyi_capacity(budget, float(order)) / float(order) for order in grid]
    return float(grid[int(np.argmax(values))])


def _pair(budget: Budget, law: str) -> tuple[float, float]:
    if budget.is_infinite:
        raise BudgetError("an infinite budget needs no filter; expected a finite one")
    if budget.is_pure:
        raise BudgetError(f'delta is 0, and a filter by {law} needs one above 0; choose law="pure", or a delta')
    if budget.epsilon is None or budget.delta is None:
        why = "a mu or an epsilon alone does not bound releases that are not Gaussian"
        raise BudgetError(f"a filter by {law} needs a budget of epsilon and delta, or in rho for zcdp; {why}")
    return budget.epsilon, budget.delta
