"""Noised gradient sums: right law, right sensitivity, the same integers for any layout."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.noise.entropy import SeededEntropy
from tacit.problem.query import GradientSum
from tacit.problem.sensitivity import Price
from tacit.rows.store import MemoryStore

RNG = np.random.default_rng(11)
WIDTH = 5


def table(rows: int, dtype: Any = np.float64) -> NDArray[Any]:
    values = RNG.uniform(-1, 1, (rows, WIDTH + 1)).astype(dtype)
    values[:, WIDTH] = RNG.random(rows) < 0.5
    return values


def test_t20_integers_do_not_depend_on_blocks_threads_or_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = table(1000)
    query = GradientSum(RNG.normal(size=WIDTH), clip=0.7)
    reference = integer_gradient_sum(query, 2**36, MemoryStore.of(values))
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        for block_rows in (64, 128, 640):
            order = RNG.permutation(len(values))
            store = MemoryStore.of(values[order], block_rows)
            assert (integer_gradient_sum(query, 2**36, store) == reference).all()


def test_t08_one_more_row_adds_that_rows_integers() -> None:
    """Odd and even n, and n on both sides of a tile: sums are sums."""
    values = table(130)
    query = GradientSum(RNG.normal(size=WIDTH), clip=1.0)
    for count in (1, 2, 63, 64, 65, 127, 128, 129):
        fewer = integer_gradient_sum(query, 2**20, MemoryStore.of(values[:count]))
        one = integer_gradient_sum(query, 2**20, MemoryStore.of(values[count : count + 1]))
        more = integer_gradient_sum(query, 2**20, MemoryStore.of(values[: count + 1]))
        assert (more == fewer + one).all()


def test_t12_noise_has_the_scale_of_the_sum_that_is_noised() -> None:
    """4000 draws; the sample deviation is within 9% of its value but with probability < 1e-12."""
    store = MemoryStore.of(table(200))
    price = Price(bound=2**20, bits=22)
    query = GradientSum(np.zeros(WIDTH), clip=2.0)
    entropy = SeededEntropy(5)
    exact = answer_gradient(query, price, store, None).value
    answers = [answer_gradient(query, price, store, entropy) for _ in range(800)]
    noise = np.concatenate([answer.value - exact for answer in answers])
    claimed = answers[0].noise_scale
    assert abs(np.std(noise) / claimed - 1) < 0.09
    # The same in units of the sensitivity: the sum of two opposite records on the clip.
    assert math.isclose(claimed / query.clip, 2.0**22 / 2**20, rel_tol=1e-5)


def test_t16_answers_for_different_tables_lie_on_one_lattice() -> None:
    price = Price(bound=2**20, bits=10)
    query = GradientSum(np.zeros(WIDTH), clip=1.0)
    for values in (table(3), np.zeros((3, WIDTH + 1))):
        store = MemoryStore.of(values)
        unit = 2.0**price.bits / answer_gradient(query, price, store, SeededEntropy(1)).noise_scale
        for seed in range(20):
            steps = answer_gradient(query, price, store, SeededEntropy(seed)).value * unit
            np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)


def test_without_entropy_the_answer_is_the_sum() -> None:
    values = table(500)
    theta = RNG.normal(size=WIDTH)
    answer = answer_gradient(
        GradientSum(theta, 10.0), Price(2**36, 0), MemoryStore.of(values), None
    )
    X, y = values[:, :WIDTH], values[:, WIDTH]
    np.testing.assert_allclose(answer.value, X.T @ (1 / (1 + np.exp(-X @ theta)) - y), atol=1e-7)
    assert answer.noise_scale == 0.0


def test_t02_a_row_beyond_the_clip_counts_as_the_row_on_it() -> None:
    query = GradientSum(np.zeros(WIDTH), clip=1.0)
    inside = np.zeros((1, WIDTH + 1))
    inside[0, 0], inside[0, WIDTH] = 2.0, 1.0  # slope -1/2, so the gradient is on the clip
    outside = inside.copy()
    outside[0, 0] = 2e6
    on_clip = integer_gradient_sum(query, 2**30, MemoryStore.of(inside))
    beyond = integer_gradient_sum(query, 2**30, MemoryStore.of(outside))
    assert abs(int(on_clip[0] - beyond[0])) <= 1


@pytest.mark.parametrize("rows", [100, 64 * 7, 1000])
def test_a_part_answers_for_the_whole(rows: int) -> None:
    """Every third tile is read: the answer is its mean times n, and so is the noise."""
    values, theta = table(rows), RNG.normal(size=WIDTH)
    query = GradientSum(theta, clip=10.0, every=3)
    price = Price(2**36, 10)
    chosen = (np.arange(rows) // 64) % 3 == 0
    X, y = values[chosen, :WIDTH], values[chosen, WIDTH]
    mean = X.T @ (1 / (1 + np.exp(-X @ theta)) - y) / len(X)
    answer = answer_gradient(query, price, MemoryStore.of(values, 128), None)
    np.testing.assert_allclose(answer.value / rows, mean, atol=1e-7)
    noised = [
        answer_gradient(
            replace(query, every=every), price, MemoryStore.of(values), SeededEntropy(1)
        )
        for every in (1, 3)
    ]
    ratio = noised[1].noise_scale / noised[0].noise_scale
    assert math.isclose(ratio, rows / len(X), rel_tol=1e-12)


def test_t08_what_is_read_goes_by_places_alone() -> None:
    values, query = table(300), GradientSum(RNG.normal(size=WIDTH), clip=1.0, every=2)
    for place in (0, 63, 64, 127, 128, 299):
        other = values.copy()
        other[place, :WIDTH] *= -3.0
        before, after = (
            answer_gradient(query, Price(2**20, 0), MemoryStore.of(records), None).value
            for records in (values, other)
        )
        assert (before != after).any() == ((place // 64) % 2 == 0)
        # Of 300 records 172 are read.
        assert np.linalg.norm(after - before) <= 2 * query.clip * 300 / 172


def test_t08_a_table_in_the_order_of_its_content_has_no_places_to_read_by() -> None:
    """Why plans list the places as assumed: one other record shifts a sorted table by one."""
    query, price, places = GradientSum(np.zeros(1), clip=0.5, every=2), Price(2**20, 0), 640
    signs = np.where(np.arange(places + 1) // 64 % 2, -1.0, 1.0)
    values = np.column_stack([signs, np.zeros(places + 1)])
    # The first record is replaced by one that is sorted behind all others.
    whole, part = (
        [
            answer_gradient(replace(query, every=every), price, MemoryStore.of(records), None).value
            for records in (values[:-1], values[1:])
        ]
        for every in (1, 2)
    )
    assert abs(whole[1] - whole[0]) <= 2 * query.clip
    assert abs(part[1] - part[0]) > 2 * query.clip * places / 320
