"""Noised sums of bounded statistics: integers within the bound, the same for any layout."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price, squared_sensitivity
from tacit.contract.statistic_query import BoundedSums, GroupSums
from tacit.design.expression import Statistic
from tacit.design.expression_tree import Cell, Interval
from tacit.mechanisms.means import answer_means, integer_sums, signed_part
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tacit.rows.storage.record_store import SparseBlock, SparseStore
from tacit.rows.storage.store import Layout
from tacit.rows.storage.tiles import LANES
from tests.conformance.mean_queries import LABEL, MEANS, SQUARE, X
from tests.rows.memory_stores import memory_store
from tests.rows.person_stores import person_store

BOUND = 2**36
ANY = st.floats(allow_nan=True, allow_infinity=True)


def rows(n: int, seed: int = 0, classes: int = 2) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-1, 1, (n, 2)), np.ones(n), rng.integers(0, classes, n)])


@given(share=ANY, bound=st.integers(32, 2**50))
def test_an_integer_stays_within_the_bound(share: float, bound: int) -> None:
    part = int(signed_part(bound, share))
    assert -bound <= part <= bound
    if np.isnan(share):
        assert part == 0
    elif abs(share) <= 1:
        assert part == int(np.rint(bound * share))


@pytest.mark.parametrize("n", [1, 63, 64, 65, 5000])
def test_sums_are_the_sums(n: int) -> None:
    table = rows(n)
    found = integer_sums(MEANS["means"], BOUND, memory_store(table)) / BOUND
    x, z = table[:, 0], table[:, 1]
    np.testing.assert_allclose(found, [x.sum(), (x * z).sum(), (2 * x**2 - 1).sum()], atol=n / BOUND)


@pytest.mark.parametrize("n", [1, 65, 5000])
def test_group_sums_are_the_groups_sums(n: int) -> None:
    table = rows(n, classes=3)
    found = integer_sums(GroupSums((X, SQUARE), LABEL, 3), BOUND, memory_store(table)) / BOUND
    for label in range(3):
        x = table[table[:, 3] == label, 0]
        np.testing.assert_allclose(found[label], [len(x), x.sum(), (2 * x**2 - 1).sum()], atol=n / BOUND)


def test_invalid_records_and_those_that_fill_up_tiles_add_nothing() -> None:
    table = rows(70)
    table[10:20] = 0.0
    query = GroupSums((SQUARE,), LABEL, 2)
    valid = np.delete(table, slice(10, 20), axis=0)
    assert (
        integer_sums(query, BOUND, memory_store(table)).tolist()
        == integer_sums(query, BOUND, memory_store(valid)).tolist()
    )


@pytest.mark.parametrize("case", MEANS)
def test_sums_have_the_same_bits_for_any_layout(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query, table = MEANS[case], rows(3000)
    whole = integer_sums(query, BOUND, memory_store(table)).tolist()
    order = np.random.default_rng(3).permutation(len(table))
    for threads, block_rows in itertools.product(("1", "3"), (64, 512, 64 * 40)):
        monkeypatch.setenv("TACIT_THREADS", threads)
        assert integer_sums(query, BOUND, memory_store(table, block_rows)).tolist() == whole
        assert integer_sums(query, BOUND, memory_store(table[order], block_rows)).tolist() == whole


@pytest.mark.parametrize("case", MEANS)
def test_sparse_records_have_the_integers_of_their_dense_twins(case: str) -> None:
    table = rows(130)
    table[::3, 0] = 0.0
    starts, indices, values = [0], [], []
    for row in table:
        found = np.flatnonzero(row[:3])
        indices += found.tolist()
        values += row[found].tolist()
        starts.append(len(indices))
    starts += [starts[-1]] * (-len(table) % LANES)
    outcome = np.zeros((3, 1, LANES))
    outcome.reshape(-1)[: len(table)] = table[:, 3]
    block = SparseBlock(np.array(starts), np.array(indices, dtype=np.int32), np.array(values), outcome)
    layout = Layout(len(table), 3, np.dtype(np.float64), 192)
    dense = integer_sums(MEANS[case], BOUND, memory_store(table))
    assert integer_sums(MEANS[case], BOUND, SparseStore(layout, [block])).tolist() == dense.tolist()


def test_a_person_counts_once_with_the_mean_over_their_records() -> None:
    rng = np.random.default_rng(4)
    people = [rows(int(size), seed) for seed, size in enumerate(rng.integers(1, 5, 100))]
    store = person_store(people, 4)
    found = integer_sums(GroupSums((X, SQUARE), LABEL, 2), BOUND, store) / BOUND
    for label in range(2):
        inside = [person[person[:, 3] == label] for person in people]
        count = sum(len(own) / len(person) for own, person in zip(inside, people, strict=True))
        mean = sum(own[:, 0].sum() / len(person) for own, person in zip(inside, people, strict=True))
        np.testing.assert_allclose(found[label, :2], [count, mean], atol=1e-6)
    flat = integer_sums(BoundedSums((X,)), BOUND, store) / BOUND
    np.testing.assert_allclose(flat, sum(person[:, 0].mean() for person in people), atol=1e-6)


@pytest.mark.parametrize("bound", [32, 33, 1000, 2**36 - 1])
def test_persons_counts_sum_to_at_most_the_bound_and_limit_the_rest(bound: int) -> None:
    """The premises of the proof, in integers: for persons of 1 to 7 records in four groups."""
    rng = np.random.default_rng(5)
    query = GroupSums((X, SQUARE), LABEL, 4)
    for seed, size in enumerate(rng.integers(1, 8, 200)):
        person = rows(int(size), seed, classes=4)
        person[:, :2] = rng.choice([-1.0, 1.0, 0.3], (size, 2))
        found = integer_sums(query, bound, person_store([person], 8))
        assert (found[:, 0] >= 0).all()
        assert found[:, 0].sum() <= bound
        assert (np.abs(found[:, 1:]) <= found[:, :1]).all()


def extremes(size: int) -> list[Any]:
    """Records on the ends of all intervals, in either of two groups."""
    ends = itertools.product((-1.0, 1.0), (0.0, 1.0))
    return [np.array([[x, 0.0, 1.0, label]]) for x, label in ends] if size else []


def test_t01_t04_the_sensitivity_is_attained() -> None:
    """Both factors of the table are the least that are right, not only large enough."""
    bound = 1000
    mean = [integer_sums(BoundedSums((X,)), bound, memory_store(row)) for row in extremes(1)]
    largest = max(int(((a - b) ** 2).sum()) for a, b in itertools.combinations(mean, 2))
    assert largest == squared_sensitivity(QueryKind.MEANS, bound, Relation.REPLACE_ONE)
    for statistics, size in (((), 1), ((X,), 2)):
        query = GroupSums(statistics, LABEL, 2)
        sums = [integer_sums(query, bound, memory_store(row)) for row in extremes(1)]
        largest = max(int(((a - b) ** 2).sum()) for a, b in itertools.combinations(sums, 2))
        assert largest == squared_sensitivity(QueryKind.GROUP_MEANS, bound, Relation.REPLACE_ONE, size)
        alone = max(int((a**2).sum()) for a in sums)
        assert alone == squared_sensitivity(QueryKind.GROUP_MEANS, bound, Relation.ADD_REMOVE, size)


@pytest.mark.parametrize("ends", [(0.0, 100.0), (100.0, 101.0)])
def test_t02_a_value_outside_of_the_interval_acts_as_the_end(ends: tuple[float, float]) -> None:
    query = BoundedSums((Statistic("x", Cell("x", 0, 1.0), Interval(*ends)),))
    table = rows(5)
    for beyond, end in ((1e6, ends[1]), (-1e6, ends[0])):
        out, on = table.copy(), table.copy()
        out[2, 0], on[2, 0] = beyond, end
        far, near = (integer_sums(query, BOUND, memory_store(it)).tolist() for it in (out, on))
        assert far == near


def test_answers_are_in_units_of_half_the_interval_with_stated_noise() -> None:
    store, price = memory_store(rows(1000)), Price(2**20, 12)
    exact = answer_means(MEANS["means of groups"], price, store, None)
    noisy = answer_means(MEANS["means of groups"], price, store, SeededEntropy(1))
    assert exact.noise_scale == 0.0
    assert noisy.noise_scale == 2.0**-8
    assert noisy.value.shape == exact.value.shape == (2, 4)
    assert 0 < np.abs(noisy.value - exact.value).max() < 8 * noisy.noise_scale
