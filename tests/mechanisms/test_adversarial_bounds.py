"""Attacks on the privacy claim, kept as tests: no record or person outgrows a bound, in any sum."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import (
    KIND_OF,
    ColumnCounts,
    CurvatureAndScore,
    GradientNorm,
    GradientSum,
    Measure,
    Query,
    ResidualSize,
    SecondMoments,
    Weights,
)
from tacit.contract.sensitivity import squared_sensitivity
from tacit.losses import classification, poisson, regression
from tacit.losses.loss import Loss
from tacit.mechanisms.counts import integer_counts, integer_measures
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.moments import integer_pairs, integer_second_moments
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import BLOCK_ROWS, SparseBlock, SparseStore
from tacit.rows.storage.store import Layout, Store
from tacit.rows.storage.tiles import LANES, tile_count
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

Rng = np.random.Generator
Table = NDArray[Any]

UNIT_ROWS = 4
LOSSES = (
    classification.LOGISTIC,
    regression.SQUARED,
    regression.huber(0.5),
    regression.smooth_huber(1.3),
    classification.hinge(),
    poisson.loss(2.0, 5.0),
    regression.pinball(0.3),
    regression.DISTANCE,
    poisson.bounded(2.0, 0.3, 4.0),
    poisson.weighted(2.0, 3.0, 50.0),
    classification.weighted_logistic(0.05),
)
LABELS = [0, 1, 0, 1, 0.5, 2, 7, -3, 1e30, -1e300, math.nan, math.inf]
OFFSETS = [0, 1, -1e6, 1e300, math.nan, math.inf, -math.inf]
WEIGHTS = [0, 1, 0.5, 1e-40, 5e-324, 1 - 2.0**-24]
"""What a store may hold, and below what none holds: passes are safe from either."""
WILD = [*WEIGHTS, 2, 100, -1, -100, 1e300, -1e300, math.nan, math.inf, -math.inf]


def hostile_features(rng: Rng, width: int, dtype: Any, *, finite: bool) -> Table:
    """A row meant to outgrow its bound."""
    makers: list[Callable[[], NDArray[np.float64]]] = [
        lambda: rng.normal(size=width),
        lambda: rng.normal(size=width) * 10.0 ** rng.uniform(-3, 12),
        lambda: np.full(width, (0.5 + 2.0**-53) * 10.0 ** rng.integers(-30, 30)),
        lambda: 10.0 ** rng.uniform(-320, 308, width),
        lambda: rng.choice([0.0, -0.0, 5e-324, 2.2e-308, 2.0**-300, 1.0, 1e153, -1.7e308], width),
    ]
    with np.errstate(over="ignore"):
        signed = makers[rng.integers(len(makers))]() * rng.choice([-1, 1], width)
        row: Table = signed.astype(dtype)
    row[~np.isfinite(row)] = np.finfo(dtype).max
    if not finite and rng.random() < 0.5:
        row[rng.integers(width)] = rng.choice([math.nan, math.inf, -math.inf])
    return row


def hostile_table(
    rng: Rng, rows: int, width: int, *, weights: list[float], finite: bool, dtype: Any = np.float64
) -> Table:
    """Records with weights and offsets, all of them meant to do harm."""
    table = np.zeros((rows, width + 3), dtype=dtype)
    for row in table:
        with np.errstate(over="ignore"):
            row[:width] = hostile_features(rng, width, dtype, finite=finite)
            row[width:] = [rng.choice(cells) for cells in (LABELS, weights, OFFSETS)]
    return table


def hostile_query(rng: Rng, width: int) -> Query:
    """A query of any kind, at parameters as large as they may be."""
    loss = LOSSES[rng.integers(len(LOSSES))]
    bounded = loss if math.isfinite(loss.lipschitz) else classification.LOGISTIC
    theta = rng.choice([0.0, 1e100, -1e100, 1.0, 1.0], width) * rng.uniform(-1, 1, width)
    bound = float(10.0 ** rng.uniform(*((-100, 100) if rng.random() < 0.5 else (-2, 2))))
    classes = rng.normal(size=(width, 3)) * 10.0 ** rng.uniform(-3, 9)
    plain = rng.random() < 0.6
    matrix = None if plain else rng.normal(size=(width, width)) * 10.0 ** rng.uniform(-15, 14)
    columns = tuple(rng.integers(0, width + 1, 3).tolist())
    makers: list[Callable[[], Query]] = [
        lambda: GradientSum(theta, bound, downweighted=bool(rng.integers(2)), loss=loss),
        lambda: GradientSum(theta, bound, balanced=True),
        lambda: GradientSum(classes, bound, loss=classification.SOFTMAX),
        lambda: SecondMoments(bound, matrix),
        lambda: SecondMoments(bound, matrix, theta, Weights.CURVATURE, loss),
        lambda: SecondMoments(bound, matrix, theta, Weights.SCORE, bounded),
        lambda: CurvatureAndScore(theta, bound, matrix, bounded),
        lambda: CurvatureAndScore(
            theta,
            bound,
            matrix,
            replace(loss, lipschitz=float(10.0 ** rng.uniform(-5, 5))),
            score_share=float(rng.choice([1e-6, 0.4, 1.0])),
        ),
        lambda: GradientNorm(
            theta,
            bound,
            float(10.0 ** rng.uniform(-5, 5)),
            matrix,
            loss,
            measure=[Measure.WITHIN, Measure.SHARE][rng.integers(2)],
            start=float(rng.choice([0, -1, 0.5, 1e100])),
        ),
        lambda: ColumnCounts(columns, rng.choice([-math.inf, -1, 0, 0.5], 3), rng.choice([math.inf, 1, 0, 0.7], 3)),
        lambda: ResidualSize(
            theta,
            bound,
            lowest=float(rng.choice([-1, 0.5, -1e100])),
            highest=float(rng.choice([1, 2, 800, 1e100])),
            measure=list(Measure)[rng.integers(len(Measure))],
            start=float(rng.choice([0, -1, 1e100])),
            exponential=bool(rng.integers(2)),
        ),
    ]
    return makers[rng.integers(len(makers))]()


def integers(query: Query, bound: int, store: Store) -> list[int]:
    """The sum that is noised, as exact integers; no warning may tell of a record."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        match query:
            case GradientSum():
                total = integer_gradient_sum(query, bound, store)
            case SecondMoments():
                total = integer_second_moments(query, bound, store)
            case CurvatureAndScore():
                total = integer_pairs(query, bound, store)
            case ColumnCounts():
                total = integer_counts(query, bound, store)
            case ResidualSize() | GradientNorm():
                total = integer_measures(query, bound, store)
    return [int(number) for number in total.ravel()]


