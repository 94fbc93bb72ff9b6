"""The parts of the exact sampler: bounds, table, certified comparison, lazy bits, interface.

Oracle: mpmath at 80 digits. The goodness-of-fit tests are in `test_gaussian_law.py`.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise import gaussian
from tacit.noise.entropy import SeededEntropy, SystemEntropy
from tacit.noise.gaussian import BAND, rounded_gaussian

EVERYTHING_SLOW = 2.0


@pytest.fixture(autouse=True)
def eighty_digits() -> Iterator[None]:
    with mpmath.workdps(80):
        yield


def sum_of_weights() -> mpmath.mpf:
    """All strip weights exp(-j²/512), j >= 0, from Jacobi's theta function."""
    return (mpmath.jtheta(3, 0, mpmath.exp(-mpmath.mpf(1) / 512)) + 1) / 2


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
class ScriptedEntropy:
    """Hands out the given words, then fails: shows how many were needed."""

    script: list[int]
    secure: bool = False

    def words(self, count: int) -> NDArray[np.uint64]:
        assert count <= len(self.script), "more words asked for than scripted"
        handed_out, self.script[:] = self.script[:count], self.script[count:]
        return np.array(handed_out, dtype=np.uint64)


def first_word(sign: int, choice: int, level: int) -> int:
    return sign << 63 | choice << 32 | level


def run_one_trial(first: int, offset: int, bits: int = 40) -> tuple[NDArray[np.int64], bool]:
    """The kernel alone on one trial: accepted draws (none or one) and whether it is unsettled."""
    boundaries, guide = gaussian._strip_table()
    words = np.array([first, offset], dtype=np.uint64).view(np.int64)
    words.flags.writeable = False
    draws = np.empty(1, dtype=np.int64)
    _, filled, unsettled = gaussian._run_trials(words, 0, draws, 0, boundaries, guide, 52 - bits, BAND)
    return draws[:filled], unsettled


@pytest.mark.parametrize("precision", [63, 127, 191])
def test_cumulative_bounds_enclose(precision: int) -> None:
    total = sum_of_weights()
    lows, highs = gaussian._cumulative_bounds(precision)
    partial = mpmath.mpf(0)
    for strip, (low, high) in enumerate(zip(lows, highs, strict=True)):
        assert low <= mpmath.ldexp(partial / total, precision) <= high <= low + 2
        partial += mpmath.exp(-mpmath.mpf(strip**2) / 512)
    assert list(highs) == sorted(highs)


def test_table_holds_the_exact_floors_and_ends_in_the_tail() -> None:
    boundaries, guide = gaussian._strip_table()
    total = sum_of_weights()
    partial = mpmath.mpf(0)
    for strip, boundary in enumerate(boundaries):
        partial += mpmath.exp(-mpmath.mpf(strip**2) / 512)
        assert int(boundary) == int(mpmath.floor(mpmath.ldexp(partial / total, 31)))
    assert boundaries[-1] == 2**31 - 1
    assert np.count_nonzero(boundaries == 2**31 - 1) == 1
    # Lemma 3 assumes t <= 0.4 in every strip the kernel settles.
    last = boundaries.size - 1
    assert last / 256 + 1 / 512 <= 0.4
    for bucket, start in enumerate(guide):
        assert start == np.count_nonzero(boundaries < bucket << 19)


def test_kernel_agrees_with_exact_arithmetic_bit_for_bit() -> None:
    """The same random bits through the kernel and through arbitrary precision: equal draws."""
    for bits in (0, 1, 2, 3, 4, 17, 40, 52):
        fast = rounded_gaussian(2000, bits, SplitEntropy(bits))
        slow = gaussian.rounded_gaussian(2000, bits, SplitEntropy(bits), EVERYTHING_SLOW)
        mixed = gaussian.rounded_gaussian(2000, bits, SplitEntropy(bits), 2.0**-6)
        assert np.array_equal(fast, slow)
        assert np.array_equal(fast, mixed)


def acceptance(strip: int, offset: int) -> mpmath.mpf:
    """exp(-(z² - x²)/2) at z = x + offset/2^68, x = strip/16."""
    x = mpmath.mpf(strip) / 16
    return mpmath.exp((x**2 - (x + mpmath.ldexp(offset, -68)) ** 2) / 2)


def check_trial(sign: int, choice: int, level: int, offset: int, bits: int) -> None:
    """What the kernel settles must hold for all unseen bits; what it leaves must be close."""
    boundaries = gaussian._strip_table()[0]
    strip = int(np.count_nonzero(boundaries < choice))
    draws, unsettled = run_one_trial(first_word(sign, choice, level), offset, bits)
    if unsettled:
        distance = abs(mpmath.ldexp(level + 0.5, -32) - acceptance(strip, offset))
        assert choice in boundaries or distance <= 2.0**-32
        return
    accepted = mpmath.ldexp(level + 1, -32) <= acceptance(strip, offset + 1)
    assert choice not in boundaries
    assert accepted or mpmath.ldexp(level, -32) >= acceptance(strip, offset)
    assert draws.size == int(accepted)
    if accepted:
        z = mpmath.mpf(strip) / 16 + mpmath.ldexp(offset, -68)
        magnitude = int(mpmath.floor(mpmath.ldexp(z, bits) + mpmath.mpf(1) / 2))
        assert draws[0] == (-magnitude if sign else magnitude)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 1),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 2**64 - 1),
    st.integers(0, 52),
)
def test_kernel_settles_only_what_is_certain(sign: int, choice: int, level: int, offset: int, bits: int) -> None:
    check_trial(sign, choice, level, offset, bits)


