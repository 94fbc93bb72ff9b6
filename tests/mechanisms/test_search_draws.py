"""The secret draws of a search."""

from fractions import Fraction

import numpy as np
from scipy import stats

from tacit.mechanisms.search_draws import search_draws
from tacit.privacy.event import NegativeBinomial, PoissonRuns


def test_settings_are_uniform_and_units_validate_by_their_share() -> None:
    """4,000 settings of 5, and 20,000 units: false alarms at most 1e-7 each."""
    draws = [search_draws(PoissonRuns(20), 5, 100, Fraction(1, 4), seed) for seed in range(200)]
    settings = np.concatenate([it.settings for it in draws])
    assert stats.chisquare(np.bincount(settings, minlength=5)).pvalue > 1e-7
    validating = sum(int(it.validation.sum()) for it in draws)
    assert stats.binomtest(validating, 20_000, 0.25).pvalue > 1e-7
    assert stats.binomtest(validating, 20_000, 0.3).pvalue < 1e-7  # A wrong share is seen.


def test_nothing_is_shown_and_nothing_repeats() -> None:
    law = NegativeBinomial(1, Fraction(1, 3))
    first, second = (search_draws(law, 50, 1000, Fraction(1, 2), None) for _ in range(2))
    assert not (first.validation == second.validation).all()
    assert "settings=" not in repr(first)
    same = [search_draws(law, 50, 1000, Fraction(1, 2), 7) for _ in range(2)]
    assert same[0].settings == same[1].settings
    assert (same[0].validation == same[1].validation).all()


def test_share_zero_validates_nobody() -> None:
    assert not search_draws(PoissonRuns(1), 2, 500, Fraction(0), None).validation.any()
