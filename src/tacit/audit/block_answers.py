"""Attacks on one private answer about blocks: results of which one is moved as far as a block can be.

The results are made here, and no function is run: the noise is that of the mechanism itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.accounting.composition import compose, mu_squared_of
from tacit.audit.answer_laws import NoiseLaw
from tacit.audit.attack import DELTA, Worlds
from tacit.audit.block_laws import block_law
from tacit.audit.bounds import Floats
from tacit.audit.deep_points import deep_results
from tacit.audit.shift import AnswerLaw
from tacit.audit.single_answers import NOTHING, prepared_table
from tacit.contract.block_price import ChoicePrice, depth_price
from tacit.contract.block_query import (
    AnyBlockQuery,
    BlockDepth,
    BlockMean,
    BlockMedian,
    LeastSquares,
    VoteChecks,
    VoteCounts,
)
from tacit.contract.query import KIND_OF, Answer
from tacit.contract.sensitivity import AnyPrice, Price, events_of, price_for
from tacit.mechanisms.query_responder import Responder
from tacit.privacy.budget import Budget
from tacit.privacy.relation import Relation

BLOCKS = 40


class KnownResults(Responder):
    """Answers about results of blocks that were made up."""

    def __init__(self, results: Floats, *, private: bool, seed: int | None = None) -> None:
        super().__init__(prepared_table([NOTHING]), private=private, seed=seed)
        self._known = results

    def _results_of(self, query: AnyBlockQuery) -> Floats:
        del query
        return self._known


@dataclass(frozen=True)
class OneBlockQuery:
    """A query, and results of blocks; in the other world the last block has the opposite result."""

    query: AnyBlockQuery
    results: Floats
    opposite: Floats

    def worlds(self, relation: Relation, mu: float, seed: int | None) -> Worlds:
        """The two worlds; which of the relations it is makes no difference to blocks."""
        moved = self.results.copy()
        moved[-1] = self.opposite
        size = int(getattr(self.query, "size", 1))
        price: AnyPrice
        if isinstance(self.query, BlockMedian):
            price = ChoicePrice(Fraction(mu) / (2 * size))
        else:
            kind, allowed = KIND_OF[type(self.query)], mu_squared_of(Budget(mu=mu))
            price = price_for(kind, allowed, relation, records=len(moved), width=moved.shape[1], size=size)
        return self._drawn(price, moved, relation, seed)

    def _drawn(self, price: AnyPrice, moved: Floats, relation: Relation, seed: int | None) -> Worlds:
        both = (self.results, moved)
        size = int(getattr(self.query, "size", 1))
        claim = compose(events_of(KIND_OF[type(self.query)], price, relation, size), relation)
        seeds = [None if seed is None else 2 * seed + world for world in (0, 1)]
        tables = [KnownResults(each, private=True, seed=own) for each, own in zip(both, seeds, strict=True)]
        score = self._score(price, both)

        def draw(world: int, runs: int) -> Floats:
            return np.array([score(tables[world].answer(self.query, price)) for _ in range(runs)])

        return Worlds(claim, relation, draw, 0.0)

    def _score(self, price: AnyPrice, both: tuple[Floats, Floats]) -> Callable[[Answer], float]:
        law: AnswerLaw
        if isinstance(self.query, BlockMedian | BlockDepth):
            law = block_law(self.query, price, both)
        else:
            assert isinstance(price, Price)  # noqa: S101 - for the type checker
            exact = [KnownResults(each, private=False).answer(self.query, price).value for each in both]
            law = NoiseLaw(KIND_OF[type(self.query)], price, exact[0], exact[1])
        return law.log_ratio


@dataclass(frozen=True)
class OneDeepPoint:
    """A deep point, of results that depend on its price; μ stands for its ε."""

    def worlds(self, relation: Relation, mu: float, seed: int | None) -> Worlds:
        """The two worlds."""
        price = depth_price(Fraction(mu), Fraction(DELTA))
        found = deep_results(price, 1)
        case = OneBlockQuery(BlockDepth(_ONE, len(found.first)), found.first, found.moved)
        return case._drawn(price, found.second, relation, seed)  # noqa: SLF001


_ONE = LeastSquares(1)
_LOW, _HIGH = np.full((BLOCKS, 1), -1.0), np.array([1.0])
# As many blocks below each cell as above it, but for two: one block that goes from the last cell to the first makes the
# cells below these two better by one, and all others worse. The former are one in twenty.
_SIDES = np.concatenate([np.full(BLOCKS // 2 - 1, -1.0), [-0.9, -0.9], np.full(BLOCKS // 2 - 1, 1.0)]).reshape(-1, 1)
# Half of the blocks vote for each of two classes, so that one more shows in the largest count too.
_EVEN = np.where(np.arange(BLOCKS) < BLOCKS // 2, 0.0, 1.0).reshape(-1, 1)
BLOCK_QUERIES: Mapping[type, OneBlockQuery | OneDeepPoint] = {
    BlockMean: OneBlockQuery(BlockMean(_ONE, BLOCKS, np.zeros(1), np.ones(1), 1.0), _LOW, _HIGH),
    BlockMedian: OneBlockQuery(BlockMedian(_ONE, BLOCKS, np.full(1, -1.0), np.ones(1)), _SIDES, -_HIGH),
    BlockDepth: OneDeepPoint(),
    VoteChecks: OneBlockQuery(VoteChecks(_ONE, BLOCKS, 2), np.zeros((BLOCKS, 1)), _HIGH),
    VoteCounts: OneBlockQuery(VoteCounts(_ONE, BLOCKS, 2, (0,)), _EVEN, np.zeros(1)),
}
"""By type of query: the one that is attacked, and the results that it is about."""
