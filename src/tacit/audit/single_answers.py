"""Attacks on one private answer: two records that move its sum as far as the sensitivity says.

The sum of a table is computed once and the noise is drawn afresh in every run, by the mechanism itself. The score is
the log-likelihood ratio of the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.accounting.composition import compose, mu_squared_of
from tacit.audit.attack import Worlds, approximate_budget
from tacit.audit.bounds import Floats
from tacit.audit.twin_tables import MinimumDensities, Noiseless, gaussian_log_ratio
from tacit.contract.query import (
    KIND_OF,
    Answer,
    ColumnCounts,
    CurvatureAndScore,
    CurvatureTrace,
    DampedDirection,
    GradientNorm,
    GradientSum,
    PerturbedMinimum,
    Query,
    ResidualSize,
    SecondMoments,
)
from tacit.contract.sensitivity import AnyPrice, MinimumPrice, events_of, price_for
from tacit.estimators.classifiers import LogisticRegression
from tacit.losses import classification
from tacit.mechanisms.query_responder import Responder
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

Record = tuple[Floats, float]
"""A prepared row and its response."""
NOTHING: Record = (ZERO, 0.0)


@dataclass(frozen=True)
class OneQuery:
    """A query, and two records that move its answer the most; against none, only the first."""

    query: Query
    first: Record
    second: Record

    def worlds(self, relation: Relation, mu: float, seed: int | None) -> Worlds:
        """The two tables of a relation: a record and the other, a blank one, or none."""
        rows = {
            Relation.REPLACE_ONE: (self.second, self.first),
            Relation.ZERO_OUT: (NOTHING, self.first),
            Relation.ADD_REMOVE: (None, self.first),
        }[relation]
        # A minimisation asks for sums at many points: those are not remembered.
        minimum = isinstance(self.query, PerturbedMinimum)
        storage = MemoryStore if minimum else RememberingStore
        stores = [prepared_table([NOTHING] if row is None else [row, NOTHING], storage) for row in rows]
        kind = KIND_OF[type(self.query)]
        price: AnyPrice
        if minimum:
            price = minimum_price(mu, relation, len(rows))
        else:
            size = getattr(self.query, "size", 1)
            allowed = mu_squared_of(Budget(mu=mu))
            price = price_for(kind, allowed, relation, records=len(rows), width=WIDTH, size=size)
        claim = compose(events_of(kind, price, relation, getattr(self.query, "size", 1)), relation)
        responders = [
            Responder(store, private=True, seed=None if seed is None else 2 * seed + k)
            for k, store in enumerate(stores)
        ]
        score = self._score(price, [Noiseless(store) for store in stores])

        def draw(world: int, runs: int) -> Floats:
            return np.array([score(responders[world].answer(self.query, price)) for _ in range(runs)])

        return Worlds(claim, relation, draw, 0.0)

    def _score(self, price: AnyPrice, tables: list[Noiseless]) -> Callable[[Answer], float]:
        query = self.query
        if isinstance(query, PerturbedMinimum):
            assert isinstance(price, MinimumPrice)  # noqa: S101 - for the type checker
            return lambda answer: MinimumDensities.at(answer.value, query, price, tables).log_ratio
        first, second = (table.answer(query, price).value for table in tables)
        return lambda answer: gaussian_log_ratio(first, second, answer)


class RememberingStore(MemoryStore):
    """Records that are asked one query at one price only: its sum is computed once."""

    def __init__(self, layout: Layout, blocks: Sequence[NDArray[Any]]) -> None:
        super().__init__(layout, blocks)
        self._sums: dict[tuple[object, int], Integers] = {}

    def total(self, function: Callable[[Layout, Any, int], BlockSum], query: Any, bound: int) -> Integers:
        """Return the integer sum over the records."""
        key = function.__name__, bound
        if key not in self._sums:
            self._sums[key] = super().total(function, query, bound)
        return self._sums[key]


def prepared_table(records: Sequence[Record], kind: type[MemoryStore] = RememberingStore) -> MemoryStore:
    """A store of prepared records."""
    rows = np.array([[*row, response] for row, response in records], dtype=np.float32)
    layout = Layout(len(rows), WIDTH, rows.dtype, LANES)
    return kind(layout, [to_tiles(rows)])


def minimum_price(mu: float, relation: Relation, records: int) -> MinimumPrice:
    """The price of a perturbed minimum with the ε that μ-GDP has at δ."""
    model = LogisticRegression(
        budget=approximate_budget(mu),
        solver="objective-perturbation",
        relation=str(relation),
        bounds=(-1, 1),
        classes=(0, 1),
    )
    price = model.plan(records, WIDTH - 1).steps[0].price
    assert isinstance(price, MinimumPrice)  # noqa: S101 - for the type checker
    return price


# At theta = 0 the slope of the logistic loss is 1/2 - y, and its curvature is at its upper bound.
# A perturbed minimum is attacked through the intercept, which a forgotten penalty would lay bare.
QUERIES: Mapping[type, OneQuery] = {
    GradientSum: OneQuery(GradientSum(ZERO, BOUND / 2), (FIRST, 0.0), (FIRST, 1.0)),
    SecondMoments: OneQuery(SecondMoments(BOUND), (FIRST, 0.0), (SECOND, 0.0)),
    CurvatureAndScore: OneQuery(
        CurvatureAndScore(ZERO, BOUND, None, classification.LOGISTIC), (FIRST, 0.0), (SECOND, 0.0)
    ),
    ColumnCounts: OneQuery(ColumnCounts((0,), np.array([0.5]), np.array([1.5])), (FIRST, 0.0), (SECOND, 0.0)),
    ResidualSize: OneQuery(ResidualSize(ZERO, BOUND), (FIRST, 1.0), (FIRST, 0.0)),
    GradientNorm: OneQuery(
        GradientNorm(ZERO, 1.0, BOUND, None, classification.LOGISTIC, start=BOUND / 2), (FIRST, 0.0), NOTHING
    ),
    CurvatureTrace: OneQuery(CurvatureTrace(ZERO, BOUND), (FIRST, 0.0), NOTHING),
    DampedDirection: OneQuery(DampedDirection(ZERO, FIRST, BOUND, BOUND), (FIRST, 0.0), NOTHING),
    PerturbedMinimum: OneQuery(PerturbedMinimum(1.0), (LAST, 1.0), (LAST, 0.0)),
}
"""By type of query: the one that is attacked, and the records that move it the most."""


def relations_of(query: type) -> tuple[Relation, ...]:
    """Relations under which a query is answered, that of the canonical attack first."""
    known = (Relation.REPLACE_ONE, Relation.ZERO_OUT)
    return known if query is PerturbedMinimum else (*known, Relation.ADD_REMOVE)
