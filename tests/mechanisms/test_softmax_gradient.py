"""Softmax gradient sums: the right sum, the bound on every record, and nothing between records."""

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.contract.query import GradientSum
from tacit.contract.sensitivity import Price
from tacit.losses import classification
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.mechanisms.kernels import enforceable
from tacit.noise.entropy import SeededEntropy
from tests.rows.memory_stores import memory_store

CLASSES, WIDTH = 5, 7


def table(rows: int, seed: int = 1) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(rows, WIDTH)) * rng.choice([1e-3, 1.0, 50.0], size=(rows, 1))
    return np.column_stack([features, rng.integers(0, CLASSES, rows)])


def exact(records: NDArray[np.float64], theta: NDArray[np.float64], clip: float) -> NDArray:  # type: ignore[type-arg]
    X, y = records[:, :WIDTH], records[:, WIDTH].astype(int)
    residual = classification.softmax_probability(X @ theta)
    residual[np.arange(len(y)), y] -= 1
    norms = np.linalg.norm(residual, axis=1) * np.linalg.norm(X, axis=1)
    return np.asarray(X.T @ (residual * np.minimum(1, clip / norms)[:, None]))


@pytest.mark.parametrize("clip", [0.1, 3.0, 1e4])
def test_the_sum_is_that_of_clipped_softmax_gradients(clip: float) -> None:
    records = table(300)
    theta = np.random.default_rng(2).normal(size=(WIDTH, CLASSES))
    query = GradientSum(theta, clip, loss=classification.SOFTMAX)
    answer = answer_gradient(query, Price(2**36, 0), memory_store(records), None)
    assert answer.value.shape == (WIDTH, CLASSES)
    np.testing.assert_allclose(answer.value, exact(records, theta, clip), atol=1e-7 * clip * 300)


def test_t05_every_record_stays_within_the_bound_and_the_bias_column_counts() -> None:
    rng = np.random.default_rng(3)
    bound = 2**12
    for case in range(300):
        record = table(1, seed=case)
        record[0, WIDTH - 1] = 1.0  # the intercept
        record[0, :WIDTH] *= 10.0 ** rng.integers(-8, 8)
        theta = rng.normal(size=(WIDTH, CLASSES)) * 10.0 ** rng.integers(-3, 6)
        clip = float(10.0 ** rng.uniform(-6, 2))
        query = GradientSum(theta, clip, loss=classification.SOFTMAX)
        q = integer_gradient_sum(query, bound, memory_store(record))
        assert int((q.astype(object) ** 2).sum()) <= bound**2
        unclipped = np.sqrt(2) * np.linalg.norm(record[0, :WIDTH])
        unit = enforceable(bound, WIDTH * CLASSES) / clip
        assert np.linalg.norm(q) <= unclipped * unit + np.sqrt(WIDTH * CLASSES)


def test_a_record_adds_the_same_integers_wherever_it_stands() -> None:
    records = table(130)
    query = GradientSum(np.ones((WIDTH, CLASSES)) * 0.3, 2.0, loss=classification.SOFTMAX)
    together = integer_gradient_sum(query, 2**30, memory_store(records))
    alone = sum(integer_gradient_sum(query, 2**30, memory_store(records[i : i + 1])) for i in range(130))
    np.testing.assert_array_equal(together, alone)
    shuffled = np.random.default_rng(4).permutation(records)
    small_blocks = memory_store(shuffled, block_rows=64)
    np.testing.assert_array_equal(together, integer_gradient_sum(query, 2**30, small_blocks))


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_t40_a_record_that_is_not_finite_adds_nothing(bad: float) -> None:
    records = table(70)
    query = GradientSum(np.ones((WIDTH, CLASSES)), 2.0, loss=classification.SOFTMAX)
    rest = integer_gradient_sum(query, 2**30, memory_store(np.delete(records, 3, axis=0)))
    records[3, 2] = bad
    np.testing.assert_array_equal(rest, integer_gradient_sum(query, 2**30, memory_store(records)))


def test_margins_that_overflow_add_nothing() -> None:
    records = np.ones((1, WIDTH + 1))
    theta = np.full((WIDTH, CLASSES), 1e100)
    theta[:, 1] = -1e100
    q = integer_gradient_sum(GradientSum(theta, 1.0, loss=classification.SOFTMAX), 2**20, memory_store(records * 1e300))
    assert int((q.astype(object) ** 2).sum()) <= 2**40


def test_every_entry_is_noised_afresh() -> None:
    store = memory_store(table(50))
    query = GradientSum(np.zeros((WIDTH, CLASSES)), 1.0, loss=classification.SOFTMAX)
    quiet = answer_gradient(query, Price(2**20, 20), store, None)
    noisy = answer_gradient(query, Price(2**20, 20), store, SeededEntropy(1))
    noise = (noisy.value - quiet.value) / noisy.noise_scale
    assert len(np.unique(noise)) == noise.size
    assert 0.6 < noise.std() < 1.4
