r"""What a sequence of events costs, whatever its releases are.

Gaussian events add up exactly: :math:`\mu^2 = \sum_i \mu_i^2`. The sum is kept as a rational
number; a float appears only when a guarantee is read, and then rounded up. Other events are priced
by the best accountant.

References
----------
Dong, Roth and Su (2022), "Gaussian differential privacy", Corollary 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from tacit.accounting import gaussian
from tacit.accounting.accountants import Price, required_delta
from tacit.accounting.best_epsilon import best_of_tally, delta_of_tally
from tacit.accounting.event_counts import Tally, tally, total_mu_squared
from tacit.accounting.rounding import root_up
from tacit.errors import AccountingError, BudgetError
from tacit.privacy.budget import Budget, Guarantee
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation


@dataclass(frozen=True, slots=True)
class Composition:
    r"""What a sequence of events costs together.

    .. math:: \mu^2 = \sum_i \mu_i^2

    where all events are Gaussian; otherwise there is no mu and the best accountant answers.

    Guarantee
    ---------
    - `mu_squared` is the exact rational sum; where an event is not Gaussian it is refused.
    - `mu` is the smallest float whose exact square is at least `mu_squared`, or None.
    - `epsilon` and `delta` are never below the exact ones.

    Parameters
    ----------
    square
        Exact sum of the squares, at least 0; None if an event is not Gaussian.
    counted, relation
        The events and their relation where there is no such sum.

    Examples
    --------
    >>> Composition(Fraction(9, 4)).mu
    1.5
    """

    square: Fraction | None
    counted: Tally = ()
    relation: Relation | None = None

    @property
    def mu_squared(self) -> Fraction:
        """The exact sum of the squares of mu, if all events are Gaussian."""
        if self.square is None:
            raise AccountingError(
                "the events have no mu, because not all of them are Gaussian; "
                "read epsilon(delta) or delta(epsilon) instead"
            )
        return self.square

    @property
    def mu(self) -> float | None:
        """The Gaussian differential privacy parameter, rounded up; None if there is none."""
        return None if self.square is None else root_up(self.square)

    def epsilon(self, delta: float) -> float:
        """Return the smallest safe epsilon at delta, rounded up."""
        if self.square is not None:
            return gaussian.epsilon(root_up(self.square), delta)
        return self.price(delta).epsilon

    def delta(self, epsilon: float) -> float:
        """Return the delta at epsilon, rounded up."""
        if self.square is not None:
            return gaussian.delta(epsilon, root_up(self.square))
        return delta_of_tally(self.counted, self.relation, epsilon)

    def price(self, delta: float) -> Price:
        """Return the epsilon at delta with the accountant it comes from."""
        target = required_delta(delta)
        if self.square is not None:
            return Price("gdp", self.epsilon(target), target, self.relation)
        return best_of_tally(self.counted, self.relation, target)


def compose(events: Iterable[Event], relation: Relation | str | None = None) -> Composition:
    """Add up the cost of events under one relation.

    Guarantee
    ---------
    - The order and the grouping of Gaussian events do not matter, to the last bit.
    - ``Repeated(event, k)`` costs exactly k copies of the event.
    - An object that is no known event is refused by name, never skipped.

    Parameters
    ----------
    events
        Everything that was released.
    relation
        Needed by sampled events and objective perturbation.

    Examples
    --------
    >>> from tacit.privacy.event import Repeated
    >>> from tacit.privacy.event import Gaussian
    >>> compose([Gaussian(1, 16), Repeated(Gaussian(1, 32), times=6)]).mu
    0.5
    """
    known = None if relation is None else Relation.parse(relation)
    counted = tally(events, known)
    square = total_mu_squared(counted)
    return Composition(square) if square is not None else Composition(None, counted, known)


def mu_squared_of(budget: Budget) -> Fraction:
    r"""Return the largest exact :math:`\mu^2` that a budget allows, rounded down.

    .. math:: \mu(\varepsilon, \delta)^2, \quad \mu^2 \quad\text{or}\quad 2\rho

    Guarantee
    ---------
    - Events whose exact squares add up to at most this are within the budget.
    - For mu and rho nothing is lost: the square is exact in the float that was given.

    Raises
    ------
    BudgetError
        If the budget is infinite, if epsilon comes without delta, or if the budget is too small
        for a float.

    Examples
    --------
    >>> mu_squared_of(Budget(rho=0.125))
    Fraction(1, 4)
    """
    if budget.is_infinite:
        raise BudgetError(
            "an infinite budget has no mu; expected a finite one. Fit without noise instead"
        )
    if budget.mu is not None:
        return Fraction(budget.mu) ** 2
    if budget.rho is not None:
        return 2 * Fraction(budget.rho)
    if budget.epsilon is None or budget.delta is None:
        raise BudgetError(
            "the budget has no delta; Gaussian noise needs one. "
            "Pass Budget(epsilon=..., delta=1e-6) or call with_delta"
        )
    mu = gaussian.mu(budget.epsilon, budget.delta)
    if not 0.0 < mu < math.inf:
        raise BudgetError(
            "epsilon and delta are beyond the range of floats; expected moderate numbers, "
            "for example Budget(epsilon=1, delta=1e-6)"
        )
    return Fraction(mu) ** 2


def guarantee_of(
    events: Iterable[Event], *, delta: float, relation: Relation | str, unit: str
) -> Guarantee:
    """State what events guarantee together at delta, rounded up.

    Guarantee
    ---------
    - The epsilon stated is never below the exact one of the events.

    Parameters
    ----------
    events
        Everything that was released, all under the same relation.
    delta
        In [0, 1].
    relation, unit
        The relation and the unit for which the sensitivities in the events hold.

    Examples
    --------
    >>> print(guarantee_of([], delta=1e-6, relation="zero-out", unit="row"))
    (ε = 0, δ = 1e-06), zero-out, per row
    """
    known = Relation.parse(relation)
    composition = compose(events, known)
    return Guarantee(
        relation=known,
        unit=unit,
        epsilon=composition.epsilon(delta),
        delta=float(delta),
        mu=composition.mu,
    )
