"""Sums plus noise: exact without entropy, unbiased and symmetric with it."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.contract.sensitivity import Price
from tacit.mechanisms.gaussian_sum import noised_sum
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.gaussian import rounded_gaussian

PRICE = Price(1 << 10, 12)
UNIT = 96.0


@pytest.mark.parametrize("symmetric", [False, True])
def test_without_entropy_the_sum_is_exact(symmetric: bool) -> None:
    total = np.array([[3, 5], [5, -7]])
    found = noised_sum(total, UNIT, PRICE, None, symmetric=symmetric)
    assert found.value.tolist() == (total / UNIT).tolist()
    assert found.noise_scale == 0.0


def test_the_noise_is_one_exact_draw_an_entry() -> None:
    total = np.arange(6).reshape(2, 3)
    found = noised_sum(total, UNIT, PRICE, SeededEntropy(3))
    drawn = rounded_gaussian(6, PRICE.bits, SeededEntropy(3)).reshape(2, 3)
    assert found.value.tolist() == ((total + drawn) / UNIT).tolist()
    assert found.noise_scale == 2.0**PRICE.bits / UNIT


def test_symmetric_noise_is_averaged_with_its_transpose() -> None:
    """20,000 matrices: deviations on and off the diagonal within 5 of their own deviations."""
    total = np.zeros((20_000, 2, 2), dtype=np.int64)
    found = noised_sum(total, UNIT, PRICE, SystemEntropy(), symmetric=True)
    assert (found.value == found.value.swapaxes(1, 2)).all()
    ratio = found.value.std(axis=0) / found.noise_scale
    expected = np.array([[1.0, np.sqrt(0.5)], [np.sqrt(0.5), 1.0]])
    assert np.abs(ratio / expected - 1.0).max() < 5 / np.sqrt(2 * len(total))
