"""Blocks that the attacker knows, and the laws of a median and of a deep point of their results.

A guarantee holds for every partition, so an audit may fix it: the attacker then knows more than anybody does.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.audit.bounds import Floats
from tacit.audit.shift import Shift
from tacit.contract.block_price import ChoicePrice, DepthPrice
from tacit.contract.block_query import BlackBox, BlockDepth, BlockMedian
from tacit.contract.query import Answer, QueryKind
from tacit.mechanisms.block_depth import boxes, distance, log_volumes, outermost
from tacit.mechanisms.block_median import CELLS, side_counts
from tacit.mechanisms.block_results import black_box_rows, members_of
from tacit.privacy.relation import Relation
from tacit.rows.storage.gathered_rows import gather
from tacit.rows.storage.store import Store

SLACK = Fraction(1 + 2.0**-20)
"""For probabilities that are computed in floats."""
FAR = 60.0
"""Logarithm of a ratio of densities where one of them is 0."""
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


@dataclass(frozen=True)
class DepthLaw:
    """Deep points among the results of two tables: whether the test was passed, and the density of the point."""

    query: BlockDepth
    price: DepthPrice
    results: tuple[Floats, ...]

    @cached_property
    def distances(self) -> tuple[int, int]:
        """What the stability test adds its noise to, on both tables."""
        found = [distance(log_volumes(*boxes(it)), self.query.blocks, self.price) for it in self.results]
        return found[0], found[1]

    @cached_property
    def log_shares(self) -> tuple[tuple[float, float], ...]:
        """Logarithms of the probabilities to fail the test and to pass it, on both tables."""
        test, found = float(self.price.test), []
        for own in self.distances:
            needed = self.price.threshold - own
            # P(noise ≥ m) = e^(-test·m) / (1 + e^(-test)) for m ≥ 1, and the noise is symmetric.
            rare = math.exp(-test * max(needed, 1 - needed)) / (1.0 + math.exp(-test))
            logs = math.log(rare), math.log1p(-rare)
            found.append((logs[1], logs[0]) if needed >= 1 else logs)
        return tuple(found)

    @cached_property
    def log_masses(self) -> tuple[float, ...]:
        """Logarithms of the normalising constants of both densities."""
        found, rate = [], float(self.price.rate)
        for results in self.results:
            volumes = log_volumes(*boxes(results))[outermost(self.query.blocks) - 1 :]
            depths = rate * np.arange(len(volumes))
            # Σ e^(r·i) (V_i - V_(i+1)) = V_0 + Σ (e^(r·i) - e^(r·(i - 1))) V_i, without differences of volumes.
            terms = volumes + depths + np.append(0.0, np.full(len(volumes) - 1, math.log1p(-math.exp(-rate))))
            found.append(float(np.logaddexp.reduce(terms)))
        return tuple(found)

    def depth(self, point: Floats, world: int) -> int:
        """The smallest number of blocks beyond a point, in any coordinate and direction."""
        results = self.results[world]
        return int(min((results <= point).sum(axis=0).min(), (results >= point).sum(axis=0).min()))

    def log_ratio(self, answer: Answer) -> float:
        """Logarithm of P₁ / P₀ of a point, or of none."""
        first, second = self.log_shares
        if np.isnan(answer.value).any():
            return second[0] - first[0]
        outer = outermost(self.query.blocks)
        depths = [self.depth(answer.value, world) for world in (0, 1)]
        if min(depths) < outer:
            return FAR * float(np.sign(depths[1] - depths[0]))
        moved = float(self.price.rate) * (depths[1] - depths[0]) - (self.log_masses[1] - self.log_masses[0])
        return second[1] - first[1] + moved

    def shifts(self, answer: Answer, relation: Relation, size: int) -> tuple[Shift, ...]:
        """How far the distances and the depths of any point are apart, against the ε of the test and of the point."""
        del answer, relation, size
        moves = [0]
        for first, second in zip(self.results[0].T, self.results[1].T, strict=True):
            ends = np.unique(np.concatenate([first, second]))
            places = np.concatenate([ends, (ends[1:] + ends[:-1]) / 2])[:, np.newaxis]
            one, two = (np.minimum((own <= places).sum(axis=1), (own >= places).sum(axis=1)) for own in (first, second))
            moves += [int((two - one).min()), int((two - one).max())]
        first_distance, second_distance = self.distances
        test = Shift(QueryKind.BLOCK_DEPTH, self.price.test * abs(second_distance - first_distance), self.price.test)
        return test, Shift(QueryKind.BLOCK_DEPTH, self.price.rate * (max(moves) - min(moves)), 2 * self.price.rate)


def block_law(query: BlockMedian | BlockDepth, price: Any, results: tuple[Floats, ...]) -> MedianLaw | DepthLaw:
    """The law of a median or of a deep point of the results of two tables."""
    return MedianLaw(query, price, results) if isinstance(query, BlockMedian) else DepthLaw(query, price, results)
