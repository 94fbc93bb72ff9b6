"""Goodness of fit of the exact sampler, and of what each test would say of a broken one.

Every check returns a p-value and alarms below 1e-6; its false-alarm rate is therefore at most 1e-6
(chi-square cells are pooled to 50 expected draws or more). Oracle: scipy's normal tail, mpmath for
the far tail. Streams are seeded, except where the operating system's own is the subject.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

from tacit.noise import gaussian
from tacit.noise.entropy import Entropy, SeededEntropy, SystemEntropy
from tacit.noise.gaussian import rounded_gaussian

FALSE_ALARM = 1e-6
DRAWS = 2_000_000
EXPECTED_PER_CELL = 50.0
Draws = NDArray[np.int64]


def cell_edges(count: int, bits: int) -> Draws:
    """Lower edges of cells of |K|: a 64th of σ or one step wide, pooled to the expected counts."""
    step = max(1, (1 << bits) // 64)
    edges, start = [0], 0
    while True:
        start += step
        tail = 2.0 * special.ndtr(-(start - 0.5) / 2.0**bits)
        if count * tail < 2 * EXPECTED_PER_CELL:
            return np.array(edges, dtype=np.int64)
        since = 2.0 * special.ndtr(-(edges[-1] - 0.5) / 2.0**bits) if edges[-1] else 1.0
        if count * (since - tail) >= 2 * EXPECTED_PER_CELL:
            edges.append(start)


def law_check(draws: Draws, bits: int) -> float:
    """Chi-square over cells of sign and magnitude, the last one unbounded.

    Some 500 cells dilute the tail, which `tail_check` therefore tests on its own.
    """
    edges = cell_edges(draws.size, bits)
    beyond = 2.0 * special.ndtr(-(edges[1:] - 0.5) / 2.0**bits)
    probabilities = -np.diff(np.concatenate([[1.0], beyond, [0.0]]))
    cells = np.searchsorted(edges, np.abs(draws), side="right") - 1
    # Zero has no sign: the first cell is not split, and so it is counted once.
    negative = np.bincount(cells[draws < 0], minlength=edges.size)
    positive = np.bincount(cells[draws >= 0], minlength=edges.size)
    observed = np.concatenate([[negative[0] + positive[0]], negative[1:], positive[1:]])
    half = probabilities[1:] / 2
    expected = draws.size * np.concatenate([probabilities[:1], half, half])
    return float(stats.chisquare(observed, expected * (draws.size / expected.sum())).pvalue)


def tail_check(draws: Draws, bits: int) -> float:
    """Exact binomial of the draws at 4, 4.5 and 5 σ and beyond; the least, times three."""
    worst = 1.0
    for sigmas in (4.0, 4.5, 5.0):
        edge = int(np.ceil(sigmas * 2**bits))
        probability = 2.0 * float(special.ndtr(-(edge - 0.5) / 2.0**bits))
        seen = int(np.count_nonzero(np.abs(draws) >= edge))
        worst = min(worst, stats.binomtest(seen, draws.size, probability).pvalue)
    return 3 * worst


def low_bits_check(draws: Draws, bits: int) -> float:
    """Low byte uniform (chi-square) and each of its bits fair (binomial); the least, times nine.

    For bits >= 12 the low byte differs from uniform by less than exp(-2π² 2^(2·bits - 16)).
    """
    assert bits >= 12
    low_byte = draws & 255
    worst = float(stats.chisquare(np.bincount(low_byte, minlength=256)).pvalue)
    for bit in range(8):
        ones = int(np.count_nonzero(low_byte >> bit & 1))
        worst = min(worst, stats.binomtest(ones, draws.size).pvalue)
    return 9 * worst


def symmetry_check(draws: Draws, _bits: int) -> float:
    """Exact binomial: as many negative as positive draws."""
    positive = int(np.count_nonzero(draws > 0))
    negative = int(np.count_nonzero(draws < 0))
    return float(stats.binomtest(positive, positive + negative).pvalue)


def moment_check(draws: Draws, bits: int) -> float:
    """Mean 0 and variance 1 + 2^(-2·bits)/12 in units of σ; the lesser p-value, doubled."""
    scaled = draws / 2.0**bits
    mean = scaled.mean() * np.sqrt(draws.size)
    variance = (np.mean(scaled**2) - 1.0 - 4.0**-bits / 12.0) * np.sqrt(draws.size / 2.0)
    return float(2 * min(2 * special.ndtr(-abs(mean)), 2 * special.ndtr(-abs(variance))))


CHECKS: list[Callable[[Draws, int], float]] = [law_check, tail_check, low_bits_check, symmetry_check, moment_check]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("bits", [12, 40])
def test_law(check: Callable[[Draws, int], float], bits: int) -> None:
    """n = 2 000 000 per lattice; false alarm 1e-6 per check."""
    draws = rounded_gaussian(DRAWS, bits, SeededEntropy(100 + bits))
    assert check(draws, bits) > FALSE_ALARM


@pytest.mark.parametrize("bits", [0, 1, 3, 6, 52])
def test_t17_law_at_extreme_and_coarse_scales(bits: int) -> None:
    """n = 2 000 000; false alarm 1e-6 over the two or three checks."""
    draws = rounded_gaussian(DRAWS, bits, SeededEntropy(200 + bits))
    pvalues = [law_check(draws, bits), symmetry_check(draws, bits)]
    if bits == 52:
        pvalues.append(low_bits_check(draws, bits))
    assert min(pvalues) > FALSE_ALARM / 3


def test_t17_every_value_of_the_coarsest_lattice() -> None:
    """P(K = k) at bits = 0, each k from -4 to 4: n = 2 000 000, binomial at 1e-6 / 9."""
    draws = rounded_gaussian(DRAWS, 0, SeededEntropy(300))
    for k in range(-4, 5):
        probability = float(special.ndtr(k + 0.5) - special.ndtr(k - 0.5))
        seen = int(np.count_nonzero(draws == k))
        assert stats.binomtest(seen, DRAWS, probability).pvalue > FALSE_ALARM / 9


def test_t16_draws_added_to_zero_and_to_one_share_one_lattice() -> None:
    """Every integer within 2 σ is hit: n = 2 000 000; a miss has probability below 1e-700."""
    draws = rounded_gaussian(DRAWS, 6, SeededEntropy(301))
    assert draws.dtype == np.int64
    window = np.arange(-127, 128)
    assert np.isin(window, draws).all()
    assert np.isin(window, draws + 1).all()


def test_draws_are_independent_of_their_neighbours() -> None:
    """Lag-one and lag-two products of z and of |z|: n = 2 000 000, false alarm 1e-6 in all."""
    z = rounded_gaussian(DRAWS, 40, SeededEntropy(302)) / 2.0**40
    for series in (z, z**2):
        centred = (series - series.mean()) / series.std()
        for lag in (1, 2):
            statistic = float(np.sum(centred[lag:] * centred[:-lag])) / np.sqrt(DRAWS - lag)
            assert 2 * special.ndtr(-abs(statistic)) > FALSE_ALARM / 4


def test_the_operating_systems_randomness_end_to_end() -> None:
    """n = 400 000 unseeded draws; false alarm 1e-6 over the five checks."""
    draws = rounded_gaussian(400_000, 40, SystemEntropy())
    assert min(check(draws, 40) for check in CHECKS) > FALSE_ALARM / len(CHECKS)


@pytest.mark.parametrize(("band", "count"), [(2.0**-8, 400_000), (2.0, 12_000)])
def test_same_law_where_exact_arithmetic_settles(band: float, count: int) -> None:
    """Some, then all trials settled slowly: n as given; false alarm 1e-6 over the four checks."""
    draws = gaussian.rounded_gaussian(count, 16, SeededEntropy(303), band)
    checks = (law_check, low_bits_check, symmetry_check, moment_check)
    assert min(check(draws, 16) for check in checks) > FALSE_ALARM / len(checks)


@dataclass(frozen=True)
class TailEntropy:
    """Forces the strip choice of every trial into the last cell, 2^31 - 1, of the table."""

    stream: SeededEntropy = field(default_factory=lambda: SeededEntropy(304))
    secure: bool = False

    def words(self, count: int) -> NDArray[np.uint64]:
        words = self.stream.words(count)
        if count > 1:
            words[::2] |= np.uint64(gaussian.CHOICE_MASK << gaussian.LEVEL_BITS)
        return words


def far_tail_probabilities(strips: range) -> list[float]:
    """P(strip | strip uniform >= 1 - 2^-31, accepted), from mpmath, for each strip."""
    with mpmath.workdps(60):
        weights = [mpmath.exp(-mpmath.mpf(j * j) / 512) for j in range(400)]
        total = sum(weights)
        masses, below = [], mpmath.mpf(0)
        for j, weight in enumerate(weights):
            start = max(below / total, 1 - mpmath.ldexp(1, -31))
            below += weight
            chosen = max(below / total - start, mpmath.mpf(0))
            x = mpmath.mpf(j) / 16
            area = (mpmath.ncdf(-x) - mpmath.ncdf(-x - mpmath.mpf(1) / 16)) * 16
            masses.append(chosen * area * mpmath.sqrt(2 * mpmath.pi) / weight)
        accepted = sum(masses)
        return [float(masses[j] / accepted) for j in strips]


def test_the_tail_beyond_the_table_is_not_cut() -> None:
    """Draws beyond 6.2 σ, one in 2^31 otherwise: n = 6000 by strips; false alarm 1e-6."""
    draws = np.abs(rounded_gaussian(6000, 20, TailEntropy()))
    # Half a step of 2^-20 moves a draw to the next strip too rarely to matter at this n.
    strips = draws >> (20 - gaussian.STRIP_BITS)
    first, last = int(strips.min()), int(strips.max())
    assert first >= 98
    inner = range(first, first + 14)
    probabilities = far_tail_probabilities(inner)
    observed = [int(np.count_nonzero(strips == strip)) for strip in inner]
    observed.append(6000 - sum(observed))
    expected = 6000 * np.array([*probabilities, 1.0 - sum(probabilities)])
    assert expected.min() > 5
    assert stats.chisquare(observed, expected).pvalue > FALSE_ALARM
    assert last >= first + 14


def truncated(count: int, bits: int, entropy: Entropy) -> Draws:
    """Bug: the tail beyond 4 σ is redrawn."""
    draws = rounded_gaussian(count + 1000, bits, entropy)
    kept: Draws = draws[np.abs(draws) < 4 << bits][:count]
    return kept


def without_low_bit(count: int, bits: int, entropy: Entropy) -> Draws:
    """Bug: the lowest bit is always zero."""
    even: Draws = rounded_gaussian(count, bits, entropy) & ~np.int64(1)
    return even


def with_sign_bias(count: int, bits: int, entropy: Entropy) -> Draws:
    """Bug: a half per cent of the draws lose their sign."""
    draws = rounded_gaussian(count, bits, entropy)
    draws[::200] = np.abs(draws[::200])
    return draws


def with_wrong_scale(count: int, bits: int, entropy: Entropy) -> Draws:
    """Bug: the standard deviation is one per cent too small."""
    scaled: Draws = np.rint(rounded_gaussian(count, bits, entropy) * 0.99).astype(np.int64)
    return scaled


def without_rejection(count: int, bits: int, entropy: Entropy) -> Draws:
    """Bug: every trial is accepted, so the density is a staircase of strips."""
    words = entropy.words(2 * count)
    words[::2] &= ~np.uint64(gaussian.LEVEL_MASK)
    table = gaussian._strip_table()
    draws = np.empty(count, dtype=np.int64)
    signed = words.view(np.int64)
    signed.flags.writeable = False
    _, filled, _ = gaussian._run_trials(signed, 0, draws, 0, *table, 52 - bits, gaussian.BAND)
    return draws[:filled]


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (truncated, tail_check),
        (without_low_bit, low_bits_check),
        (with_sign_bias, symmetry_check),
        (with_sign_bias, moment_check),
        (with_wrong_scale, moment_check),
        (with_wrong_scale, law_check),
        (without_rejection, law_check),
    ],
)
def test_the_checks_reject_broken_samplers(
    broken: Callable[[int, int, Entropy], Draws], check: Callable[[Draws, int], float]
) -> None:
    """n = 2 000 000, the size at which the true sampler passes the same check."""
    draws = broken(DRAWS, 40, SeededEntropy(305))
    assert draws.size > DRAWS // 2
    assert check(draws, 40) < FALSE_ALARM
