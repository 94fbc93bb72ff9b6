"""The law of one noised answer on two neighbouring tables: its log-likelihood ratio, and what it shows of its price.

What a query shows is compared with what was paid in the unit of its noise:

    Gaussian            ‖difference of the integers‖₂² / 4^bits   against μ²
    discrete Laplace    ‖difference of the integers‖₁ / 2^bits    against ε
    Gamma norm          ‖difference of the integers‖₂ / 2^bits    against ε

Selections and draws from posteriors are compared in `selection_laws.py`.
A perturbed minimum is no sum. It is compared by the shift of its linear noise, and by its Jacobian.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.accounting.objective_perturbation import jacobian_term
from tacit.audit.block_laws import KnownDraws, block_law, known_results
from tacit.audit.bounds import Floats
from tacit.audit.selection_laws import Choice, ChoiceLaw, PosteriorLaw, exact_scores
from tacit.audit.shift import AnswerLaw, Shift
from tacit.contract.accuracy_of_minimum import Accuracy
from tacit.contract.block_query import AnyBlockQuery, BlackBox, BlockDepth, BlockMedian
from tacit.contract.query import KIND_OF, Answer, NoisyMinimum, PerturbedMinimum, Query, QueryKind
from tacit.contract.selection_price import SelectionPrice
from tacit.contract.selection_query import PosteriorDraw
from tacit.contract.sensitivity import (
    AnyPrice,
    GammaPrice,
    LaplacePrice,
    MinimumPrice,
    PerturbedPrice,
    Price,
    PurePrice,
    events_of,
    objective_event,
    pure_rate,
    ridge_of,
)
from tacit.design.design import Design
from tacit.mechanisms.block_results import Draws
from tacit.mechanisms.certified_minimum import Objective
from tacit.mechanisms.objective_perturbation import answer_perturbed_minimum
from tacit.mechanisms.output_perturbation import integer_minimum, noised_minimum
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.event import Gaussian, Pure, Votes
from tacit.privacy.relation import Relation
from tacit.rows.admission.clip_and_scale import rescale
from tacit.rows.storage.store import Store

ROUNDED = 2.0**-4
"""How far a sum over its lattice step may be from a whole number: sums of few records are below 2^48."""
SLACK, VOLUME_SLACK = Fraction(1 + 2.0**-20), Fraction(1 + 2.0**-15)
"""For what is compared in floats: perturbed minima, and their curvatures, whose rows are rounded to 18 bits."""


Kept = dict[Any, Any]
"""What does not depend on noise, by what was asked for: integers and steps of minima, and results of known blocks."""


class AuditedTable(Responder):
    """Answers with noise as a private run does, or without, on the records that a private run would have.

    A noisy minimum and the results of blocks are computed once and `kept`: from run to run only noise is drawn anew.
    """

    def __init__(self, store: Store, kept: Kept, *, noised: bool = False, seed: int | None = None) -> None:
        super().__init__(store, private=noised, seed=seed)
        self._kept = kept

    def answer(self, query: Query, price: AnyPrice) -> Answer:
        """Answer a query, with fresh noise where there is any."""
        if self._entropy is not None and isinstance(query, PerturbedMinimum):
            assert isinstance(price, PerturbedPrice)  # noqa: S101 - for the type checker
            return answer_perturbed_minimum(self._settle(query), price, self._store, self._entropy, even=False)
        if self._entropy is None or not isinstance(query, NoisyMinimum):
            return super().answer(query, price)
        assert isinstance(price, Price | GammaPrice)  # noqa: S101 - for the type checker
        return noised_minimum(query, price, *self.integer_minimum(query, price), self._entropy)

    @property
    def store(self) -> Store:
        """The simulated records."""
        return self._store

    def _draws(self) -> Draws:
        return KnownDraws()

    def _results_of(self, query: AnyBlockQuery) -> Floats:
        """Results of the blocks, which are known; a black box is run in this process."""
        function, key = query.function, (query.function, query.blocks)
        if key not in self._kept:
            if isinstance(function, BlackBox):
                self._kept[key] = known_results(function, query.blocks, self._store)
            else:
                self._kept[key] = super()._results_of(query)
        return np.array(self._kept[key])

    def prepare_with(self, design: Design) -> None:
        """Rescale raw records as a private run does: in float32."""
        self._store = rescale(self._store, design, np.float32)

    def integer_minimum(self, query: NoisyMinimum, price: Price | GammaPrice) -> tuple[list[int], Fraction]:
        """The integers of a minimum before noise, and their step."""
        matrix = None if query.matrix is None else query.matrix.tobytes()
        key = query.clip, query.ridge, query.loss, query.classes, matrix, price
        if key not in self._kept:
            self._kept[key] = integer_minimum(self._settle(query), price, self._store)
        found: tuple[list[int], Fraction] = self._kept[key]
        return found

    def objective(self, query: PerturbedMinimum, price: PerturbedPrice) -> Objective:
        """The objective of a perturbed minimum, without its linear noise."""
        ready = self._settle(query)
        store = self._store
        accuracy = Accuracy.of(price, query.loss, records=store.length, width=store.width)
        still = [Fraction(0)] * (store.width * query.classes)
        return Objective(ready, store, ridge_of(price, query.clip, query.loss), still, accuracy)

    def _settle(self, query: Any) -> Any:
        """The query in the coordinates of the store, once that is in those of the query."""
        return self._in_coordinates(query)


def law_of(query: Query, price: AnyPrice, tables: Sequence[AuditedTable]) -> AnswerLaw:
    """The law of the answers to a query at a price, on two tables."""
    if isinstance(query, Choice):
        assert isinstance(price, SelectionPrice)  # noqa: S101 - for the type checker
        scores = [exact_scores(query, price.bound, table.store) for table in tables]
        return ChoiceLaw(query, price, scores[0], scores[1])
    if isinstance(query, PosteriorDraw):
        assert isinstance(price, Price)  # noqa: S101 - for the type checker
        return PosteriorLaw.of(query, price, (tables[0].store, tables[1].store))
    if isinstance(query, PerturbedMinimum):
        assert isinstance(price, PerturbedPrice)  # noqa: S101 - for the type checker
        return MinimumLaw(query, price, tuple(table.objective(query, price) for table in tables))
    if isinstance(query, NoisyMinimum):
        assert isinstance(price, Price | GammaPrice)  # noqa: S101 - for the type checker
        (first, step), (second, _) = (table.integer_minimum(query, price) for table in tables)
        values = [np.array([float(entry * step) for entry in each]) for each in (first, second)]
        if query.classes > 1:
            values = [value.reshape(query.classes, -1).T for value in values]
        return NoiseLaw(KIND_OF[NoisyMinimum], price, values[0], values[1], (tuple(first), tuple(second)))
    if isinstance(query, BlockMedian | BlockDepth):
        return block_law(query, price, tuple(table._results_of(query) for table in tables))  # noqa: SLF001
    exact = [table.answer(query, price).value for table in tables]
    assert isinstance(price, Price | GammaPrice | LaplacePrice)  # noqa: S101 - for the type checker
    return NoiseLaw(KIND_OF[type(query)], price, exact[0], exact[1])


@dataclass(frozen=True)
class NoiseLaw:
    """Values with noise on them: exact ones of both tables, and their integers where floats would round them."""

    kind: QueryKind
    price: Price | GammaPrice | LaplacePrice
    first: Floats
    second: Floats
    integers: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of a noised answer, as of noise that is not rounded."""
        if isinstance(self.price, Price):
            return gaussian_log_ratio(self.first, self.second, answer)
        order = 1 if isinstance(self.price, LaplacePrice) else 2
        far = [float(np.linalg.norm((answer.value - exact).ravel(), order)) for exact in (self.first, self.second)]
        return (far[0] - far[1]) / self._scale(answer)

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """The squared, absolute or Euclidean distance of the integers over the scale, against its bound."""
        first, second = self.integers or (
            on_lattice(value * (2.0**self.price.bits / self._scale(answer))) for value in (self.first, self.second)
        )
        moves = [two - one for one, two in zip(first, second, strict=True)]
        (event,) = events_of(self.kind, self.price, relation, size)
        square = sum(move**2 for move in moves)
        if isinstance(event, Gaussian | Votes):
            return (Shift(self.kind, Fraction(square, 4**self.price.bits), event.mu_squared),)
        assert isinstance(event, Pure)  # noqa: S101 - for the type checker
        root = math.isqrt(square)
        # Sensitivities are whole numbers, so rounding up does not make a distance exceed them.
        length = root if root**2 == square else root + 1
        distance = sum(map(abs, moves)) if isinstance(self.price, LaplacePrice) else length
        return (Shift(self.kind, Fraction(distance, 2**self.price.bits), Fraction(event.epsilon)),)

    def _scale(self, answer: Answer) -> float:
        """2^bits steps of the lattice, in units of the answer."""
        deviation = {Price: 1.0, LaplacePrice: math.sqrt(2.0), GammaPrice: math.sqrt(self.first.size + 1)}
        return answer.noise_scale / deviation[type(self.price)]


