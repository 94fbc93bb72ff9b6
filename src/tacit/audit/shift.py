"""What one query showed of the difference of two tables, and what a law of answers has to tell."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from tacit.contract.query import Answer, QueryKind
from tacit.privacy.relation import Relation


@dataclass(frozen=True)
class Shift:
    """What one query showed, and how much of that was paid for: in μ², or in ε where its noise is pure."""

    kind: QueryKind
    realised: Fraction
    paid: Fraction


class AnswerLaw(Protocol):
    """The law of an answer on two tables."""

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of a noised answer."""

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """What the answer showed of the difference of the tables."""
