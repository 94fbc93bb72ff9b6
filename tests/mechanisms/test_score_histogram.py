"""Histograms of scores: what is counted, and what one record or person can change."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import QueryKind
from tacit.contract.score_query import ScoreHistogram
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.errors import SettingError
from tacit.mechanisms.score_histogram import answer_score_histogram, integer_histogram
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import MemoryStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES, to_tiles
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(5)
THETA, EDGES, BOUND = np.array([2.0, -1.0, 0.3]), np.array([-1.0, 0.0, 0.5]), 1000
QUERY = ScoreHistogram(THETA, EDGES)


def rows(n: int) -> NDArray[np.float64]:
    return np.column_stack([RNG.uniform(-1, 1, (n, 2)), np.ones(n), RNG.integers(0, 2, n)])


def test_records_are_counted_by_label_and_interval() -> None:
    table = rows(500)
    cells = np.searchsorted(EDGES, table[:, :3] @ THETA, side="left")
    expected = [np.bincount(cells[table[:, 3] == label], minlength=4) for label in (0, 1)]
    assert (integer_histogram(QUERY, BOUND, memory_store(table)) == BOUND * np.array(expected)).all()
    # An interval holds its upper end.
    assert integer_histogram(QUERY, 1, memory_store(np.array([[0.0, 0.3, 1.0, 1.0]])))[1].tolist() == [0, 1, 0, 0]


def test_a_record_of_zeros_adds_nothing() -> None:
    assert not integer_histogram(QUERY, BOUND, memory_store(np.zeros((3, 4)))).any()


def test_one_record_changes_two_cells_at_most_and_does() -> None:
    table = np.vstack([rows(40), np.zeros(4)])
    sums = [integer_histogram(QUERY, BOUND, memory_store(row[None])) for row in table]
    largest = max(int(((a - b) ** 2).sum()) for a, b in itertools.combinations(sums, 2))
    assert largest == squared_sensitivity(QueryKind.GROUP_MEANS, BOUND, Relation.REPLACE_ONE) == 2 * BOUND**2
    alone = max(int((one**2).sum()) for one in sums)
    assert alone == squared_sensitivity(QueryKind.GROUP_MEANS, BOUND, Relation.ZERO_OUT)


def test_noise_is_added_to_every_cell() -> None:
    store, price = memory_store(rows(300)), Price(BOUND, 4)
    exact = answer_score_histogram(QUERY, price, store, None)
    noisy = answer_score_histogram(QUERY, price, store, SeededEntropy(1))
    assert exact.value.shape == (2, 4)
    assert exact.value.sum() == 300
    assert (noisy.value != exact.value).all()
    assert noisy.noise_scale == 16 / BOUND


def test_weights_are_refused() -> None:
    table = np.column_stack([rows(4), np.ones(4)])
    store = MemoryStore(Layout(4, 3, table.dtype, LANES, weighted=True), [to_tiles(table)])
    with pytest.raises(SettingError, match="neither weights nor offsets"):
        integer_histogram(QUERY, BOUND, store)
