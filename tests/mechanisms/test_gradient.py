"""Noised gradient sums: right law, right sensitivity, the same integers for any layout."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import GradientSum
from tacit.contract.sensitivity import Price
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.noise.entropy import SeededEntropy
from tests.rows.memory_stores import memory_store

RNG = np.random.default_rng(11)
WIDTH = 5


def table(rows: int, dtype: Any = np.float64) -> NDArray[Any]:
    values = RNG.uniform(-1, 1, (rows, WIDTH + 1)).astype(dtype)
    values[:, WIDTH] = RNG.random(rows) < 0.5
    return values


def test_t20_integers_do_not_depend_on_blocks_threads_or_order(monkeypatch: pytest.MonkeyPatch) -> None:
    values = table(1000)
    query = GradientSum(RNG.normal(size=WIDTH), clip=0.7)
    reference = integer_gradient_sum(query, 2**36, memory_store(values))
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TACIT_THREADS", threads)
        for block_rows in (64, 128, 640):
            order = RNG.permutation(len(values))
            store = memory_store(values[order], block_rows)
            assert (integer_gradient_sum(query, 2**36, store) == reference).all()


def test_t08_one_more_row_adds_that_rows_integers() -> None:
    """Odd and even n, and n on both sides of a tile: sums are sums."""
    values = table(130)
    query = GradientSum(RNG.normal(size=WIDTH), clip=1.0)
    for count in (1, 2, 63, 64, 65, 127, 128, 129):
        fewer = integer_gradient_sum(query, 2**20, memory_store(values[:count]))
        one = integer_gradient_sum(query, 2**20, memory_store(values[count : count + 1]))
        more = integer_gradient_sum(query, 2**20, memory_store(values[: count + 1]))
        assert (more == fewer + one).all()


def test_t12_noise_has_the_scale_of_the_sum_that_is_noised() -> None:
    """4000 draws; the sample deviation is within 9% of its value but with probability < 1e-12."""
    store = memory_store(table(200))
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
        store = memory_store(values)
        unit = 2.0**price.bits / answer_gradient(query, price, store, SeededEntropy(1)).noise_scale
        for seed in range(20):
            steps = answer_gradient(query, price, store, SeededEntropy(seed)).value * unit
            np.testing.assert_allclose(steps, np.rint(steps), atol=1e-6)


def test_without_entropy_the_answer_is_the_sum() -> None:
    values = table(500)
    theta = RNG.normal(size=WIDTH)
    answer = answer_gradient(GradientSum(theta, 10.0), Price(2**36, 0), memory_store(values), None)
    X, y = values[:, :WIDTH], values[:, WIDTH]
    np.testing.assert_allclose(answer.value, X.T @ (1 / (1 + np.exp(-X @ theta)) - y), atol=1e-7)
    assert answer.noise_scale == 0.0


def test_t02_a_row_beyond_the_clip_counts_as_the_row_on_it() -> None:
    query = GradientSum(np.zeros(WIDTH), clip=1.0)
    inside = np.zeros((1, WIDTH + 1))
    inside[0, 0], inside[0, WIDTH] = 2.0, 1.0  # slope -1/2, so the gradient is on the clip
    outside = inside.copy()
    outside[0, 0] = 2e6
    on_clip = integer_gradient_sum(query, 2**30, memory_store(inside))
    beyond = integer_gradient_sum(query, 2**30, memory_store(outside))
    assert abs(int(on_clip[0] - beyond[0])) <= 1


@pytest.mark.parametrize("rows", [100, 64 * 7, 1000])
def test_a_part_answers_for_the_whole(rows: int) -> None:
    """The answer is the part's sum over the chance of a record, and so is the noise."""
    values, theta = table(rows), RNG.normal(size=WIDTH)
    drawn = RNG.integers(0, 256, rows, dtype=np.uint8)
    query, price = GradientSum(theta, clip=10.0, every=4), Price(2**36, 10)
    X, y = values[drawn < 64, :WIDTH], values[drawn < 64, WIDTH]
    total = X.T @ (1 / (1 + np.exp(-X @ theta)) - y) * 4
    store = memory_store(values, 128, drawn=drawn)
    answer = answer_gradient(query, price, store, None)
    np.testing.assert_allclose(answer.value, total, atol=1e-6)
    noised = [answer_gradient(replace(query, every=every), price, store, SeededEntropy(1)) for every in (1, 4)]
    ratio = noised[1].noise_scale / noised[0].noise_scale
    assert math.isclose(ratio, 4.0, rel_tol=1e-12)


def test_t08_one_other_record_changes_its_own_integers_even_where_it_shifts_all_others() -> None:
    """A table kept in the order of its content: lots go with their records, and not with places.

    By places the part would lose and gain a record in every tile.
    """
    query, price, count = GradientSum(np.zeros(1), clip=0.5, every=4), Price(2**20, 0), 640
    signs = np.where(np.arange(count + 1) // 64 % 2, -1.0, 1.0)
    values = np.column_stack([signs, np.zeros(count + 1)])
    drawn = RNG.integers(0, 256, count + 1, dtype=np.uint8)
    # The first record is replaced by one that is sorted behind all others, and takes its lot.
    drawn[-1] = drawn[0]
    before, after = (
        answer_gradient(query, price, memory_store(values[part], 128, drawn=drawn[part]), None)
        for part in (slice(0, -1), slice(1, None))
    )
    assert np.abs(after.value - before.value) <= 2 * query.clip * 4
