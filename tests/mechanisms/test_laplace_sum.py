"""Sums with discrete Laplace noise: the L1 sensitivity that is stated, and the law of the noise."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.contract.query import GradientSum, QueryKind
from tacit.contract.sensitivity import LaplacePrice, laplace_event
from tacit.errors import SettingError
from tacit.losses import regression
from tacit.mechanisms.gradient import answer_gradient, integer_gradient_sum
from tacit.mechanisms.laplace_sum import laplace_sum
from tacit.noise.entropy import SeededEntropy
from tacit.privacy.relation import Relation
from tests.rows.memory_stores import memory_store

WIDTH = 4
DRAWS = 40_000


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["replace-one", "zero-out"]), st.floats(0.1, 3.0))
def test_integer_sums_of_neighbours_differ_by_at_most_the_stated_l1_norm(seed: int, name: str, clip: float) -> None:
    rng, relation = np.random.default_rng(seed), Relation.parse(name)
    values = rng.choice([-1.0, 1.0, 0.3], (20, WIDTH + 1)) * rng.choice([1.0, 1e3, 1e-3])
    other = values.copy()
    other[7] = 0.0 if relation is Relation.ZERO_OUT else -values[7]
    price = LaplacePrice(2**20, 22, WIDTH)
    query = GradientSum(np.zeros(WIDTH), clip, loss=regression.DISTANCE)
    sums = [integer_gradient_sum(query, price.bound, memory_store(table)) for table in (values, other)]
    stated = laplace_event(QueryKind.GRADIENT, price, relation).epsilon * 2**price.bits
    assert np.abs(sums[0] - sums[1]).sum() <= stated


def share_of_zeros(bits: int) -> float:
    """How often the noise is 0, of `DRAWS` draws."""
    total = np.zeros(DRAWS, dtype=np.int64)
    answer = laplace_sum(total, 1.0, LaplacePrice(1, bits, DRAWS), SeededEntropy(3))
    return float(np.mean(answer.value == 0.0))


def test_the_noise_has_the_scale_that_is_priced() -> None:
    """40,000 draws; the share of zeros is tanh(1 / (2 scale)) within 6 deviations, but with probability below 1e-8."""
    expected = math.tanh(1 / (2 * 2**3))
    deviation = math.sqrt(expected * (1 - expected) / DRAWS)
    assert abs(share_of_zeros(3) - expected) < 6 * deviation
    # The seeded faults: half and twice the scale.
    assert abs(share_of_zeros(2) - expected) > 6 * deviation
    assert abs(share_of_zeros(4) - expected) > 6 * deviation


def test_the_stated_deviation_is_that_of_the_noise() -> None:
    """40,000 draws; a sample deviation of Laplace noise is within 6% of its own but with probability below 1e-6."""
    answer = laplace_sum(np.zeros(DRAWS, dtype=np.int64), 4.0, LaplacePrice(1, 10, DRAWS), SeededEntropy(4))
    assert np.std(answer.value) == pytest.approx(answer.noise_scale, rel=0.06)


def test_without_entropy_the_sum_is_exact() -> None:
    answer = laplace_sum(np.arange(3), 2.0, LaplacePrice(1, 10, 3), None)
    assert (answer.value.tolist(), answer.noise_scale) == ([0.0, 0.5, 1.0], 0.0)


def test_a_sum_of_another_width_is_refused_before_a_record_is_touched() -> None:
    store: Any = None
    with pytest.raises(SettingError, match="2 coordinates, and this one has 4"):
        answer_gradient(GradientSum(np.zeros(WIDTH), 1.0), LaplacePrice(2**20, 22, 2), store, SeededEntropy(1))
    with pytest.raises(SettingError, match="coordinates"):
        laplace_sum(np.zeros(3, dtype=np.int64), 1.0, LaplacePrice(1, 1, 4), None)