def within(query: Query, total: list[int], bound: int) -> bool:
    if isinstance(query, ColumnCounts | GradientNorm | ResidualSize):
        return all(0 <= number <= bound for number in total)
    return sum(number**2 for number in total) <= bound**2


def dense(table: Table, block_rows: int | None = None) -> Store:
    return memory_store(table, block_rows, weighted=True, shifted=True)


def persons(tables: list[Table], block_tiles: int | None = None) -> Store:
    return person_store(tables, UNIT_ROWS, block_tiles=block_tiles, weighted=True, shifted=True)


def sparse(table: Table) -> Store:
    """The same records, zeros left out; one block."""
    width, tiles = table.shape[1] - 3, tile_count(len(table))
    starts = np.zeros(tiles * LANES + 1, dtype=np.int64)
    starts[1 : len(table) + 1] = np.cumsum((table[:, :width] != 0).sum(axis=1))
    starts[len(table) + 1 :] = starts[len(table)]
    rows, columns = np.nonzero(table[:, :width])
    behind = np.zeros((tiles * LANES, 3), dtype=table.dtype)
    behind[: len(table)] = table[:, width:]
    block = SparseBlock(
        starts,
        columns.astype(np.int32),
        table[rows, columns],
        np.ascontiguousarray(behind.reshape(tiles, LANES, 3).transpose(0, 2, 1)),
    )
    layout = Layout(len(table), width, table.dtype, BLOCK_ROWS, weighted=True, shifted=True)
    return SparseStore(layout, [block])


def countable(query: Query, width: int) -> bool:
    """Whether sparse records answer it: of counts, those of the response alone."""
    return not isinstance(query, ColumnCounts) or set(query.columns) == {width}


@pytest.mark.parametrize("finite", [True, False])
@pytest.mark.parametrize("storage", ["dense", "single", "sparse", "persons"])
def test_nothing_that_a_unit_holds_outgrows_the_bound(storage: str, finite: bool) -> None:
    """Weights beyond [0, 1], labels of no class, numbers that are none: the passes bound all."""
    rng = np.random.default_rng(17 + finite)
    for _ in range(600):
        width = int(rng.choice([1, 2, 3, 5, 9, 33]))
        query = hostile_query(rng, width)
        bound = int(rng.choice([0, 1, math.isqrt(width) + 1, int(2 ** rng.uniform(0, 36)), 2**36]))
        rows = int(rng.integers(1, UNIT_ROWS + 1)) if storage == "persons" else 1
        dtype = np.float32 if storage == "single" else np.float64
        table = hostile_table(rng, rows, width, weights=WILD, finite=finite, dtype=dtype)
        if storage == "persons":
            store = persons([table])
        elif storage == "sparse" and countable(query, width):
            store = sparse(table)
        else:
            store = dense(table)
        assert within(query, integers(query, bound, store), bound), (query, bound, table)


