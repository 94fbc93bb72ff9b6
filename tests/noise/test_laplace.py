"""The discrete Laplace sampler: its law, what the checks say of broken samplers, its parts.

Every check returns a p-value and alarms below 1e-6, its false-alarm rate. Oracle: the closed form in mpmath.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.errors import SettingError
from tacit.noise import laplace
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.noise.gaussian import rounded_gaussian
from tacit.noise.laplace import discrete_laplace

FALSE_ALARM = 1e-6
DRAWS = 1_000_000
Draws = NDArray[np.int64]
Sampler = Callable[[int, Fraction, Entropy], Draws]


def beyond(k: int, scale: Fraction) -> float:
    """P(|K| >= k), k >= 1."""
    with mpmath.workdps(40):
        rate = mpmath.mpf(scale.denominator) / scale.numerator
        return float(2 * mpmath.exp(-rate * k) / (1 + mpmath.exp(-rate)))


def law_check(draws: Draws, scale: Fraction) -> float:
    """Chi-square over cells of sign and magnitude with 50 or more expected draws, the last unbounded."""
    step, edges = max(1, int(scale / 64)), [1]
    while draws.size * beyond(edges[-1] + step, scale) > 200:
        start = edges[-1] + step
        while draws.size * (beyond(edges[-1], scale) - beyond(start, scale)) < 100:
            start += step
        edges.append(start)
    tails = np.array([beyond(edge, scale) for edge in edges] + [0.0])
    half = draws.size * -np.diff(tails) / 2
    expected = np.concatenate([[draws.size - 2 * half.sum()], half, half])
    cells = np.searchsorted(np.array(edges), np.abs(draws), side="right")
    signed = np.where(draws < 0, cells + len(edges), cells)
    observed = np.bincount(signed, minlength=expected.size)
    kept = expected > 5
    if kept.sum() < 2:
        return float(stats.binomtest(int(observed[0]), draws.size, float(expected[0] / draws.size)).pvalue)
    return float(stats.chisquare(observed[kept], expected[kept] * observed[kept].sum() / expected[kept].sum()).pvalue)


def tail_check(draws: Draws, scale: Fraction) -> float:
    """Exact binomial of the draws beyond 9 and 11 scales; the lesser, doubled."""
    worst = 1.0
    for multiple in (9, 11):
        edge = int(multiple * scale) + 1
        seen = int(np.count_nonzero(np.abs(draws) >= edge))
        worst = min(worst, stats.binomtest(seen, draws.size, beyond(edge, scale)).pvalue)
    return 2 * worst


def symmetry_check(draws: Draws, _scale: Fraction) -> float:
    """Exact binomial: as many negative as positive draws."""
    positive, negative = int(np.count_nonzero(draws > 0)), int(np.count_nonzero(draws < 0))
    return float(stats.binomtest(positive, positive + negative).pvalue)


SCALES = [
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(16),
    Fraction(1000, 7),
    Fraction(2**40),
    Fraction(2**52),
]


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_t17_law_at_all_scales(scale: Fraction) -> None:
    """n = 1 000 000 a scale; false alarm 1e-6 over the three checks."""
    draws = discrete_laplace(DRAWS, scale, SeededEntropy(int(scale) % 1000))
    for check in (law_check, tail_check, symmetry_check):
        assert check(draws, scale) > FALSE_ALARM / 3, check.__name__


def test_t17_every_value_of_a_small_scale() -> None:
    """P(K = k), |k| <= 6, at scale 3/2: n = 1 000 000, binomial at 1e-6 / 13."""
    draws = discrete_laplace(DRAWS, Fraction(3, 2), SeededEntropy(20))
    for k in range(-6, 7):
        probability = float(np.tanh(1 / 3) * np.exp(-abs(k) * 2 / 3))
        seen = int(np.count_nonzero(draws == k))
        assert stats.binomtest(seen, DRAWS, probability).pvalue > FALSE_ALARM / 13


def test_low_bits_are_fair_on_a_fine_lattice() -> None:
    """Low byte uniform at scale 2^40: n = 1 000 000, chi-square at 1e-6."""
    draws = discrete_laplace(DRAWS, 2**40, SeededEntropy(21))
    assert stats.chisquare(np.bincount(draws & 255, minlength=256)).pvalue > FALSE_ALARM


def test_t16_draws_added_to_zero_and_to_one_share_one_lattice() -> None:
    """Every integer within two scales of 32 is hit: n = 1 000 000; a miss has probability below 1e-800."""
    draws = discrete_laplace(DRAWS, 32, SeededEntropy(22))
    window = np.arange(-63, 64)
    assert np.isin(window, draws).all()
    assert np.isin(window, draws + 1).all()


@pytest.mark.parametrize("scale", [Fraction(2, 3), Fraction(50), Fraction(2**30)], ids=str)
def test_same_law_where_exact_arithmetic_settles(scale: Fraction) -> None:
    """All trials inside a strip settled in integers: n = 10 000; false alarm 1e-6 over two checks."""
    draws = discrete_laplace(10_000, scale, SeededEntropy(23), band=2.0)
    assert min(law_check(draws, scale), symmetry_check(draws, scale)) > FALSE_ALARM / 2


def test_exact_arithmetic_gives_the_same_draws() -> None:
    """A kernel's decision is that of integers on the same bits."""
    scale = Fraction(1000, 7)
    fast = discrete_laplace(4000, scale, SplitEntropy(24))
    slow = discrete_laplace(4000, scale, SplitEntropy(24), band=2.0)
    assert np.array_equal(fast, slow)


