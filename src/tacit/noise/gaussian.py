"""The real Gaussian rounded to a lattice, sampled exactly.

A compiled kernel settles all but about one trial in twenty million with certified float64
comparisons; that one is settled with arbitrary-precision integers on the same random bits, extended
as far as needed. Proof, pseudocode and error band: `proofs/noise/gaussian.md`.
"""

from bisect import bisect_right
from functools import cache
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from tacit.kernel_compilation import compiled
from tacit.noise.entropy import Entropy
from tacit.noise.exponential import GUARD_BITS, WORD_BITS, exponential_bounds
from tacit.validate import whole

# Strips of width 2^-4: 2.4 % of the trials are rejected, and the table stays in the L1 cache.
STRIP_BITS = 4
STRIP_WIDTH = 2.0**-STRIP_BITS

# Layout of a trial's first word, high to low: sign, strip choice, acceptance level.
CHOICE_BITS = 31
LEVEL_BITS = 32
CHOICE_MASK = (1 << CHOICE_BITS) - 1
LEVEL_MASK = (1 << LEVEL_BITS) - 1
LEVEL_STEP = 2.0**-LEVEL_BITS

# The finest lattice: an int64 holds 2^52 z up to z = 2^11, which no draw in e^2000000 reaches.
MAXIMUM_BITS = 52
# Bits of the offset that fix the rounding at MAXIMUM_BITS: one half-step finer than the lattice.
OFFSET_BITS = MAXIMUM_BITS + 1 - STRIP_BITS
OFFSET_MASK = (1 << OFFSET_BITS) - 1
OFFSET_DROP = WORD_BITS - OFFSET_BITS
# Bits of the offset that a float64 holds exactly.
MANTISSA_BITS = 53
MANTISSA_MASK = (1 << MANTISSA_BITS) - 1
MANTISSA_DROP = WORD_BITS - MANTISSA_BITS
MANTISSA_STEP = 2.0 ** -(MANTISSA_BITS + STRIP_BITS)

# exp(-t) is summed to t^11/11!; with t <= 0.4 the rest is below 2^-44, and with all rounding the
# error is below 2^-43 (proofs/noise/gaussian.md, Lemma 3). 2^-40 is eight times that.
BAND = 2.0**-40
TAYLOR_ORDER = 11

GUIDE_BITS = 12
GUIDE_SHIFT = CHOICE_BITS - GUIDE_BITS

# One request: 256 KiB of randomness, which stays in the second-level cache.
TRIALS_PER_REQUEST = 1 << 14