@dataclass(frozen=True)
class Tilts:
    """The linear noises that give one point on two tables, and the logarithms of the volumes there."""

    first: Floats
    second: Floats
    log_volume: float
    """Second less first."""


@dataclass(frozen=True)
class MinimumLaw:
    """Minima of two tables under linear noise.

    b = -(∇ + λθ) is the noise that gives θ, and log p = log det(H + λI) - ‖b‖² / (2s²), or with pure noise - ‖b‖ / s.
    The noise on the computed minimum is left out: θ is taken for the exact one.
    """

    query: PerturbedMinimum
    price: PerturbedPrice
    objectives: tuple[Objective, ...]

    @property
    def scale(self) -> float:
        """s: the scale of the linear noise."""
        return self.query.clip * self.query.loss.lipschitz * 2.0**self.price.bits / self.price.bound

    def tilts(self, theta: Floats) -> Tilts:
        """The noises that give theta, which is (width, class) for several classes."""
        flat = np.ascontiguousarray(theta.T).ravel()
        found = [np.array([-float(entry) for entry in it.gradient(flat)]) for it in self.objectives]
        volumes = [float(np.linalg.slogdet(it.curvature(flat))[1]) for it in self.objectives]
        return Tilts(found[0], found[1], volumes[1] - volumes[0])

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of a minimum."""
        found = self.tilts(answer.value)
        if isinstance(self.price, PurePrice):
            pull = float(np.linalg.norm(found.first) - np.linalg.norm(found.second)) / self.scale
        else:
            pull = float(found.first @ found.first - found.second @ found.second) / (2 * self.scale**2)
        return found.log_volume + pull

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """The shift of the linear noise, and the change of the volume."""
        del size
        found, factor = self.tilts(answer.value), 2 if relation is Relation.REPLACE_ONE else 1
        moved = float(np.linalg.norm(found.second - found.first)) / self.scale
        largest = factor * Fraction(self.price.bound, 2**self.price.bits)
        if isinstance(self.price, MinimumPrice):
            linear = Shift(QueryKind.MINIMUM, Fraction(moved) ** 2, largest**2 * SLACK)
            volume = Fraction(jacobian_term(objective_event(self.price)))
        else:
            linear = Shift(QueryKind.MINIMUM, Fraction(moved), largest * SLACK)
            volume = pure_rate(self.price, relation) - largest
        return linear, Shift(QueryKind.MINIMUM, Fraction(abs(found.log_volume)), volume * VOLUME_SLACK)


def on_lattice(steps: Floats) -> list[int]:
    """The whole numbers that were rounded to floats when a sum was divided by its unit."""
    whole = np.rint(steps)
    if not (np.abs(steps - whole) <= ROUNDED).all():
        raise AssertionError("An exact sum is not on the lattice of its noise.")
    return [int(entry) for entry in whole.ravel()]


def gaussian_log_ratio(first: Floats, second: Floats, answer: Answer) -> float:
    """Logarithm of P₁ / P₀ of a noised answer whose exact values are `first` and `second`."""
    difference = second - first
    return float(np.sum((answer.value - (first + second) / 2) * difference)) / answer.noise_scale**2
