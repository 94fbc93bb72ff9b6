"""Random blocks and orders: uniform, independent of everything but their number."""

import numpy as np
from scipy import stats

from tacit.noise.entropy import SeededEntropy
from tacit.noise.partition import draw_blocks, draw_order

RARE = 1e-6


def test_blocks_are_uniform() -> None:
    """70,000 seeded draws of 7 blocks, so no false alarms; a chi-square test at 1e-6."""
    counts = np.bincount(draw_blocks(70_000, 7, SeededEntropy(1)), minlength=7)
    assert stats.chisquare(counts).pvalue > RARE


def test_a_fault_in_the_draw_is_seen() -> None:
    """The same test refutes blocks of which one is drawn a tenth too often."""
    drawn = draw_blocks(70_000, 7, SeededEntropy(1))
    drawn[: len(drawn) // 60] = 0
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue < RARE


def test_orders_are_uniform() -> None:
    """Seeded: all 6 orders of 3, 12,000 draws, at 1e-6."""
    entropy = SeededEntropy(2)
    codes = [int(draw_order(3, entropy) @ [9, 3, 1]) for _ in range(12_000)]
    _, counts = np.unique(codes, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > RARE


def test_equal_words_are_drawn_again() -> None:
    class Stuck:
        secure = False

        def __init__(self) -> None:
            self.calls = 0

        def words(self, count: int) -> np.ndarray:
            self.calls += 1
            return np.zeros(count, np.uint64) if self.calls < 3 else np.arange(count, dtype=np.uint64)[::-1].copy()

    entropy = Stuck()
    assert draw_order(4, entropy).tolist() == [3, 2, 1, 0]
    assert entropy.calls == 3
    assert draw_order(0, SeededEntropy(1)).size == 0