@cache
def _cumulative_bounds(precision: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lower and upper bounds of 2^precision · c_j, c_j = P(strip < j), for j = 0, …, last.

    Strip j has weight exp(-j²/512). Beyond the last the weights sum to at most 17 of the first one
    left out (its own, and 16 times the Mills bound of the Gaussian tail at x >= 1).
    """
    working = precision + GUARD_BITS
    last = isqrt(360 * precision) + 1
    low_sums, high_sums = [0], [0]
    for strip in range(last):
        low, high = exponential_bounds(strip * strip, 1 << (2 * STRIP_BITS + 1), working)
        low_sums.append(low_sums[-1] + low)
        high_sums.append(high_sums[-1] + high)
    beyond = 17 * exponential_bounds(last * last, 1 << (2 * STRIP_BITS + 1), working)[1]
    total_low, total_high = low_sums[-1], high_sums[-1] + beyond
    lows = tuple((value << precision) // total_high for value in low_sums)
    highs = tuple(-(-(value << precision) // total_low) for value in high_sums)
    return lows, highs


@cache
def _strip_table() -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Integers floor(2^31 c_j), j = 1, 2, …, up to the first 2^31 - 1, which stands for the tail; a guide to them."""
    precision = 4 * GUARD_BITS
    lows, _ = _cumulative_bounds(precision)
    prefixes = [low >> (precision - CHOICE_BITS) for low in lows[1:]]
    boundaries = np.array(prefixes[: prefixes.index(CHOICE_MASK) + 1], dtype=np.int64)
    starts = np.arange(1 << GUIDE_BITS, dtype=np.int64) << GUIDE_SHIFT
    guide = np.searchsorted(boundaries, starts, side="left").astype(np.uint8)
    boundaries.flags.writeable = False
    guide.flags.writeable = False
    return boundaries, guide


@compiled
def _run_trials(
    words: NDArray[np.int64],
    trial: int,
    draws: NDArray[np.int64],
    filled: int,
    boundaries: NDArray[np.int64],
    guide: NDArray[np.uint8],
    shift: int,
    band: float,
) -> tuple[int, int, bool]:
    """Append accepted draws; return the first trial not run, the number of draws, whether that trial is unsettled."""
    trials = words.size // 2
    while trial < trials and filled < draws.size:
        first = words[2 * trial]
        offset = words[2 * trial + 1]
        choice = (first >> LEVEL_BITS) & CHOICE_MASK
        strip = np.int64(guide[choice >> GUIDE_SHIFT])
        while boundaries[strip] < choice:
            strip += 1
        if boundaries[strip] == choice:
            return trial, filled, True
        width = float((offset >> MANTISSA_DROP) & MANTISSA_MASK) * MANTISSA_STEP
        exponent = width * (strip * STRIP_WIDTH + 0.5 * width)
        level_low = float(first & LEVEL_MASK) * LEVEL_STEP
        level_high = level_low + LEVEL_STEP
        # 1 - t <= exp(-t) accepts 97 % of the trials without the exponential.
        if (1.0 - exponent) - level_high < band:
            density = 1.0
            for order in range(TAYLOR_ORDER, 0, -1):
                density = 1.0 - exponent * density / order
            if density - level_high < band:
                if level_low - density < band:
                    return trial, filled, True
                trial += 1
                continue
        half_steps = ((strip << OFFSET_BITS) | ((offset >> OFFSET_DROP) & OFFSET_MASK)) >> shift
        sign = first >> (WORD_BITS - 1)
        draws[filled] = (((half_steps + 1) >> 1) ^ sign) - sign
        filled += 1
        trial += 1
    return trial, filled, False


def _settle_strip(choice: int, entropy: Entropy) -> int:
    """The strip chosen by the uniform whose first 31 bits are `choice`, extended as needed."""
    bits = CHOICE_BITS
    while True:
        precision = bits + GUARD_BITS
        lows, highs = _cumulative_bounds(precision)
        strip = bisect_right(highs, choice << GUARD_BITS) - 1
        if strip + 1 < len(lows) and (choice + 1) << GUARD_BITS <= lows[strip + 1]:
            return strip
        choice = choice << WORD_BITS | int(entropy.words(1)[0])
        bits += WORD_BITS


def _settle_acceptance(strip: int, level: int, offset: int, entropy: Entropy) -> bool:
    """Whether level < exp(-t), t = F (2^(n+1) strip + F) / 2^(2n + 9) with n bits of the offset, as many as needed."""
    level_bits, offset_bits = LEVEL_BITS, WORD_BITS
    while True:
        precision = level_bits + GUARD_BITS
        divisor = 1 << (2 * offset_bits + 2 * STRIP_BITS + 1)
        base = strip << (offset_bits + 1)
        _, high = exponential_bounds(offset * (base + offset), divisor, precision)
        low, _ = exponential_bounds((offset + 1) * (base + offset + 1), divisor, precision)
        if (level + 1) << GUARD_BITS <= low:
            return True
        if level << GUARD_BITS >= high:
            return False
        level = level << WORD_BITS | int(entropy.words(1)[0])
        offset = offset << WORD_BITS | int(entropy.words(1)[0])
        level_bits += WORD_BITS
        offset_bits += WORD_BITS


def _settle_trial(first: int, offset: int, bits: int, entropy: Entropy) -> int | None:
    """One trial in arbitrary precision: the draw, or None if it is rejected."""
    strip = _settle_strip(first >> LEVEL_BITS & CHOICE_MASK, entropy)
    if not _settle_acceptance(strip, first & LEVEL_MASK, offset, entropy):
        return None
    half_steps = (strip << OFFSET_BITS | offset >> OFFSET_DROP) >> (MAXIMUM_BITS - bits)
    magnitude = (half_steps + 1) >> 1
    return -magnitude if first >> (WORD_BITS - 1) else magnitude


def rounded_gaussian(count: int, bits: int, entropy: Entropy, band: float = BAND) -> NDArray[np.int64]:
    r"""Independent exact draws of K = round(2^bits · Z), Z ~ N(0, 1).

    .. math:: P(K = k) = \Phi((k + 1/2)/2^{bits}) - \Phi((k - 1/2)/2^{bits})

    Guarantee: the law is that of the rounded real Gaussian, with no floating-point error, truncated tail or hole, so
    adding K to an integer is post-processing of the Gaussian mechanism. Draws are independent: no random word serves
    two trials or two decisions, and nothing is kept between calls.

    The standard deviation is 2^bits lattice steps, 0 <= bits <= 52. The noise is private if and
    only if `entropy` is secure. With a wider `band` the law is the same, and exact arithmetic settles
    more of the trials; from 2 upwards all of them. Lazily extended uniforms: C. F. F. Karney, ACM TOMS 42(1), 2016;
    strips and certified comparison: `proofs/noise/gaussian.md`.
    """
    shift, band = MAXIMUM_BITS - whole("bits", bits, 0, MAXIMUM_BITS), max(band, BAND)
    table = _strip_table()
    draws = np.empty(whole("count", count, 0), dtype=np.int64)
    filled = 0
    while filled < count:
        missing = count - filled
        trials = min(missing + missing // 32 + 4, TRIALS_PER_REQUEST)
        words = entropy.words(2 * trials)
        signed = words.view(np.int64)
        # One compiled version serves all sources: some hand out read-only words.
        signed.flags.writeable = False
        trial = 0
        while trial < trials and filled < count:
            trial, filled, unsettled = _run_trials(signed, trial, draws, filled, *table, shift, band)
            if unsettled:
                pair = int(words[2 * trial]), int(words[2 * trial + 1])
                draw = _settle_trial(*pair, bits, entropy)
                trial += 1
                if draw is not None:
                    draws[filled] = draw
                    filled += 1
    return draws