@dataclass(frozen=True)
class SplitEntropy:
    """Words of trials and words that extend a uniform (asked for one by one) from two streams."""

    seed: int
    trials: SeededEntropy = field(init=False)
    extensions: SeededEntropy = field(init=False)
    secure: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "trials", SeededEntropy(2 * self.seed))
        object.__setattr__(self, "extensions", SeededEntropy(2 * self.seed + 1))

    def words(self, count: int) -> NDArray[np.uint64]:
        return (self.extensions if count == 1 else self.trials).words(count)


@dataclass(frozen=True)
class TailEntropy:
    """Forces the strip choice of every trial into the last cell of the table, 2^31 - 1."""

    stream: SeededEntropy = field(default_factory=lambda: SeededEntropy(25))
    secure: bool = False

    def words(self, count: int) -> NDArray[np.uint64]:
        words = self.stream.words(count)
        if count > 1:
            words[::2] |= np.uint64(laplace.CHOICE_MASK << laplace.LEVEL_BITS)
        return words


def test_the_tail_beyond_the_table_is_not_cut() -> None:
    """Strips given that the uniform is beyond 1 - 2^-31 are memoryless: n = 4000, chi-square at 1e-6."""
    scale = Fraction(8)  # one integer a strip, ratio exp(-1/8)
    draws = np.abs(discrete_laplace(4000, scale, TailEntropy()))
    edge = int(np.ceil(31 * np.log(2) * 8))
    assert draws.min() >= edge - 1
    # P(strip >= k | beyond) = 2^31 exp(-k/8) for k >= edge.
    above = np.minimum(1.0, 2.0**31 * np.exp(-np.arange(edge, edge + 40) / 8))
    expected = 4000 * -np.diff(np.concatenate([[1.0], above, [0.0]]))
    observed = np.bincount(np.minimum(draws, edge + 39) - (edge - 1), minlength=expected.size)
    kept = expected > 5
    assert stats.chisquare(observed[kept], expected[kept] * observed[kept].sum() / expected[kept].sum()).pvalue > 1e-6


def inverted(count: int, scale: Fraction, entropy: Entropy) -> Draws:
    """Bug T18: the scale is upside down."""
    return discrete_laplace(count, 1 / scale, entropy)


def slightly_narrow(count: int, scale: Fraction, entropy: Entropy) -> Draws:
    """Bug: the scale is two per cent too small."""
    return discrete_laplace(count, scale * 98 / 100, entropy)


