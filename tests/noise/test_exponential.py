"""Enclosures of exp(-a/b), and coins that are settled with as many bits as they need.

Oracle: mpmath.
"""

from dataclasses import dataclass

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from tacit.noise.entropy import SeededEntropy
from tacit.noise.exponential import WORD_BITS, exponential_bounds, settle_coin


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 1 << 140), st.integers(1, 1 << 130), st.sampled_from([8, 31, 63, 127, 400]))
def test_exponential_bounds_enclose(numerator: int, denominator: int, precision: int) -> None:
    numerator = min(numerator, 700 * denominator)
    low, high = exponential_bounds(numerator, denominator, precision)
    with mpmath.workdps(400):
        exact = mpmath.ldexp(mpmath.exp(-mpmath.mpf(numerator) / denominator), precision)
        assert low <= exact <= high
    assert 0 <= low <= high <= low + 2


def test_the_ends() -> None:
    assert exponential_bounds(0, 7, 64) == (2**64, 2**64)
    low, high = exponential_bounds(10**30, 1, 64)
    assert (low, high) == (0, 1)


@dataclass(frozen=True)
class ScriptedEntropy:
    """Hands out the given words, then fails: shows how many were needed."""

    script: list[int]
    secure: bool = False

    def words(self, count: int) -> NDArray[np.uint64]:
        assert count <= len(self.script), "more words asked for than scripted"
        handed_out, self.script[:] = self.script[:count], self.script[count:]
        return np.array(handed_out, dtype=np.uint64)


@pytest.mark.parametrize(("above", "below"), [(1, 1), (3, 5)])
def test_a_coin_at_the_edge_asks_for_more_bits(above: int, below: int) -> None:
    with mpmath.workdps(100):
        edge = mpmath.exp(-mpmath.mpf(2) / 3) * above / below
        prefix = int(mpmath.floor(mpmath.ldexp(edge, 160)))
    level, middle, last = prefix >> 128, (prefix >> 64) % 2**64, prefix % 2**64
    for move, heads in ((-1, True), (1, False)):
        script = [middle, last + move]
        assert settle_coin(level, 32, 2, 3, ScriptedEntropy(script), (above, below)) is heads
        assert script == []
    assert settle_coin(level - 1, 32, 2, 3, ScriptedEntropy([]), (above, below))
    assert not settle_coin(level + 1, 32, 2, 3, ScriptedEntropy([]), (above, below))


@pytest.mark.parametrize(("bits", "wrong"), [(1, False), (WORD_BITS, False), (WORD_BITS, True)])
def test_coins_show_heads_as_often_as_they_should(bits: int, *, wrong: bool) -> None:
    """n = 20 000 coins of exp(-5/7)/2, exact binomial at 1e-6; exp(-7/5), the inverted rate, is rejected."""
    entropy, heads = SeededEntropy(11), 0
    rate = (7, 5) if wrong else (5, 7)
    for word in entropy.words(20_000):
        heads += settle_coin(int(word) >> (WORD_BITS - bits), bits, *rate, entropy, (1, 2))
    probability = float(mpmath.exp(-mpmath.mpf(5) / 7) / 2)
    assert (stats.binomtest(heads, 20_000, probability).pvalue > 1e-6) is not wrong
