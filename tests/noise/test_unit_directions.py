"""Uniform numbers and directions. Oracle: scipy's laws; each check alarms below 1e-6."""

import numpy as np
import pytest
from scipy import stats

from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.unit_directions import uniforms, unit_directions


def test_t17_uniforms() -> None:
    """n = 100 000, Kolmogorov-Smirnov at 1e-6."""
    drawn = uniforms(100_000, SeededEntropy(1))
    assert stats.kstest(drawn, stats.uniform.cdf).pvalue > 1e-6
    assert 0.0 < drawn.min() <= drawn.max() <= 1.0


@pytest.mark.parametrize("size", [1, 2, 5, 10])
def test_t17_directions(size: int) -> None:
    """n = 50 000; the first coordinate's law, at 1e-6."""
    drawn = unit_directions(50_000, size, SeededEntropy(size))
    assert np.allclose(np.linalg.norm(drawn, axis=1), 1.0)
    if size == 1:
        assert stats.binomtest(int((drawn > 0).sum()), len(drawn)).pvalue > 1e-6
        return
    law = stats.beta((size - 1) / 2, (size - 1) / 2, loc=-1, scale=2)
    assert stats.kstest(drawn[:, 0], law.cdf).pvalue > 1e-6
    # A cube's directions would fail.
    cube = np.random.default_rng(3).uniform(-1, 1, size=(50_000, size))
    assert size == 2 or stats.kstest((cube / np.linalg.norm(cube, axis=1)[:, None])[:, 0], law.cdf).pvalue < 1e-6


def test_t13_draws_do_not_repeat() -> None:
    assert not np.array_equal(uniforms(4, SystemEntropy()), uniforms(4, SystemEntropy()))
    assert unit_directions(0, 3, SystemEntropy()).shape == (0, 3)
