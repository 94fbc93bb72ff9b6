"""One-run audits. Oracle: randomised response, which attains the bound."""

import math

import numpy as np
import pytest
from scipy import stats

from tacit.audit.one_run import one_run_epsilon, one_run_p_value
from tacit.errors import SettingError

AUDITS = 10_000
CONFIDENCE = 0.99


def exceeded(true: float, claimed: float) -> int:
    """Audits of randomised response with ε `true`, 500 canaries each, whose bound is above `claimed`."""
    rng = np.random.default_rng(0)
    right = rng.binomial(500, 1 / (1 + math.exp(-true)), AUDITS)
    bounds = {int(v): one_run_epsilon(500, 500, int(v), confidence=CONFIDENCE) for v in np.unique(right)}
    return sum(bounds[int(v)] > claimed for v in right)


def test_ideal_audits_exceed_the_truth_at_the_stated_rate() -> None:
    """10,000 audits at 99%: a false alarm in 1e-7."""
    assert exceeded(2.0, 2.0) <= stats.binom.isf(1e-7, AUDITS, 1 - CONFIDENCE)
    # A mechanism that costs more than it claims is seen.
    assert exceeded(2.5, 2.0) > stats.binom.isf(1e-7, AUDITS, 1 - CONFIDENCE)


def test_delta_only_weakens_the_bound() -> None:
    plain = one_run_epsilon(1000, 200, 195)
    assert 0.0 < one_run_epsilon(1000, 200, 195, delta=1e-5) <= plain
    assert one_run_p_value(1000, 200, 195, 1.0, 1e-5) >= one_run_p_value(1000, 200, 195, 1.0)


def test_nothing_is_shown_by_guessing() -> None:
    assert one_run_epsilon(1000, 1000, 500) == 0.0
    assert one_run_epsilon(1000, 0, 0) == 0.0


@pytest.mark.parametrize("given", [(0, 0, 0), (10, 11, 0), (10, 5, 6)])
def test_bad_counts_are_refused(given: tuple[int, int, int]) -> None:
    with pytest.raises(SettingError):
        one_run_epsilon(*given)
