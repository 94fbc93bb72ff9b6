r"""Composition of Gaussian events: exact addition of :math:`\mu^2`.

Adaptively chosen Gaussian releases with :math:`\mu_1, \dots, \mu_k` are together exactly as
private as one with :math:`\mu^2 = \sum_i \mu_i^2`. The sum is kept as a rational number; a float
appears only when a guarantee is read, and then rounded up.

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
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event, Gaussian, Repeated
from tacit.privacy.guarantee import Guarantee
from tacit.privacy.relation import Relation

# Bits of the integer square root: 53 for the float and enough more that one check settles it.
_ROOT_BITS = 64


@dataclass(frozen=True, slots=True)
class Composition:
    r"""What a sequence of Gaussian events costs together.

    .. math:: \mu^2 = \sum_i \mu_i^2

    Guarantee
    ---------
    - `mu_squared` is the exact rational sum.
    - `mu` is the smallest float whose exact square is at least `mu_squared`.
    - `epsilon` and `delta` are never below the exact ones.

    Parameters
    ----------
    mu_squared
        Exact sum of the squares, at least 0.

    Examples
    --------
    >>> Composition(Fraction(9, 4)).mu
    1.5
    """

    mu_squared: Fraction

    @property
    def mu(self) -> float:
        """The Gaussian differential privacy parameter, rounded up."""
        return _root_up(self.mu_squared)

    def epsilon(self, delta: float) -> float:
        """Return the smallest safe epsilon at delta, rounded up."""
        return gaussian.epsilon(self.mu, delta)

    def delta(self, epsilon: float) -> float:
        """Return the delta at epsilon, rounded up."""
        return gaussian.delta(epsilon, self.mu)


def compose(events: Iterable[Event]) -> Composition:
    """Add up the exact cost of events under one relation.

    Guarantee
    ---------
    - The order and the grouping of the events do not matter, to the last bit.
    - ``Repeated(event, k)`` costs exactly k copies of the event.
    - An object that is no known event is refused by name, never skipped.

    Examples
    --------
    >>> compose([Gaussian(1, 16), Repeated(Gaussian(1, 32), times=6)]).mu
    0.5
    """
    return Composition(sum((_mu_squared(event) for event in events), start=Fraction(0)))


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
    composition = compose(events)
    return Guarantee(
        relation=Relation.parse(relation),
        unit=unit,
        epsilon=composition.epsilon(delta),
        delta=float(delta),
        mu=composition.mu,
    )


def _mu_squared(event: Event) -> Fraction:
    match event:
        case Gaussian():
            return event.mu_squared
        case Repeated():
            return event.times * _mu_squared(event.event)
        case _:
            raise SettingError(
                f"a {type(event).__name__} cannot be priced; expected Gaussian or Repeated events"
            )


def _root_up(square: Fraction) -> float:
    """Return the smallest float whose exact square is at least the given one."""
    if square == 0:
        return 0.0
    numerator, denominator = square.numerator, square.denominator
    shift = _ROOT_BITS - (numerator.bit_length() - denominator.bit_length()) // 2
    scaled = square * Fraction(4) ** shift
    root = Fraction(math.isqrt(math.ceil(scaled) - 1) + 1) / Fraction(2) ** shift
    try:
        result = float(root)
    except OverflowError:
        return math.inf
    while Fraction(result) ** 2 < square:
        result = math.nextafter(result, math.inf)
        if math.isinf(result):
            return result
    below = math.nextafter(result, 0.0)
    return below if Fraction(below) ** 2 >= square else result
