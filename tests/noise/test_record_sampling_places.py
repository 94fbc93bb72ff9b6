"""Random places: exactly uniform injections, whose restriction does not tell how many were drawn."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tacit.errors import SettingError
from tacit.noise.entropy import SeededEntropy
from tacit.noise.record_sampling import random_places

DRAWS = 24_000
FALSE_ALARM = 1e-7


def test_all_injections_are_equally_likely() -> None:
    entropy = SeededEntropy(5)
    counts = Counter(tuple(random_places(2, 4, entropy).tolist()) for _ in range(DRAWS))
    assert len(counts) == 12
    assert stats.chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_the_first_of_several_have_the_law_of_a_few() -> None:
    """Whether one more record is drawn does not change where the others stand: 24,000 draws, false alarms 1e-7."""
    entropy = SeededEntropy(6)
    tables = [
        Counter(tuple(random_places(count, 4, entropy)[:2].tolist()) for _ in range(DRAWS)) for count in (2, 3, 4)
    ]
    keys = sorted(tables[0])
    assert stats.chi2_contingency([[table[key] for key in keys] for table in tables]).pvalue > FALSE_ALARM


class Repeating:
    """Words that are equal at first."""

    secure = False

    def __init__(self) -> None:
        self.calls = 0

    def words(self, count: int) -> np.ndarray:
        self.calls += 1
        return np.zeros(count, np.uint64) if self.calls == 1 else np.arange(count, dtype=np.uint64)[::-1].copy()


def test_equal_words_are_drawn_again() -> None:
    entropy = Repeating()
    assert np.array_equal(random_places(3, 3, entropy), [2, 1, 0])
    assert entropy.calls == 2


def test_more_records_than_places_are_refused() -> None:
    with pytest.raises(SettingError, match="fewer places"):
        random_places(4, 3, SeededEntropy(1))
    assert len(random_places(0, 3, SeededEntropy(1))) == 0
