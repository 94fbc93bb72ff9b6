"""The number of trials. Oracle: the masses of Papernot and Steinke's Definition 1, by mpmath; scipy's Poisson law."""

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from tacit.noise import run_counts
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.run_counts import drawn_runs
from tacit.privacy.event import NegativeBinomial, PoissonRuns, RunCountLaw

FALSE_ALARM = 1e-7
DRAWS = 3000
LAWS: list[RunCountLaw] = [
    PoissonRuns(10),
    PoissonRuns(Fraction(1, 3)),
    NegativeBinomial(1, Fraction(1, 4)),
    NegativeBinomial(0, Fraction(1, 20)),
    NegativeBinomial(Fraction(-1, 2), Fraction(1, 50)),
    NegativeBinomial(Fraction(5, 2), Fraction(1, 3)),
]


def masses(law: RunCountLaw, most: int = 400) -> np.ndarray:
    if isinstance(law, PoissonRuns):
        return np.asarray(stats.poisson(float(law.mean)).pmf(np.arange(most)))
    eta, gamma = mpmath.mpf(str(float(law.shape))), mpmath.mpf(float(law.gamma))
    found = [mpmath.mpf(0)]
    for k in range(1, most):
        if eta == 0:
            found.append((1 - gamma) ** k / (k * mpmath.log(1 / gamma)))
        else:
            product = mpmath.gammaprod([k + eta], [eta, k + 1])
            found.append((1 - gamma) ** k / (gamma**-eta - 1) * product)
    return np.array([float(it) for it in found])


def p_value(law: RunCountLaw, draw: Callable[[RunCountLaw], int]) -> float:
    """Chi-square over the cells with at least ten expected draws, the others in one."""
    expected = DRAWS * masses(law)
    counts = np.bincount([min(draw(law), 399) for _ in range(DRAWS)], minlength=400)
    large = expected >= 10
    sizes = np.append(expected[large], DRAWS - expected[large].sum())
    seen = np.append(counts[large], counts[~large].sum())
    return float(stats.chisquare(seen, sizes).pvalue)


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_law(law: RunCountLaw) -> None:
    """Six tests of 3,000 draws, at most 1e-7 false alarms each."""
    entropy = SeededEntropy(5)
    assert p_value(law, lambda it: drawn_runs(it, entropy)) > FALSE_ALARM


def test_the_test_sees_a_run_too_many() -> None:
    entropy = SeededEntropy(5)
    assert p_value(LAWS[0], lambda it: drawn_runs(it, entropy) + 1) < FALSE_ALARM


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_enclosures_hold_the_distribution_function(law: RunCountLaw) -> None:
    first, lows, highs, (least, most) = run_counts._enclosure(law, 128)
    exact = np.cumsum(masses(law, 50))[first:]
    for place in range(min(len(lows), 30)):
        assert lows[place] / most <= exact[place] * (1 + 1e-12) + 1e-12
        assert highs[place] / least >= exact[place] * (1 - 1e-12) - 1e-12
        assert highs[place] * most - lows[place] * least < most * least >> 100


def test_unsettled_uniforms_get_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 64 bits looked at first, the same words give the same numbers: bits are added to the same uniform."""
    twin = SeededEntropy(3)
    expected = [drawn_runs(LAWS[3], twin) for _ in range(20)]
    law, entropy = LAWS[3], SeededEntropy(3)
    monkeypatch.setattr(run_counts, "FIRST_BITS", 64)
    found = []
    for _ in range(20):
        found.append(drawn_runs(law, entropy))
        entropy.words(1)
    assert found == expected
    assert run_counts._settled(law, 0, 1) is None


def test_system_entropy_serves() -> None:
    assert all(drawn_runs(NegativeBinomial(1, Fraction(1, 2)), SystemEntropy()) >= 1 for _ in range(20))
