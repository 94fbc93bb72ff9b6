"""Batches have the law that their price assumes: exact rates, uniform subsets, independent draws, nothing shared.

False-alarm rates are stated with each test; faults are seeded to show that it fails.
"""

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import stats

from tacit.errors import SettingError
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.record_sampling import (
    RATE_BITS,
    Integers,
    ListedBatch,
    PoissonBatch,
    repeated_batch,
    subset_batch,
    uniform_numbers,
)

FALSE_ALARM = 1e-7
ONE = 1 << RATE_BITS


class Words:
    """Entropy that hands out given words."""

    secure = False

    def __init__(self, *words: int) -> None:
        self._words = [*words]

    def words(self, count: int) -> np.ndarray:
        taken, self._words = self._words[:count], self._words[count:]
        return np.array(taken, dtype=np.uint64)


@pytest.mark.parametrize("numerator", [ONE // 4, 3 * ONE // 16, 85 * ONE // 2048, ONE - 1, 1 << 12])
def test_a_poisson_rate_is_exact(numerator: int) -> None:
    """4 million records; the exact binomial test fails with probability 1e-7 a rate, 5e-7 in all."""
    members = sum(len(PoissonBatch(numerator, SystemEntropy()).members(0, 10**6)) for _ in range(4))
    assert stats.binomtest(members, 4 * 10**6, numerator / ONE).pvalue > FALSE_ALARM


def test_the_rate_test_sees_a_rate_that_is_off_by_two_per_cent() -> None:
    members = len(PoissonBatch(ONE // 4 + ONE // 200, SystemEntropy()).members(0, 4 * 10**6))
    assert stats.binomtest(members, 4 * 10**6, 0.25).pvalue < FALSE_ALARM


def test_the_numerator_decides_by_32_bits_exactly() -> None:
    batch = PoissonBatch(ONE // 4, SeededEntropy(0))
    words = batch._stream.words(0, 5000).astype(np.int64)
    np.testing.assert_array_equal(batch.members(0, 5000), np.flatnonzero(words < ONE // 4))
    assert len(PoissonBatch(0, SystemEntropy()).members(0, 1000)) == 0
    assert len(PoissonBatch(ONE, SystemEntropy()).members(0, 1000)) == 1000


def test_records_and_steps_are_independent() -> None:
    """2 million pairs each of neighbours in one batch and of one record in two batches: chi², 1e-7 each."""
    first, second = (PoissonBatch(ONE // 2, SystemEntropy()) for _ in range(2))

    def flags(batch: PoissonBatch) -> np.ndarray:
        found = np.zeros(2 * 10**6 + 1, dtype=np.int64)
        found[batch.members(0, len(found))] = 1
        return found

    one, two = flags(first), flags(second)
    for left, right in ((one[:-1], one[1:]), (one, two), (one[:-64], one[64:])):
        table = np.bincount(2 * left[: 2 * 10**6] + right[: 2 * 10**6], minlength=4).reshape(2, 2)
        assert stats.chi2_contingency(table, correction=False).pvalue > FALSE_ALARM
    seeded_fault = np.bincount(2 * one[:-1] + one[:-1], minlength=4).reshape(2, 2)
    assert stats.chi2_contingency(seeded_fault, correction=False).pvalue < FALSE_ALARM


def test_t14_no_two_batches_are_alike() -> None:
    batches = [PoissonBatch(ONE // 2, SystemEntropy()).members(0, 256).tobytes() for _ in range(200)]
    assert len(set(batches)) == 200


@pytest.mark.parametrize("cuts", [[0, 1000], [0, 1, 63, 64, 500, 1000], [*range(0, 1001, 8)]])
def test_any_blocks_reproduce_a_batch(cuts: list[int]) -> None:
    for batch in (
        PoissonBatch(ONE // 8, SeededEntropy(1)),
        subset_batch(100, 1000, SeededEntropy(1)),
        repeated_batch(1500, 1000, SeededEntropy(1)),
    ):
        whole = batch.members(0, 1000)
        parts = [batch.members(low, high - low) + low for low, high in pairwise(cuts)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
        assert (np.diff(whole) >= 0).all()


@pytest.mark.parametrize(("size", "population"), [(1, 1), (1, 5), (2, 5), (3, 5), (4, 5), (5, 5), (3, 6)])
def test_every_subset_is_equally_likely(size: int, population: int) -> None:
    """6000 subsets; chi² fails with probability 1e-7 a case."""
    counts = dict.fromkeys(combinations(range(population), size), 0)
    for _ in range(6000):
        counts[tuple(subset_batch(size, population, SystemEntropy()).numbers.tolist())] += 1
    if len(counts) > 1:
        assert stats.chisquare([*counts.values()]).pvalue > FALSE_ALARM


def test_the_subset_test_sees_a_sampler_that_keeps_the_smallest_draws() -> None:
    counts = dict.fromkeys(combinations(range(5), 2), 0)
    for _ in range(6000):
        drawn = np.unique(uniform_numbers(10, 5, SystemEntropy()))[:2]
        counts[tuple(drawn.tolist())] += 1
    assert stats.chisquare([*counts.values()]).pvalue < FALSE_ALARM


@pytest.mark.parametrize("size", [1, 7, 4999, 5000, 5001, 9999, 10_000])
def test_a_subset_has_exactly_its_size_and_no_record_twice(size: int) -> None:
    numbers = subset_batch(size, 10_000, SystemEntropy()).numbers
    assert len(numbers) == size == len(np.unique(numbers))
    assert numbers.min() >= 0
    assert numbers.max() < 10_000


def test_draws_with_replacement_are_uniform_and_independent() -> None:
    """200,000 pairs of draws of 7 numbers: chi² over 49 cells, 1e-7."""

    def unsorted(draws: int) -> Integers:
        return uniform_numbers(draws, 7, SystemEntropy())

    pairs = unsorted(400_000).reshape(-1, 2)
    assert stats.chisquare(np.bincount(7 * pairs[:, 0] + pairs[:, 1], minlength=49)).pvalue > FALSE_ALARM
    batch = repeated_batch(400_000, 7, SystemEntropy())
    assert stats.chisquare(np.bincount(batch.numbers, minlength=7)).pvalue > FALSE_ALARM
    assert len(repeated_batch(50, 7, SystemEntropy()).numbers) == 50


def test_words_beyond_the_last_multiple_are_rejected() -> None:
    """2^63 = 3·k + 2: the two largest of 63 bits would favour 0 and 1."""
    top = (1 << 64) - 2
    assert uniform_numbers(2, 3, Words(top, 8, 10)).tolist() == [4 % 3, 5 % 3]
    assert uniform_numbers(1, 1 << 62, Words(top)).tolist() == [(1 << 62) - 1]


def test_an_empty_batch_is_a_batch() -> None:
    assert ListedBatch(np.empty(0, dtype=np.int64)).members(0, 10).tolist() == []
    assert uniform_numbers(0, 5, SystemEntropy()).tolist() == []


def test_sizes_beyond_the_table_are_refused() -> None:
    with pytest.raises(SettingError, match="larger than the table"):
        subset_batch(6, 5, SystemEntropy())
    for bad in (0, -1):
        with pytest.raises(SettingError, match="size"):
            subset_batch(bad, 5, SystemEntropy())
        with pytest.raises(SettingError, match="draws"):
            repeated_batch(bad, 5, SystemEntropy())
    with pytest.raises(SettingError, match="numerator"):
        PoissonBatch(ONE + 1, SystemEntropy())