def with_two_zeros(count: int, scale: Fraction, entropy: Entropy) -> Draws:
    """Bug: a negative zero is not rejected."""
    draws = discrete_laplace(2 * count, scale, entropy)
    signs = np.where(entropy.words(2 * count) & np.uint64(1), 1, -1)
    both: Draws = np.concatenate([draws[draws >= 0], np.zeros(np.count_nonzero(draws == 0), np.int64)])[:count]
    return both * signs[: both.size]


def truncated(count: int, scale: Fraction, entropy: Entropy) -> Draws:
    """Bug: the tail beyond nine scales is redrawn."""
    draws = discrete_laplace(count + count // 50, scale, entropy)
    kept: Draws = draws[np.abs(draws) <= 9 * scale][:count]
    return kept


def gaussian_instead(count: int, scale: Fraction, entropy: Entropy) -> Draws:
    """Bug: Gaussian noise of the same deviation."""
    rounded: Draws = np.rint(rounded_gaussian(count, 20, entropy) * (2**0.5 * float(scale) / 2**20)).astype(np.int64)
    return rounded


def with_sign_bias(count: int, scale: Fraction, entropy: Entropy) -> Draws:
    """Bug: one per cent of the draws lose their sign."""
    draws = discrete_laplace(count, scale, entropy)
    draws[::100] = np.abs(draws[::100])
    return draws


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (inverted, law_check),
        (slightly_narrow, law_check),
        (with_two_zeros, law_check),
        (truncated, tail_check),
        (gaussian_instead, law_check),
        (with_sign_bias, symmetry_check),
    ],
)
def test_t18_the_checks_reject_broken_samplers(broken: Sampler, check: Callable[[Draws, Fraction], float]) -> None:
    """n = 1 000 000 at scale 7/2, where the true sampler passes."""
    scale = Fraction(7, 2)
    assert check(broken(DRAWS, scale, SeededEntropy(26)), scale) < FALSE_ALARM


def test_draws_are_independent_of_their_neighbours() -> None:
    """Lag-one products of k and of |k|: n = 1 000 000, false alarm 1e-6 in both."""
    draws = discrete_laplace(DRAWS, 2**30, SeededEntropy(27)) / 2.0**30
    for series in (draws, np.abs(draws)):
        centred = (series - series.mean()) / series.std()
        statistic = float(np.sum(centred[1:] * centred[:-1])) / np.sqrt(DRAWS - 1)
        assert 2 * stats.norm.sf(abs(statistic)) > FALSE_ALARM / 2


@pytest.mark.parametrize(
    ("count", "scale"), [(-1, 1), (1, 0), (1, -2), (1, 2.0), (1, 2**53), (1, Fraction(1, 2**53)), (1, float("nan"))]
)
def test_settings_out_of_range_are_refused(count: int, scale: Fraction) -> None:
    with pytest.raises(SettingError):
        discrete_laplace(count, scale, SystemEntropy())


def test_t13_processes_and_a_fork_never_share_a_draw() -> None:
    """n = 4 × 200 draws at scale 2^52: a coincidence has probability below 1e-9."""
    script = (
        "import os; from tacit.noise.entropy import SystemEntropy as S\n"
        "from tacit.noise.laplace import discrete_laplace as r\n"
        "print(*r(200, 2**52, S()), flush=True); child = os.fork()\n"
        "child and os.waitpid(child, 0); print(*r(200, 2**52, S()), flush=True); os._exit(0)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    finished = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    here = discrete_laplace(200, 2**52, SystemEntropy()).tolist()
    draws = [abs(int(word)) for word in (*finished.stdout.split(), *here)]
    assert len(draws) == 4 * 200
    assert len(set(draws)) == len(draws)


def test_seeded_draws_repeat_and_small_requests_are_quick() -> None:
    assert np.array_equal(discrete_laplace(500, 9, SeededEntropy(1)), discrete_laplace(500, 9, SeededEntropy(1)))
    durations = []
    for _ in range(50):
        started = time.perf_counter()
        discrete_laplace(20, 9, SystemEntropy())
        durations.append(time.perf_counter() - started)
    assert min(durations) < 100e-6
