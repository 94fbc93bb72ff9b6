"""Blocks that the attacker knows, and the law of a median of their results.

A guarantee holds for every partition, so an audit may fix it: the attacker then knows more than anybody does.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tacit.audit.bounds import Floats
from tacit.audit.shift import Shift
from tacit.contract.block_price import ChoicePrice
from tacit.contract.block_query import BlackBox, BlockMedian
from tacit.contract.query import Answer, QueryKind
from tacit.mechanisms.block_median import CELLS, side_counts
from tacit.mechanisms.block_results import black_box_rows, members_of
from tacit.privacy.relation import Relation
from tacit.rows.storage.gathered_rows import gather
from tacit.rows.storage.store import Store

SLACK = Fraction(1 + 2.0**-20)
"""For probabilities that are computed in floats."""
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class KnownDraws:
    """Units in turn, counted from the last: tables differ in their first record, so all others stay where they are."""

    def blocks(self, units: int, blocks: int) -> Integers:
        """The block of each unit."""
        return np.arange(units)[::-1] % blocks

    def order(self, rows: int) -> Integers:
        """The last row first."""
        return np.arange(rows)[::-1]


def known_results(function: BlackBox, blocks: int, store: Store) -> Floats:
    """Results of a black box on known blocks, in this process."""
    program = pickle.loads(function.program)  # noqa: S301 - pickled by the audit
    gathered = gather(store)
    members = members_of(gathered.units, store.length, blocks, KnownDraws())
    found = black_box_rows(function, gathered.rows, members)
    return np.array([function.default if block is None else program(*block) for block in found], dtype=np.float64)


@dataclass(frozen=True)
class MedianLaw:
    """Medians of the results of two tables: the exact probabilities of every cell."""

    query: BlockMedian
    price: ChoicePrice
    results: tuple[Floats, ...]

    @cached_property
    def log_probabilities(self) -> tuple[Floats, Floats]:
        """Of both tables, (coordinate, cell)."""
        found = []
        for results in self.results:
            shares = np.clip((results - self.query.lower) / (self.query.upper - self.query.lower), 0.0, 1.0)
            places = np.minimum((shares * CELLS).astype(np.int64), CELLS - 1)
            weights = np.array([-float(self.price.rate) * side_counts(column) for column in places.T])
            found.append(weights - np.logaddexp.reduce(weights, axis=1)[:, None])
        return found[0], found[1]

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of medians."""
        first, second = self.log_probabilities
        cells = np.rint(((answer.value + 1.0) * CELLS - 1.0) / 2.0).astype(np.int64)
        return float((second - first)[np.arange(len(cells)), cells].sum())

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """The largest ratio of probabilities of any cell, of all medians, against their η."""
        del answer, relation
        first, second = self.log_probabilities
        largest = float(np.abs(second - first).max(axis=1).sum())
        return (Shift(QueryKind.BLOCK_MEDIAN, Fraction(largest), 2 * self.price.rate * size * SLACK),)
