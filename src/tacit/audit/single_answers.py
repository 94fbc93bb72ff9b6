"""Attacks on one private answer: two records that move its sum as far as the sensitivity says.

The sum of a table is computed once and the noise is drawn afresh in every run, by the mechanism itself. The score is
the log-likelihood ratio of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.composition import compose, mu_squared_of
from tacit.audit.answer_laws import AuditedTable, Kept, law_of
from tacit.audit.attack import Worlds, approximate_budget, pure_budget
from tacit.audit.bounds import Floats
from tacit.contract.column_query import ColumnMoments
from tacit.contract.deviance_query import DevianceSum
from tacit.contract.query import (
    KIND_OF,
    ColumnCounts,
    CurvatureAndScore,
    CurvatureTrace,
    DampedDirection,
    GradientNorm,
    GradientSum,
    NoisyMinimum,
    PerturbedMinimum,
    Query,
    QueryKind,
    ResidualSize,
    SecondMoments,
)
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.selection_price import SELECTIONS, selection_price
from tacit.contract.selection_query import CandidateChoice, LossDifference, PosteriorDraw, StatisticChoice, VertexChoice
from tacit.contract.sensitivity import AnyPrice, GammaPrice, PerturbedPrice, events_of, laplace_price, price_for
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.estimators.classifiers import LogisticRegression
from tacit.losses import classification, regression
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import BlockSum, Layout
from tacit.rows.storage.tiles import LANES, Integers, to_tiles

WIDTH = 3
ZERO = np.zeros(WIDTH)
FIRST, SECOND, LAST = np.eye(WIDTH)
BOUND = 0.5
"""Norm to which the records, of norm 1, are shortened."""
FAR_RESPONSE = 1e4
"""At it the slope of a smooth Huber loss is at its bound."""
GAMMA_BITS = 40
"""Lattice of noise of Gamma norm."""

Record = tuple[Floats, float]
"""A prepared row and its response."""
NOTHING: Record = (ZERO, 0.0)


@dataclass(frozen=True)
class OneQuery:
    """A query, and two records that move its answer the most; against none, only the first.

    With `pure` the noise is that of δ = 0, and μ the ε that is asked for.
    """

    query: Query
    first: Record
    second: Record
    pure: bool = False

    def worlds(self, relation: Relation, mu: float, seed: int | None) -> Worlds:
        """The two tables of a relation: a record and the other, a blank one, or none."""
        rows = {
            Relation.REPLACE_ONE: (self.second, self.first),
            Relation.ZERO_OUT: (NOTHING, self.first),
            Relation.ADD_REMOVE: (None, self.first),
        }[relation]
        # The minimisation of a perturbed objective asks for sums at other points in every run: none is remembered.
        storage = MemoryStore if isinstance(self.query, PerturbedMinimum) else RememberingStore
        stores = [prepared_table([NOTHING] if row is None else [row, NOTHING], storage) for row in rows]
        price = self._price(mu, relation, len(rows))
        claim = compose(events_of(KIND_OF[type(self.query)], price, relation, self._size), relation)
        kept: list[Kept] = [{}, {}]
        responders = [
            AuditedTable(store, kept[k], noised=True, seed=None if seed is None else 2 * seed + k)
            for k, store in enumerate(stores)
        ]
        law = law_of(self.query, price, [AuditedTable(*each) for each in zip(stores, kept, strict=True)])

        def draw(world: int, runs: int) -> Floats:
            return np.array([law.log_ratio(responders[world].answer(self.query, price)) for _ in range(runs)])

        return Worlds(claim, relation, draw, 0.0)

    @property
    def _size(self) -> int:
        return int(getattr(self.query, "size", 1))

    def _price(self, mu: float, relation: Relation, records: int) -> AnyPrice:
        if isinstance(self.query, PerturbedMinimum):
            return minimum_price(mu, relation, records, pure=self.pure)
        kind, epsilon = KIND_OF[type(self.query)], Fraction(mu)
        if kind in SELECTIONS:
            return selection_price(kind, epsilon, relation)
        if not self.pure:
            allowed = mu_squared_of(Budget(mu=mu))
            return price_for(kind, allowed, relation, records=records, width=WIDTH, size=self._size)
        if kind is QueryKind.GRADIENT:
            return laplace_price(epsilon, relation, records=records, width=WIDTH)
        sensitivity = 2 if relation is Relation.REPLACE_ONE else 1
        return GammaPrice(math.floor(epsilon * 2**GAMMA_BITS / sensitivity), GAMMA_BITS)


class RememberingStore(MemoryStore):
    """Records that are asked one query at one price only: its sums are computed once."""

    def __init__(self, layout: Layout, blocks: Sequence[NDArray[Any]]) -> None:
        super().__init__(layout, blocks)
        self._sums: dict[tuple[str, bytes, int], Integers] = {}

    def total(self, function: Callable[[Layout, Any, int], BlockSum], query: Any, bound: int) -> Integers:
        """Return the integer sum over the records."""
        # Of a minimisation, which asks at the same points in every run.
        at = query[0] if isinstance(query, tuple) else getattr(query, "theta", None)
        key = function.__name__, b"" if at is None else at.tobytes(), bound
        if key not in self._sums:
            self._sums[key] = super().total(function, query, bound)
        return self._sums[key]


def prepared_table(records: Sequence[Record], kind: type[MemoryStore] = RememberingStore) -> MemoryStore:
    """A store of prepared records."""
    rows = np.array([[*row, response] for row, response in records], dtype=np.float32)
    layout = Layout(len(rows), WIDTH, rows.dtype, LANES)
    return kind(layout, [to_tiles(rows)])


def minimum_price(mu: float, relation: Relation, records: int, *, pure: bool = False) -> PerturbedPrice:
    """The price of a perturbed minimum with the ε that μ-GDP has at δ, or with ε = μ where it is pure."""
    model = LogisticRegression(
        budget=pure_budget(mu) if pure else approximate_budget(mu),
        solver="objective-perturbation",
        relation=str(relation),
        bounds=(-1, 1),
        classes=(0, 1),
    )
    price = model.plan(records, WIDTH - 1).steps[0].price
    assert isinstance(price, PerturbedPrice)  # noqa: S101 - for the type checker
    return price


# At theta = 0 the slope of the logistic loss is 1/2 - y, and its curvature is at its upper bound.
# A perturbed minimum is attacked through the intercept, which a forgotten penalty would lay bare. Up to a margin of
# 1/2 the slope of the hinge is at its bound, so a ridge of 4 makes a noisy minimum move by all it can. Means are of
# records whose last feature is 1: others are none.
_ONLY = Statistic("x", Cell("x", 0, 1.0), Interval(-1.0, 1.0))
_ABOVE, _BELOW = (np.array([sign, 0.0, 1.0]) for sign in (1.0, -1.0))
_OTHER = Statistic("w", Cell("w", 1, 1.0), Interval(-1.0, 1.0))
_OUTER = np.array([1.0, -1.0, 1.0])
_MINIMUM = NoisyMinimum(1.0, 4.0, None, classification.hinge())
QUERIES: Mapping[type, OneQuery] = {
    GradientSum: OneQuery(GradientSum(ZERO, BOUND / 2), (FIRST, 0.0), (FIRST, 1.0)),
    SecondMoments: OneQuery(SecondMoments(BOUND), (FIRST, 0.0), (SECOND, 0.0)),
    # Fewer than all the columns' squares cancel: a long row's vector is its square, and rows of ±1e-3 are values.
    ColumnMoments: OneQuery(ColumnMoments(np.full(WIDTH, 1e-3), ZERO, BOUND * 1e-3), (FIRST, 0.0), (-FIRST, 0.0)),
    CurvatureAndScore: OneQuery(
        CurvatureAndScore(ZERO, BOUND, None, classification.LOGISTIC), (FIRST, 0.0), (SECOND, 0.0)
    ),
    ColumnCounts: OneQuery(ColumnCounts((0,), np.array([0.5]), np.array([1.5])), (FIRST, 0.0), (SECOND, 0.0)),
    ResidualSize: OneQuery(ResidualSize(ZERO, BOUND), (FIRST, 1.0), (FIRST, 0.0)),
    GradientNorm: OneQuery(
        GradientNorm(ZERO, 1.0, BOUND, None, classification.LOGISTIC, start=BOUND / 2), (FIRST, 0.0), NOTHING
    ),
    CurvatureTrace: OneQuery(CurvatureTrace(ZERO, BOUND), (FIRST, 0.0), NOTHING),
    # The squares of 1 and of 0, with the response's own range for a cap; a blank record has none.
    DevianceSum: OneQuery(DevianceSum(ZERO, 1.0, regression.SQUARED), (FIRST, 1.0), NOTHING),
    DampedDirection: OneQuery(DampedDirection(ZERO, FIRST, BOUND, BOUND), (FIRST, 0.0), NOTHING),
    BoundedSums: OneQuery(BoundedSums((_ONLY,)), (_ABOVE, 0.0), (_BELOW, 0.0)),
    GroupSums: OneQuery(GroupSums((_ONLY,), Cell("y", WIDTH, 1.0), 2), (_ABOVE, 1.0), (_BELOW, 1.0)),
    ScoreHistogram: OneQuery(ScoreHistogram(FIRST, np.zeros(1)), (_ABOVE, 1.0), (_BELOW, 0.0)),
    PerturbedMinimum: OneQuery(PerturbedMinimum(1.0), (LAST, 1.0), (LAST, 0.0)),
    NoisyMinimum: OneQuery(_MINIMUM, (LAST, 1.0), (LAST, 0.0)),
    VertexChoice: OneQuery(
        VertexChoice(ZERO, np.ones(WIDTH), BOUND / 2, classification.LOGISTIC, constant=False),
        (FIRST, 0.0),
        (FIRST, 1.0),
    ),
    CandidateChoice: OneQuery(
        CandidateChoice(np.array([FIRST, -FIRST]), 1.0, zero_one=True), (FIRST, 0.0), (FIRST, 1.0)
    ),
    StatisticChoice: OneQuery(StatisticChoice((_ONLY, _OTHER)), (_OUTER, 0.0), (-_OUTER + 2 * LAST, 0.0)),
    PosteriorDraw: OneQuery(
        PosteriorDraw(1.0, 40.0, 2.0, 64, regression.smooth_huber(1.0)), (LAST, FAR_RESPONSE), (LAST, -FAR_RESPONSE)
    ),
    LossDifference: OneQuery(
        LossDifference(ZERO, FIRST, BOUND, BOUND / 4, classification.LOGISTIC), (FIRST, 0.0), (FIRST, 1.0)
    ),
}
"""By type of query: the one that is attacked, and the records that move it the most."""
_EVEN = np.full(WIDTH, 1 / math.sqrt(WIDTH))
PURE_QUERIES: Mapping[type, OneQuery] = {
    # Of all vectors of norm 1, the one whose entries have the largest sum.
    GradientSum: OneQuery(GradientSum(ZERO, BOUND / 2), (_EVEN, 0.0), (_EVEN, 1.0), pure=True),
    PerturbedMinimum: replace(QUERIES[PerturbedMinimum], pure=True),
    NoisyMinimum: replace(QUERIES[NoisyMinimum], pure=True),
}
"""Those that have a price with δ = 0."""


def relations_of(query: type) -> tuple[Relation, ...]:
    """Relations under which a query is answered, that of the canonical attack first."""
    known = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
    return known if query in {PerturbedMinimum, NoisyMinimum} else (*known, Relation.ADD_REMOVE)
