"""A guarantee: what a release promises, to whom, and between which tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal

from tacit.errors import BudgetError, SchemaError
from tacit.privacy.relation import Relation

_SIX_DIGITS_UP = Context(prec=6, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class Guarantee:
    """An (epsilon, delta) guarantee for one unit of privacy under one relation.

    For neighbouring tables D, D' and every set S of outputs,
    ``P[M(D) in S] <= exp(epsilon) P[M(D') in S] + delta``.

    Guarantee
    ---------
    - The relation is a required field and is always one of the three.
    - Read aloud, epsilon and delta are never smaller than the stored ones.
    - An infinite epsilon reads "no guarantee".
    - A premise is read aloud with it.

    Parameters
    ----------
    relation
        Which tables are neighbours.
    unit
        What one neighbour step changes, for example ``"row"`` or ``"patient"``.
    epsilon
        At least 0; infinite where nothing is promised.
    delta
        In [0, 1].
    mu
        The Gaussian differential privacy parameter it was read from, if there is one.
    premise
        What is assumed of the unit, for example ``"each has at most one record"``.

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
        _require_word(self.unit)
        object.__setattr__(self, "epsilon", _number("epsilon", self.epsilon, math.inf))
        object.__setattr__(self, "delta", _number("delta", self.delta, 1.0))
        if self.mu is not None:
            object.__setattr__(self, "mu", _number("mu", self.mu, math.inf))

    @property
    def infinite(self) -> bool:
        """Whether nothing is promised."""
        return math.isinf(self.epsilon)

    def __str__(self) -> str:
        """Read the guarantee aloud, numbers rounded up to six digits."""
        subject = f"{self.relation.value}, per {self.unit}"
        if self.premise is not None:
            subject += f" (assuming {self.premise})"
        if self.infinite:
            return f"no guarantee (ε = ∞), {subject}"
        return f"(ε = {_up(self.epsilon)}, δ = {_up(self.delta)}), {subject}"


def _require_word(unit: object) -> None:
    if not isinstance(unit, str) or not unit.strip() or not unit.isprintable():
        raise SchemaError(
            'the unit of privacy is not a word; expected for example "row" or "patient"'
        )


def _number(name: str, value: object, largest: float) -> float:
    # Written so that NaN fails the comparison.
    if isinstance(value, bool) or not isinstance(value, float | int) or not 0 <= value <= largest:
        raise BudgetError(
            f"{name} of a guarantee is {repr(value)[:60]}; expected a number from 0 to {largest}"
        )
    return float(value)


def _up(value: float) -> str:
    """Write a float with six significant digits, rounded up."""
    # The shortest spelling that names the float, so that 0.1 reads 0.1 and not 0.100001.
    return f"{float(_SIX_DIGITS_UP.create_decimal(Decimal(repr(float(value))))):.6g}"
