"""What tests of every mechanism share: the integers that are noised, and which mechanisms sum."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from tacit.contract.block_query import AnyBlockQuery
from tacit.contract.column_query import ColumnMoments
from tacit.contract.deviance_query import DevianceSum
from tacit.contract.grouped_query import GroupedQuery
from tacit.contract.network_query import NetworkGradient
from tacit.contract.query import (
    KIND_OF,
    BatchGradientSum,
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
from tacit.contract.selection_query import SelectionQuery
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.mechanisms.column_moments import integer_column_moments
from tacit.mechanisms.counts import integer_counts, integer_measures
from tacit.mechanisms.deviance import integer_deviances
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.means import integer_sums
from tacit.mechanisms.moments import integer_pairs, integer_second_moments
from tacit.mechanisms.newton_direction import integer_curvature
from tacit.mechanisms.query_responder import MECHANISMS
from tacit.mechanisms.score_histogram import integer_histogram
from tacit.rows.storage.store import Store

NO_SUMS = frozenset({PerturbedMinimum, NoisyMinimum, DampedDirection, BatchGradientSum, NetworkGradient})
NO_SUMS |= {*get_args(SelectionQuery), *get_args(AnyBlockQuery)}
"""Minima, directions, selections, blocks and secret batches are no sums of all records and have tests of their own."""


def _integer_sum(query: Query, bound: int, store: Store) -> list[int]:
    if isinstance(query, SecondMoments):
        found = integer_second_moments(query, bound, store)
    elif isinstance(query, ColumnCounts):
        found = integer_counts(query, bound, store)
    elif isinstance(query, ColumnMoments):
        found = integer_column_moments(query, bound, store)
    elif isinstance(query, BoundedSums | GroupSums):
        found = integer_sums(query, bound, store)
    elif isinstance(query, DevianceSum):
        found = integer_deviances(query, bound, store)
    else:
        assert not isinstance(query, GroupedQuery | SelectionQuery | AnyBlockQuery | NetworkGradient)
        # As the responder does: the rows are brought to the query's coordinates first.
        rows = store if query.matrix is None else store.map(query.matrix)
        there = replace(query, matrix=None)
        if isinstance(there, CurvatureAndScore):
            found = integer_pairs(there, bound, rows)
        elif isinstance(there, ResidualSize | GradientNorm):
            found = integer_measures(there, bound, rows)
        elif isinstance(there, ScoreHistogram):
            found = integer_histogram(there, bound, rows)
        elif isinstance(there, CurvatureTrace):
            found = np.array([np.trace(integer_curvature(there, bound, rows))])
        else:
            assert isinstance(there, GradientSum)
            found = integer_gradient_sum(there, bound, rows)
    return [int(entry) for entry in found.ravel()]


@pytest.fixture
def integer_sum() -> Callable[[Query, int, Store], list[int]]:
    """The sum that is noised, in exact integers."""
    return _integer_sum


@pytest.fixture
def require_all_sums() -> Callable[[Iterable[Query]], None]:
    """Fail unless every mechanism of the registry that sums over records is among the queries."""

    def require(queries: Iterable[Query]) -> None:
        kinds = {type(query) for query in queries}
        assert kinds == set(MECHANISMS) - NO_SUMS
        assert {KIND_OF[kind] for kind in kinds} == set(QueryKind) - (
            {KIND_OF[kind] for kind in NO_SUMS} - {QueryKind.MEANS}
        )

    return require
