"""Attacks on the sums of the last step, kept as tests: gradient norms, and pairs with a share.

Integers are compared before noise: between neighbours, and record by record against their bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import CurvatureAndScore, GradientNorm, GradientSum, Measure, QueryKind
from tacit.contract.sensitivity import squared_sensitivity
from tacit.losses import classification, poisson, regression
from tacit.losses.dispatch import shape_of
from tacit.losses.loss import Loss
from tacit.mechanisms.counts import integer_measures
from tacit.mechanisms.gradient import integer_gradient_sum
from tacit.mechanisms.moments import integer_pairs, pair_limit, quantise_pairs
from tacit.mechanisms.person_kernels import person_pair_factors, write_products
from tacit.privacy.relation import Relation
from tacit.rows.storage.person_store import PersonBlock
from tacit.rows.storage.record_store import SparseBlock, SparseStore
from tacit.rows.storage.store import Layout, Store
from tacit.rows.storage.tiles import LANES, readonly
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

Rows = NDArray[np.float32]
ENTRIES = [0.0, -0.0, 1.4e-45, 1e-38, 1e-20, 0.5, 1.0, -1.0, 1e5, 1e15, -1e15, 3e38, -3e38]
UNIT_ROWS = 3


def any_loss(rng: np.random.Generator) -> Loss:
    """A loss that the last step may have, with any bound on its slope."""
    mean = 10.0 ** rng.uniform(-2, 3)
    losses = (
        classification.LOGISTIC,
        regression.SQUARED,
        poisson.weighted(mean, 3 * mean, 50.0),
        regression.smooth_huber(10.0 ** rng.uniform(-4, 1)),
    )
    loss = losses[rng.integers(len(losses))]
    if math.isinf(loss.lipschitz) or rng.random() < 0.3:
        loss = replace(loss, lipschitz=10.0 ** rng.uniform(-6, 6))
    return loss


def hostile(rng: np.random.Generator, count: int, width: int, outcome: int) -> Rows:
    """Records of any size, sparse ones among them; labels, weights and offsets at their ends."""
    rows = rng.choice(ENTRIES, (count, width))
    if rng.random() < 0.6:
        rows = rng.normal(size=(count, width)) * 10.0 ** rng.uniform(-10, 10, (count, 1))
    rows *= rng.random((count, width)) < rng.choice([0.5, 1.0])
    label = rng.choice([0.0, 1.0, -1.0, 50.0, rng.uniform(-1, 1)], (count, 1))
    weight = rng.choice([0.0, 1.0, 0.5, 1e-30, rng.random()], (count, 1))
    offset = rng.choice([0.0, 1.0, -3.0, 30.0], (count, 1))
    return np.hstack([rows, label, weight, offset][: outcome + 1]).astype(np.float32)


def sparse_store(rows: Rows, block_rows: int, weighted: bool, shifted: bool) -> SparseStore:
    outcome = 1 + weighted + shifted
    width, blocks = rows.shape[1] - outcome, []
    for first in range(0, len(rows), block_rows):
        part = rows[first : first + block_rows]
        part = np.vstack([part, np.zeros((-len(part) % LANES, rows.shape[1]), rows.dtype)])
        places = [np.flatnonzero(row[:width]) for row in part]
        starts = np.concatenate([[0], np.cumsum([len(kept) for kept in places])])
        values = [row[kept] for row, kept in zip(part, places, strict=True)]
        stored = part[:, width:].reshape(-1, LANES, outcome).transpose(0, 2, 1)
        blocks.append(
            SparseBlock(
                starts, np.concatenate(places).astype(np.int32), np.concatenate(values), np.ascontiguousarray(stored)
            )
        )
    return SparseStore(Layout(len(rows), width, rows.dtype, block_rows, weighted, shifted), blocks)


def store_of(kind: str, units: Sequence[Rows], tiles: int, *, weighted: bool, shifted: bool) -> Store:
    if kind == "persons":
        return person_store(units, UNIT_ROWS, block_tiles=tiles, weighted=weighted, shifted=shifted)
    rows = np.concatenate(units)
    if kind == "sparse":
        return sparse_store(rows, tiles * LANES, weighted, shifted)
    return memory_store(rows, tiles * LANES, weighted=weighted, shifted=shifted)


def any_queries(rng: np.random.Generator, width: int) -> list[tuple[QueryKind, Any, Any]]:
    loss, bound = any_loss(rng), 10.0 ** rng.uniform(-3, 3)
    theta = rng.normal(size=width) * 10.0 ** rng.choice([0, 0, -2, 3, 90])
    cap = 10.0 ** rng.choice([-100.0, -92.0, -5.0, -1.0, 0.0, 3.0])
    start = rng.choice([0.0, -cap / 2, -1e-95, -1.0, 1e-3, 5e-324])
    measure = Measure.WITHIN if rng.random() < 0.5 else Measure.SHARE
    share = (None, 0.4, 1.0)[rng.integers(3)]
    clip = bound * loss.lipschitz
    return [
        (QueryKind.COUNTS, integer_measures, GradientNorm(theta, bound, cap, None, loss, measure, float(start))),
        (QueryKind.SANDWICH, integer_pairs, CurvatureAndScore(theta, bound, None, loss, share)),
        (QueryKind.GRADIENT, integer_gradient_sum, GradientSum(theta, clip, None, True, loss)),
    ]


@pytest.mark.parametrize("kind", ["dense", "sparse", "persons"])
def test_no_neighbour_is_farther_than_claimed(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that just fill their tiles or just do not; other blocks, threads and orders."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        width, weighted, shifted = int(rng.integers(1, 4)), rng.random() < 0.5, rng.random() < 0.5
        outcome, most = 1 + weighted + shifted, UNIT_ROWS if kind == "persons" else 1

        def unit(width: int = width, outcome: int = outcome, most: int = most) -> Rows:
            return hostile(rng, int(rng.integers(1, most + 1)), width, outcome)

        count = int(rng.choice([1, 2, 63, 64, 65, 128, 129]))
        units = [unit() for _ in range(count)]
        place = int(rng.integers(count))
        before, after = units[:place], units[place + 1 :]
        nothing = np.zeros_like(units[place][:1])
        neighbours = {
            Relation.REPLACE_ONE: [*before, unit(), *after],
            Relation.ZERO_OUT: [*before, nothing, *after],
            Relation.ADD_REMOVE: [*units, unit()],
        }
        bound = int(rng.choice([2**36, 2**20, 4096 * width * UNIT_ROWS]))
        queries = any_queries(rng, width)

        def totals(
            units: Sequence[Rows],
            has: tuple[bool, bool] = (weighted, shifted),
            bound: int = bound,
            queries: list[tuple[QueryKind, Any, Any]] = queries,
        ) -> list[NDArray[Any]]:
            monkeypatch.setenv("TACIT_THREADS", str(rng.integers(1, 4)))
            tiles = int(rng.choice([1, 2, 8]))
            store = store_of(kind, units, tiles, weighted=has[0], shifted=has[1])
            return [add(query, bound, store).astype(object) for _, add, query in queries]

        own = totals(units)
        turned = totals([units[i] for i in rng.permutation(count)])
        for (asked, _, query), total, other in zip(queries, own, turned, strict=True):
            assert (total == other).all(), (asked, query)
        for relation, changed in neighbours.items():
            for (asked, _, query), total, other in zip(queries, own, totals(changed), strict=True):
                change = sum(int(gap) ** 2 for gap in (total - other).ravel())
                assert change <= squared_sensitivity(asked, bound, relation), (relation, query)


FLAT = regression.smooth_huber(1.0)
LOSSES = {
    "logistic": classification.LOGISTIC,
    "counts": poisson.weighted(1.0, 2.0, 10.0),
    "squared": regression.SQUARED,
    "no slope": replace(FLAT, shape=(0.0, 0.0)),
    "no number": replace(FLAT, shape=(math.nan, math.nan)),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("start", [0.0, -5e-96, -1.0, 5e-324, 1.0])
def test_what_fills_up_a_tile_is_counted_by_nobody(name: str, start: float) -> None:
    """The 65th record once brought 63 others with it: their norm was 2^-300, and not 0."""
    for cap in (1e-95, 1.0):
        for measure in (Measure.WITHIN, Measure.SHARE):
            query = GradientNorm(np.zeros(3), 2.0, cap, None, LOSSES[name], measure, start)
            stores = [memory_store(np.ones((count, 4), np.float32)) for count in (1, 64, 65)]
            one, tile, more = (int(integer_measures(query, 1000, it)[0]) for it in stores)
            assert (tile, more) == (64 * one, 65 * one)


def hostile_tile(rng: np.random.Generator, width: int, outcome: int, stored: bool) -> Rows:
    """Records that a store holds, or any: not finite, with weights outside of [0, 1]."""
    tile = np.ascontiguousarray(hostile(rng, LANES, width, outcome).T)
    if not stored:
        wrong = rng.random(tile.shape) < 0.1
        tile[wrong] = rng.choice([math.nan, math.inf, -math.inf, 1e30, -1e30, 2.0], wrong.sum())
    return tile


def pair_settings(rng: np.random.Generator, width: int, rows: int) -> tuple[Any, Any, int]:
    """How a pass over pairs is told of a query, its limits, and its bound."""
    loss, bound = any_loss(rng), 10.0 ** rng.choice([rng.uniform(-2, 2), rng.uniform(-100, 100)])
    share = (None, 0.4, 1.0, 1e-3, 5e-324)[rng.integers(5)]
    query = CurvatureAndScore(np.zeros(width), bound, None, loss, share)
    integer = int(rng.choice([2**36, int(2 ** rng.uniform(0, 36)), 1024 * width * rows]))
    numbers = loss.smoothness, loss.lipschitz, query.joint, math.sqrt(share or 0.0)
    told = int(loss.code), shape_of(loss), numbers
    return told, (bound, pair_limit(integer, query.joint, width * rows)), integer


def squares(vectors: NDArray[np.float64]) -> list[int]:
    """Exact squared norms of columns."""
    return [sum(int(entry) ** 2 for entry in column) for column in vectors.T]


@pytest.mark.parametrize("stored", [True, False])
def test_no_record_outgrows_the_bound_of_its_pair(stored: bool) -> None:
    rng = np.random.default_rng(17)
    for _ in range(150):
        width, has = int(rng.integers(1, 6)), (rng.random() < 0.5, rng.random() < 0.5)
        told, limits, bound = pair_settings(rng, width, 1)
        tile = hostile_tile(rng, width, 1 + sum(has), stored)[None]
        theta = rng.normal(size=width) * 10.0 ** rng.choice([0, 5, 90])
        out = np.full((width, LANES), 7.0), np.full((width, LANES), 7.0)
        quantise_pairs(readonly(tile), theta, told, has, limits, out)
        for curved, scored in zip(*map(squares, out), strict=True):
            assert curved**2 + scored**2 <= bound**2


@pytest.mark.parametrize("stored", [True, False])
def test_no_person_outgrows_the_bound_of_their_pair(stored: bool) -> None:
    """One to all rows, the same row over and over, and lanes without a person."""
    rng = np.random.default_rng(18)
    for _ in range(80):
        width, has = int(rng.integers(1, 6)), (rng.random() < 0.5, rng.random() < 0.5)
        slots = int(rng.integers(1, 6))
        told, limits, bound = pair_settings(rng, width, slots)
        tiles = np.stack([hostile_tile(rng, width, 1 + sum(has), stored) for _ in range(slots)])
        if rng.random() < 0.5:
            tiles[:] = tiles[0]
        counts = rng.integers(0, slots + 1, (1, LANES))
        counts[0, 0] = slots
        block = PersonBlock(tiles, np.array([0, slots]), counts).frozen()
        theta = rng.normal(size=width) * 10.0 ** rng.choice([0, 5, 90])
        rows, scores = np.empty((slots, LANES)), np.empty((1, width, LANES))
        persons = np.empty((1, LANES))
        person_pair_factors(block, theta, told, has, limits, (rows, scores, persons))
        curved, scored = np.empty((width, slots * LANES)), np.empty((width, LANES))
        write_products(block.tiles, rows, curved)
        write_products(readonly(scores), persons, scored)
        assert np.isfinite(curved).all()
        assert np.isfinite(scored).all()
        for lane, score in enumerate(squares(scored)):
            trace = sum(squares(curved[:, lane::LANES]))
            assert trace**2 + score**2 <= bound**2
            assert counts[0, lane] or trace == score == 0


def test_every_small_record_keeps_its_bound() -> None:
    """All records of two columns out of a few extreme entries, labels and weights."""
    entries = np.array([0.0, 1.4e-45, 1e-30, 1.0, -1.0, 3e38], np.float32)
    grids = np.meshgrid(entries, entries, [0.0, 1.0, 3e38], [0.0, 0.5, 1.0], indexing="ij")
    records = np.stack([grid.ravel() for grid in grids], axis=1).astype(np.float32)
    tables = records.reshape(-1, 1, 4)
    for loss in (regression.SQUARED, poisson.weighted(1.0, 3.0, 50.0), classification.LOGISTIC):
        for theta in (np.zeros(2), np.array([1.0, 1e90])):
            asked: list[tuple[QueryKind, Callable[..., Any], Any]] = [
                (QueryKind.COUNTS, integer_measures, norm_query(theta, loss, -1.0)),
                (QueryKind.COUNTS, integer_measures, norm_query(theta, loss, 0.5)),
                (QueryKind.SANDWICH, integer_pairs, pair_query(theta, loss, 0.4)),
                (QueryKind.SANDWICH, integer_pairs, pair_query(theta, loss, 1.0)),
            ]
            for kind, add, query in asked:
                for table in tables:
                    total = add(query, 2**20, memory_store(table, weighted=True))
                    change = sum(int(part) ** 2 for part in total.ravel())
                    assert change <= squared_sensitivity(kind, 2**20, Relation.ADD_REMOVE)


def norm_query(theta: NDArray[np.float64], loss: Loss, start: float) -> GradientNorm:
    return GradientNorm(theta, 1.5, 2.0, None, loss, start=start)


def pair_query(theta: NDArray[np.float64], loss: Loss, share: float) -> CurvatureAndScore:
    return CurvatureAndScore(theta, 1.5, None, replace(loss, lipschitz=0.7), share)
