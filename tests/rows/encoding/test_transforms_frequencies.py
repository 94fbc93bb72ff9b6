"""Public random numbers against published values and scipy's normal distribution."""

import math

import numpy as np
import pytest
from scipy import stats

from tacit.rows.encoding.transforms import _inverse_normal, frequencies_in_turns, normal_draws, uniform_words


def test_words_are_those_of_splitmix64() -> None:
    # The first outputs of the reference implementation for seed 1234567.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert uniform_words(1234567, 3).tolist() == expected


def test_the_inverse_is_scipys() -> None:
    p = np.concatenate([10.0 ** -np.linspace(0.31, 16, 200), 1 - 10.0 ** -np.linspace(0.31, 12, 99)])
    np.testing.assert_allclose(_inverse_normal(p), stats.norm.ppf(p), rtol=1e-14, atol=1e-16)


def test_draws_are_normal() -> None:
    # 200 000 draws of a fixed seed; under the null, mean and variance stay within five standard
    # errors but with probability 1.2e-6, and the seed is fixed besides.
    draws = normal_draws(5, 200_000)
    assert abs(draws.mean()) < 5 / math.sqrt(len(draws))
    assert abs(draws.var() - 1) < 5 * math.sqrt(2 / len(draws))
    assert stats.kstest(draws, "norm").pvalue > 1e-6


def test_the_same_seed_gives_the_same_frequencies_and_another_others() -> None:
    first = frequencies_in_turns(7, 3, 5, 2.0)
    assert first.tobytes() == frequencies_in_turns(7, 3, 5, 2.0).tobytes()
    assert first.shape == (3, 5)
    assert not np.isin(first, frequencies_in_turns(8, 3, 5, 2.0)).any()
    # More frequencies leave the earlier ones as they are.
    np.testing.assert_array_equal(frequencies_in_turns(7, 3, 9, 2.0)[:, :5], first)


@pytest.mark.parametrize("scale", [0.5, 3.0])
def test_the_scale_divides(scale: float) -> None:
    expected = frequencies_in_turns(1, 2, 4, 1.0) / scale
    np.testing.assert_allclose(frequencies_in_turns(1, 2, 4, scale), expected, rtol=1e-15)
