"""Sums over a store: threads and blocks add up every block once."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import ColumnCounts, CurvatureAndScore, GradientSum, PerturbedMinimum, SecondMoments
from tacit.losses.classification import LOGISTIC
from tacit.mechanisms.certified_minimum import fine_gradients
from tacit.mechanisms.counts import column_counts
from tacit.mechanisms.gradient import gradients
from tacit.mechanisms.moments import curvature_score_pairs, second_moments
from tacit.rows.storage.store import BlockSum, Layout, thread_count
from tests.rows.memory_stores import memory_store


def column_sum(layout: Layout, query: int, bound: int) -> BlockSum:
    """The sum of one column, times the bound."""

    def add(tiles: NDArray[Any], total: NDArray[np.int64]) -> None:
        total += bound * tiles[:, query].sum().astype(np.int64)

    return BlockSum((1,), add)


def failing(layout: Layout, query: None, bound: int) -> BlockSum:
    def fail(tiles: NDArray[Any], total: NDArray[np.int64]) -> None:
        raise OverflowError

    return BlockSum((1,), fail)


@pytest.mark.parametrize("block_rows", [64, 192, 512])
def test_every_block_is_added_once(monkeypatch: pytest.MonkeyPatch, block_rows: int) -> None:
    values = np.arange(1000.0).reshape(500, 2)
    store = memory_store(values, block_rows)
    for threads in ("1", "2", "7", "100"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        assert store.total(column_sum, 1, 3)[0] == 3 * int(values[:, 1].sum())


def test_totals_of_a_store_cut_in_two_add_up() -> None:
    values = np.random.default_rng(1).integers(-50, 50, (500, 2)).astype(float)
    whole = memory_store(values).total(column_sum, 0, 1)
    halves = [memory_store(half).total(column_sum, 0, 1) for half in np.split(values, 2)]
    assert whole == sum(halves)


@pytest.mark.parametrize(
    ("function", "query"),
    [
        (column_counts, ColumnCounts((0,), np.zeros(1), np.ones(1))),
        (gradients, GradientSum(np.ones(2), 1.0, None, True, LOGISTIC)),
        (second_moments, SecondMoments(1.0)),
        (curvature_score_pairs, CurvatureAndScore(np.ones(2), 1.0, None, LOGISTIC)),
        (fine_gradients, (np.ones(2), PerturbedMinimum(1.0))),
    ],
)
def test_function_and_query_can_be_sent_to_where_the_records_are(function: Any, query: Any) -> None:
    store = memory_store(np.random.default_rng(2).integers(0, 2, (500, 3)).astype(float), 64)
    sent = pickle.loads(pickle.dumps((function, query, 1 << 20)))
    np.testing.assert_array_equal(store.total(*sent), store.total(function, query, 1 << 20))


def test_an_error_in_a_worker_reaches_the_caller() -> None:
    store = memory_store(np.zeros((200, 2)), 64)
    with pytest.raises(OverflowError):
        store.total(failing, None, 1)


def test_thread_count_is_a_public_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TACIT_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("TACIT_THREADS", "none")
    assert thread_count() >= 1
