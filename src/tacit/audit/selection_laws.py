"""The law of a selection, or of a draw from a posterior, on two neighbouring tables.

What an answer shows is compared with what was paid:

    selection    rate·(largest - smallest difference of a score)    against the range or the ε
    posterior    ‖difference of the gradients at the draw‖² / λ     against μ²
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.accounting.composition import pure_epsilon
from tacit.audit.bounds import Floats
from tacit.audit.shift import Shift
from tacit.contract.query import KIND_OF, Answer, QueryKind
from tacit.contract.selection_price import SelectionPrice
from tacit.contract.selection_query import CandidateChoice, PosteriorDraw, SelectionLaw, StatisticChoice, VertexChoice
from tacit.contract.sensitivity import Price, events_of, squared_sensitivity
from tacit.mechanisms.posterior_draw import Energy, energy_of, find_mode
from tacit.mechanisms.selection import scores_of
from tacit.mechanisms.vertex_choice import vertex_scores
from tacit.privacy.relation import Relation
from tacit.rows.storage.store import Store
from tacit.rows.storage.tiles import Integers

Choice = CandidateChoice | StatisticChoice | VertexChoice
SLACK = Fraction(1 + 2.0**-30)
"""For gradients, which are compared in floats."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)


def exact_scores(query: Choice, bound: int, store: Store) -> Integers:
    """Scores of all candidates on a simulated table, in the order of their indices."""
    if isinstance(query, VertexChoice):
        return vertex_scores(query, bound, store).ravel()
    return scores_of(query, bound, store)


@dataclass(frozen=True)
class ChoiceLaw:
    """Indices drawn by their scores on two tables."""

    query: Choice
    price: SelectionPrice
    first: Integers
    second: Integers

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of a drawn index."""
        index = self._index(answer)
        return self._log_probability(self.second, index) - self._log_probability(self.first, index)

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """The interval of the scores' differences, which no answer widens."""
        del answer
        kind = KIND_OF[type(self.query)]
        moves = [int(b) - int(a) for a, b in zip(self.first, self.second, strict=True)]
        (event,) = events_of(kind, self.price, relation, size)
        paid = Fraction(pure_epsilon(event) or 0)
        return (Shift(kind, self.price.rate * (max(moves) - min(moves)), paid),)

    def _index(self, answer: Answer) -> int:
        if not isinstance(self.query, VertexChoice):
            return int(answer.value[0])
        place, side, level = answer.value
        slopes = len(self.query.theta) - self.query.constant
        return int(place) + slopes * (int(side < 0) + 2 * int(level < 0))

    def _log_probability(self, scores: Integers, index: int) -> float:
        heights = -float(self.price.rate) * (scores - scores.min()).astype(np.float64)
        if self.price.law is SelectionLaw.EXPONENTIAL:
            return float(heights[index] - math.log(np.exp(heights).sum()))
        # P(i) = w ∫ Π over the others of (1 - w t): no head comes before i, whose place is uniform.
        weights, places = np.exp(heights), (_NODES + 1) / 2
        others = np.delete(weights, index)
        none = np.prod(1.0 - others[:, np.newaxis] * places, axis=0)
        return float(heights[index] + math.log(float(_WEIGHTS @ none) / 2))


@dataclass(frozen=True)
class PosteriorLaw:
    """Draws from the posteriors of two tables, whose normalising constants are approximated at their modes."""

    query: PosteriorDraw
    price: Price
    energies: tuple[Energy, Energy]
    log_constant: float
    """Of the second table less the first."""

    @classmethod
    def of(cls, query: PosteriorDraw, price: Price, stores: tuple[Store, Store]) -> PosteriorLaw:
        """The law on two stores."""
        first, second = (energy_of(query, price, store) for store in stores)
        constants = []
        for energy in (first, second):
            mode, _, (values, _) = find_mode(energy)
            constants.append(-float(energy.heights(mode[np.newaxis])[0]) - float(np.log(values).sum()) / 2)
        return cls(query, price, (first, second), constants[1] - constants[0])

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of a draw."""
        first, second = (float(energy.heights(answer.value[np.newaxis])[0]) for energy in self.energies)
        return first - second - self.log_constant

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """How far the gradients of the two energies are apart at the draw."""
        slopes: list[Floats] = [energy.bend(answer.value)[0] for energy in self.energies]
        moved = Fraction(float(np.sum((slopes[1] - slopes[0]) ** 2)) / self.query.ridge)
        square = squared_sensitivity(QueryKind.POSTERIOR, self.price.bound, relation, size)
        return (Shift(QueryKind.POSTERIOR, moved, Fraction(square, 4**self.price.bits) * SLACK),)
