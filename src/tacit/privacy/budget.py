"""A budget: the most that may be spent, in one of three currencies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Final

from tacit.errors import BudgetError

_CURRENCIES: Final = ("epsilon", "mu", "rho")


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most privacy that may be spent.

    Exactly one of `epsilon`, `mu` (Gaussian differential privacy) and `rho` (zero-concentrated
    differential privacy) is given. `delta` belongs to `epsilon`; beside `mu` or `rho` it is the
    delta at which a guarantee is reported.

    Guarantee
    ---------
    - A budget that exists is one: exactly one currency, above 0, never NaN; delta in (0, 1).
    - A number that no float holds exactly (a Fraction, a long integer) is rounded down.
    - `with_delta` never replaces a delta that was given.

    Parameters
    ----------
    epsilon, mu, rho
        Above 0; infinite for a fit without privacy.
    delta
        Above 0 and below 1.

    Raises
    ------
    BudgetError
        If it is no budget.

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
            raise BudgetError(
                f"{what}; expected exactly one of epsilon, mu, rho. "
                "For example Budget(epsilon=1, delta=1e-6)"
            )
        name = given[0]
        amount = _number(name, getattr(self, name))
        if not amount > 0.0:
            raise BudgetError(
                f"{name} is {amount!r}; expected a number above 0. Small is private, for example "
                f"{name}=0.1; inf asks for no privacy at all"
            )
        object.__setattr__(self, name, amount)
        if self.delta is not None:
            delta = _number("delta", self.delta)
            if not 0.0 < delta < 1.0:
                raise BudgetError(
                    f"delta is {delta!r}; expected a number above 0 and below 1. "
                    "Choose it well below one over the number of records, for example 1e-6"
                )
            object.__setattr__(self, "delta", delta)

    def __str__(self) -> str:
        """Say the budget as people write it."""
        words = {"epsilon": "ε", "mu": "μ", "rho": "ρ"}
        amounts = [
            f"{words[name]} = {getattr(self, name):.6g}"
            for name in _CURRENCIES
            if getattr(self, name) is not None
        ]
        return ", ".join([*amounts, *([] if self.delta is None else [f"δ = {self.delta:g}"])])

    @property
    def is_infinite(self) -> bool:
        """Whether nothing is asked to be protected."""
        return any(math.isinf(getattr(self, name) or 0.0) for name in _CURRENCIES)

    def with_delta(self, delta: float) -> Budget:
        """Return this budget with a delta, kept if there is one already.

        Examples
        --------
        >>> Budget(epsilon=1, delta=1e-9).with_delta(1e-5).delta
        1e-09
        """
        return self if self.delta is not None else replace(self, delta=delta)


def _number(name: str, value: object) -> float:
    """Return a float that is at most the number given; NaN and what is no number are refused."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise BudgetError(
            f"{name} is a {type(value).__name__}; expected a number. "
            f"Pass it as a number, for example {name}=0.5"
        )
    try:
        number = float(value)
    except OverflowError:
        raise BudgetError(
            f"{name} is larger than any float; expected a smaller number. "
            f'Pass {name}=float("inf") to ask for no privacy'
        ) from None
    if math.isnan(number):
        raise BudgetError(f"{name} is not a number (NaN); expected a number above 0")
    return math.nextafter(number, -math.inf) if number > value else number