@pytest.mark.parametrize("finite", [True, False])
def test_the_integers_of_a_unit_depend_on_that_unit_alone(finite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on place, block, threads and neighbours nor on whether zeros are written out."""
    rng = np.random.default_rng(5 + finite)
    for _ in range(12):
        monkeypatch.setenv("TACIT_THREADS", str(rng.integers(1, 4)))
        width, units = int(rng.choice([1, 2, 3, 5, 9])), int(rng.integers(1, 150))
        query, bound = hostile_query(rng, width), int(2 ** rng.uniform(0, 36))
        table = hostile_table(rng, units, width, weights=WEIGHTS, finite=finite)
        alone = [integers(query, bound, dense(row[None])) for row in table]
        stores = [dense(table[rng.permutation(units)], LANES * int(rng.integers(1, 4)))]
        if countable(query, width):
            stores.append(sparse(table))
        for store in stores:
            assert congruent(integers(query, bound, store), alone), query
        sizes = rng.integers(1, UNIT_ROWS + 1, units)
        people = [hostile_table(rng, size, width, weights=WEIGHTS, finite=finite) for size in sizes]
        alone = [integers(query, bound, persons([person])) for person in people]
        shuffled = [people[index] for index in rng.permutation(units)]
        together = integers(query, bound, persons(shuffled, int(rng.integers(1, 40))))
        assert congruent(together, alone), query


def congruent(total: list[int], parts: list[list[int]]) -> bool:
    """Whether the parts add up to the total, modulo 2^64."""
    sums = [sum(column) for column in zip(*parts, strict=True)]
    return all((one - other) % 2**64 == 0 for one, other in zip(total, sums, strict=True))


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("relation", list(Relation))
def test_no_pair_of_units_is_further_apart_than_the_relation_says(relation: Relation, several: bool) -> None:
    """All pairs out of many hostile units, compared as integers with the squared sensitivity."""
    rng = np.random.default_rng(several)
    bound = 2**20
    for _ in range(25):
        query = hostile_query(rng, 2)
        tables = [
            hostile_table(rng, int(rng.integers(1, UNIT_ROWS + 1)), 2, weights=WILD, finite=True) for _ in range(40)
        ]
        stores = [persons([table]) if several else dense(table[:1]) for table in tables]
        sums = [np.array(integers(query, bound, store), dtype=object) for store in stores]
        if relation is Relation.REPLACE_ONE:
            changes = [one - other for one in sums for other in sums]
        elif relation is Relation.ZERO_OUT:
            zeros = [np.zeros((1, 5))]
            gone = integers(query, bound, persons(zeros) if several else dense(zeros[0]))
            changes = [one - np.array(gone, dtype=object) for one in sums]
        else:
            changes = sums
        size = getattr(query, "size", 1)
        allowed = squared_sensitivity(KIND_OF[type(query)], bound, relation, size)
        assert max(int((change**2).sum()) for change in changes) <= allowed, query


@pytest.mark.parametrize("loss", LOSSES[:3])
@pytest.mark.parametrize("weight", [2.0, 100.0, -100.0, 1e300, math.inf, -math.inf, math.nan])
def test_a_weight_that_no_store_holds_does_not_lengthen_a_score(weight: float, loss: Loss) -> None:
    """Regression: the score's factor was multiplied by any weight, after the norm was bounded."""
    bounded = loss if math.isfinite(loss.lipschitz) else regression.huber(0.5)
    query = SecondMoments(0.1, None, np.array([0.3, -0.2]), Weights.SCORE, bounded)
    for length in (0.05, 1.0, 30.0):
        table = np.array([[length, -length, 1.0, weight, 0.0]])
        assert within(query, integers(query, 2**36, dense(table)), 2**36)


@pytest.mark.parametrize("weight", [math.inf, -math.inf, math.nan, 1e300])
def test_a_weight_that_no_store_holds_does_not_lengthen_a_class_gradient(weight: float) -> None:
    """Regression: min(scale, not a number) is the scale, which bounds nothing."""
    query = GradientSum(np.array([[40.0, -40.0, -900.0]]), 1e-3, loss=classification.SOFTMAX)
    for label in (0.0, 1.0, 5.0):
        table = np.array([[30.0, label, weight, 0.0]])
        assert within(query, integers(query, 2**36, dense(table)), 2**36)


def test_a_negative_weight_makes_no_room_for_other_records_of_a_person() -> None:
    """Regression: it was taken off the sum of squares that all records are shrunk by."""
    rows = np.array([[100.0, 0.0, 1.0, 1.0, 0.0], [0.0, 100.0, 1.0, -1.0, 0.0]])
    query = SecondMoments(1.0)
    assert within(query, integers(query, 2**36, persons([rows])), 2**36)


def test_sums_that_wrap_do_so_modulo_two_to_the_64() -> None:
    """The noise is added in the same ring, so that reduction is post-processing."""
    table = np.tile([1.0, 0.0, 1.0, 0.0], (20_000, 1))
    query, bound = GradientSum(np.array([40.0]), 1e-9), 2**50
    alone = integers(query, bound, dense(table[:1]))
    assert alone[0] * len(table) > 2**63
    assert congruent(integers(query, bound, dense(table)), [alone] * len(table))