def test_kernel_is_right_next_to_the_acceptance_threshold_of_every_strip() -> None:
    """The threshold computed by mpmath, and levels up to three steps of 2^-32 beside it."""
    boundaries = gaussian._strip_table()[0].tolist()
    for strip, (start, end) in enumerate(zip([-1, *boundaries], boundaries, strict=False)):
        for offset in (0, 1 << 63, 2**64 - 1) if end > start + 1 else ():
            threshold = int(mpmath.ldexp(acceptance(strip, offset), 32))
            for attached in (-3, -1, 0, 1, 3):
                level = min(max(threshold + attached, 0), 2**32 - 1)
                check_trial(0, start + 1, level, offset, 52)


def test_every_strip_boundary_is_left_to_exact_arithmetic() -> None:
    for boundary in gaussian._strip_table()[0]:
        _, unsettled = run_one_trial(first_word(0, int(boundary), 0), 0)
        assert unsettled


def test_strip_choice_extends_its_uniform_until_certain() -> None:
    """Ninety-five bits that still straddle c_1 force a second fresh word."""
    lows, _ = gaussian._cumulative_bounds(191)
    bits_of_boundary = lows[1] >> (191 - 159)
    choice, second, third = (
        bits_of_boundary >> 128,
        bits_of_boundary >> 64 & (2**64 - 1),
        bits_of_boundary & (2**64 - 1),
    )
    for shift, expected in ((-1, 0), (1, 1)):
        entropy = ScriptedEntropy([second, third + shift])
        assert gaussian._settle_strip(choice, entropy) == expected
        assert entropy.script == []


def test_acceptance_extends_both_uniforms_until_certain() -> None:
    """offset 1/2 of strip 16: threshold exp(-(1.03125² - 1)/2), with a level straddling it."""
    threshold = mpmath.exp(-((mpmath.mpf(33) / 32) ** 2 - 1) / 2)
    bits = int(mpmath.floor(mpmath.ldexp(threshold, 96)))
    level, word = bits >> 64, bits & (2**64 - 1)
    for shift, expected in ((-(2**20), True), (2**20, False)):
        entropy = ScriptedEntropy([word + shift, 0])
        assert gaussian._settle_acceptance(16, level, 1 << 63, entropy) is expected
        assert entropy.script == []


def test_acceptance_waits_for_the_unseen_bits_of_the_offset() -> None:
    """A level at the threshold of the offset's first 64 bits: the later bits decide."""
    level = int(0.97 * 2**32)
    below, above = 0, 1 << 64
    while above - below > 1:
        middle = (below + above) // 2
        reached = acceptance(16, middle) >= mpmath.ldexp(level + 1, -32)
        below, above = (middle, above) if reached else (below, middle)
    for rest, expected in ((0, True), (2**64 - 1, False)):
        entropy = ScriptedEntropy([2**64 - 1, rest])
        assert gaussian._settle_acceptance(16, level, below, entropy) is expected
        assert entropy.script == []


def test_zero_draws_use_no_randomness() -> None:
    assert rounded_gaussian(0, 10, ScriptedEntropy([])).size == 0


def test_a_small_request_asks_for_few_words() -> None:
    entropy = ScriptedEntropy([first_word(0, 5, 0), 1] * 24)
    assert rounded_gaussian(20, 10, entropy).size == 20


@pytest.mark.parametrize(("count", "bits"), [(-1, 3), (1, -1), (1, 53)])
def test_settings_out_of_range_are_refused(count: int, bits: int) -> None:
    with pytest.raises(SettingError):
        rounded_gaussian(count, bits, SystemEntropy())


def test_t14_no_two_draws_share_their_bits() -> None:
    """n = 20 000 magnitudes at 52 bits: a coincidence has probability below 5e-8."""
    entropy = SystemEntropy()
    draws = np.abs(np.concatenate([rounded_gaussian(5000, 52, entropy) for _ in range(4)]))
    assert np.unique(draws).size == draws.size


def test_t13_processes_and_a_fork_never_share_a_draw() -> None:
    """n = 4 × 200 draws at 52 bits: a coincidence has probability below 1e-10."""
    script = (
        "import os; from tacit.noise.entropy import SystemEntropy as S\n"
        "from tacit.noise.gaussian import rounded_gaussian as r\n"
        "print(*r(200, 52, S()), flush=True); child = os.fork()\n"
        "child and os.waitpid(child, 0); print(*r(200, 52, S()), flush=True); os._exit(0)"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    finished = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    here = rounded_gaussian(200, 52, SystemEntropy()).tolist()
    draws = [abs(int(word)) for word in (*finished.stdout.split(), *here)]
    assert len(draws) == 4 * 200
    assert len(set(draws)) == len(draws)


def test_seeded_draws_repeat_and_small_requests_are_quick() -> None:
    entropy = SystemEntropy()
    assert np.array_equal(rounded_gaussian(500, 30, SeededEntropy(1)), rounded_gaussian(500, 30, SeededEntropy(1)))
    durations = []
    for _ in range(50):
        started = time.perf_counter()
        rounded_gaussian(20, 40, entropy)
        durations.append(time.perf_counter() - started)
    assert min(durations) < 100e-6
