"""A budget is the most privacy that may be spent; a guarantee is what a release promises."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal
from numbers import Real
from typing import Final

from tacit.display import Displayed
from tacit.errors import BudgetError, SchemaError
from tacit.privacy.relation import Relation
from tacit.validate import within

_CURRENCIES: Final = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}
_SIX_DIGITS_UP = Context(prec=6, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Displayed):
    """The most privacy that may be spent.

    Exactly one of `epsilon`, `mu` (Gaussian differential privacy) and `rho` (zero-concentrated
    differential privacy) is given; infinite for a fit without privacy. `delta` belongs to
    `epsilon`; with `mu` or `rho` it is the delta at which a guarantee is reported. ``Budget(epsilon=1, delta=0)`` is
    pure: only releases without a delta, such as Laplace noise, are within it.

    Guarantee: a budget that exists is one: exactly one currency, above 0, never NaN; delta in (0, 1), or 0 with
    epsilon. A number that no float holds exactly (a Fraction, a long integer) is rounded down. `with_delta` never
    replaces a given delta, 0 included.

    Examples
    --------
    >>> Budget(epsilon=1).with_delta(1e-6)
    Budget(epsilon=1.0, delta=1e-06, mu=None, rho=None)
    """

    epsilon: float | None = None
    delta: float | None = None
    mu: float | None = None
    rho: float | None = None

    def __post_init__(self) -> None:
        given = [name for name in _CURRENCIES if getattr(self, name) is not None]
        if len(given) != 1:
            what = " and ".join(given) + " were given together" if given else "no amount was given"
            expected = "exactly one of epsilon, mu, rho. For example Budget(epsilon=1, delta=1e-6)"
            raise BudgetError(f"{what}; expected {expected}")
        name = given[0]
        amount = _number(name, getattr(self, name))
        if not amount > 0.0:
            small = f"Small is private, for example {name}=0.1; inf asks for no privacy at all"
            raise BudgetError(f"{name} is {amount!r}; expected a number above 0. {small}")
        object.__setattr__(self, name, amount)
        if self.delta is not None:
            delta = _number("delta", self.delta)
            if not 0.0 <= delta < 1.0 or (delta == 0.0 and self.delta != 0):
                choose = "Choose it well below one over the number of records, for example 1e-6"
                fault = f"delta is {delta!r}; expected a number above 0 and below 1, or 0 for pure privacy"
                raise BudgetError(f"{fault}. {choose}")
            if delta == 0.0 and name != "epsilon":
                why = f"a budget in {name} allows Gaussian noise, which has no epsilon at delta = 0"
                raise BudgetError(f"delta is 0; expected a number above 0. Use epsilon with delta = 0: {why}")
            object.__setattr__(self, "delta", abs(delta))

    def __str__(self) -> str:
        given = {sign: getattr(self, name) for name, sign in _CURRENCIES.items()}
        amounts = [f"{sign} = {amount:.6g}" for sign, amount in given.items() if amount is not None]
        return ", ".join(amounts if self.delta is None else [*amounts, f"δ = {self.delta:g}"])

    @property
    def is_infinite(self) -> bool:
        """Whether nothing is asked to be protected."""
        return any(math.isinf(getattr(self, name) or 0.0) for name in _CURRENCIES)

    @property
    def is_pure(self) -> bool:
        """Whether delta is 0, so that only releases with an epsilon of their own are within it."""
        return self.delta == 0.0 and not self.is_infinite

    def with_delta(self, delta: float) -> Budget:
        """Return this budget with this delta, unless it has one already; 0 is one."""
        return self if self.delta is not None else replace(self, delta=delta)


@dataclass(frozen=True, slots=True)
class Guarantee(Displayed):
    """An (epsilon, delta) guarantee for one unit of privacy under one relation.

    For neighbouring tables D, D' and every set S of outputs, ``P[M(D) in S] <= exp(epsilon) P[M(D') in S] + delta``.

    `unit` is what one neighbour step changes, for example ``"row"``; `premise` is assumed of it.

    Guarantee: the relation is a required field and is always one of the three. As text, epsilon and delta are never
    smaller than the stored ones, an infinite epsilon is written "no guarantee", and a premise is part of it.

    Examples
    --------
    >>> print(Guarantee(Relation.REPLACE_ONE, "row", epsilon=1.0, delta=1e-6, mu=None))
    (ε = 1, δ = 1e-06), replace-one, per row
    """

    relation: Relation
    unit: str
    epsilon: float
    delta: float
    mu: float | None
    premise: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "relation", Relation.parse(self.relation))
        if not isinstance(self.unit, str) or not self.unit.strip() or not self.unit.isprintable():
            raise SchemaError('the unit of privacy is not a word; expected for example "row" or "patient"')
        for name, largest in (("epsilon", math.inf), ("delta", 1.0), ("mu", math.inf)):
            value = getattr(self, name)
            if name != "mu" or value is not None:
                value = within(f"{name} of a guarantee", value, 0.0, largest, BudgetError)
                object.__setattr__(self, name, value)

    @property
    def infinite(self) -> bool:
        """Whether nothing is promised."""
        return math.isinf(self.epsilon)

    def __str__(self) -> str:
        subject = f"{self.relation.value}, per {self.unit}"
        if self.premise is not None:
            subject += f" (assuming {self.premise})"
        if self.infinite:
            return f"no guarantee (ε = ∞), {subject}"
        return f"(ε = {_up(self.epsilon)}, δ = {_up(self.delta)}), {subject}"


def _number(name: str, value: object) -> float:
    """Return a float that is at most the number given; NaN and what is no number are refused."""
    if isinstance(value, bool) or not isinstance(value, Real):
        found = type(value).__name__
        raise BudgetError(f"{name} is a {found}; expected a number. Pass it as a number, for example {name}=0.5")
    try:
        number = float(value)
    except OverflowError:
        infinite = f'Pass {name}=float("inf") to ask for no privacy'
        raise BudgetError(f"{name} is larger than any float; expected a smaller number. {infinite}") from None
    if math.isnan(number):
        raise BudgetError(f"{name} is not a number (NaN); expected a number above 0")
    return math.nextafter(number, -math.inf) if number > value else number


def _up(value: float) -> str:
    """Write a float with six significant digits, rounded up."""
    # The shortest spelling that names the float, so that 0.1 reads 0.1 and not 0.100001.
    return f"{float(_SIX_DIGITS_UP.create_decimal(Decimal(repr(float(value))))):.6g}"
