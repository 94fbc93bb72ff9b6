"""The discrete Laplace law (two-sided geometric) on the integers, sampled exactly.

A magnitude is a strip of 2^m integers, chosen by a geometric law, and a uniform integer inside it, accepted with
probability exp(-η·integer). A compiled kernel settles nearly all trials with certified float64 comparisons, the
others are settled with integers on the same random bits. Proof and error band: `proofs/noise/laplace.md`.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.kernel_compilation import compiled
from tacit.noise.entropy import Entropy
from tacit.noise.exponential import GUARD_BITS, WORD_BITS, exponential_bounds, settle_coin
from tacit.validate import whole

LARGEST_SCALE = 2**52
"""An int64 holds 2^11 scales of it, and no draw in e^2000 is longer."""
WIDEST_STRIP = Fraction(1, 8)
"""Largest η 2^m: nine trials in ten are accepted, and a table has at most 350 strips."""

# Layout of a trial's first word, high to low: sign, strip choice, acceptance level. The second word is the offset.
CHOICE_BITS = 31
LEVEL_BITS = 32
CHOICE_MASK = (1 << CHOICE_BITS) - 1
LEVEL_MASK = (1 << LEVEL_BITS) - 1
LEVEL_STEP = 2.0**-LEVEL_BITS
OFFSET_BITS = WORD_BITS - 1
OFFSET_MASK = (1 << OFFSET_BITS) - 1

# exp(-t) is summed to t^8/8!; with t <= 1/8 the rest is below 2^-45, and with all rounding the
# error is below 2^-44 (proofs/noise/laplace.md, Lemma 3).
BAND = 2.0**-40
TAYLOR_ORDER = 8

GUIDE_BITS = 12
GUIDE_SHIFT = CHOICE_BITS - GUIDE_BITS
TRIALS_PER_REQUEST = 1 << 14
Table = tuple[NDArray[np.int64], NDArray[np.uint16]]


@lru_cache(maxsize=64)
def _strip_table(rate: Fraction) -> Table:
    """Integers floor(2^31 (1 - exp(-rate j))), j = 1, 2, …, up to the first 2^31 - 1; a guide to them."""
    found: list[int] = []
    while not found or found[-1] < CHOICE_MASK:
        precision, j = 2 * CHOICE_BITS, len(found) + 1
        first, last = 0, 1
        while first != last:
            precision *= 2
            low, high = exponential_bounds(rate.numerator * j, rate.denominator, precision)
            drop = precision - CHOICE_BITS
            first, last = ((1 << precision) - high) >> drop, ((1 << precision) - low) >> drop
            if last == CHOICE_MASK + 1:
                # 1 - exp(-rate j) is below 1, however near.
                last = CHOICE_MASK
        found.append(first)
    boundaries = np.array(found, dtype=np.int64)
    starts = np.arange(1 << GUIDE_BITS, dtype=np.int64) << GUIDE_SHIFT
    guide = np.searchsorted(boundaries, starts, side="left").astype(np.uint16)
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
    guide: NDArray[np.uint16],
    how: tuple[int, float, float],
) -> tuple[int, int, bool]:
    """Append accepted draws; return the first trial not run, the number of draws, whether that trial is unsettled.

    `how` is (strip_bits, rate, band).
    """
    strip_bits, rate, band = how
    trials = words.size // 2
    while trial < trials and filled < draws.size:
        first = words[2 * trial]
        inside = ((words[2 * trial + 1] >> 1) & OFFSET_MASK) >> (OFFSET_BITS - strip_bits)
        choice = (first >> LEVEL_BITS) & CHOICE_MASK
        strip = np.int64(guide[choice >> GUIDE_SHIFT])
        while boundaries[strip] < choice:
            strip += 1
        if boundaries[strip] == choice:
            return trial, filled, True
        exponent = float(inside) * rate
        level_low = float(first & LEVEL_MASK) * LEVEL_STEP
        level_high = level_low + LEVEL_STEP
        # 1 - t <= exp(-t) accepts most trials without the exponential; an exponent of 0 accepts always.
        if inside > 0 and (1.0 - exponent) - level_high < band:
            density = 1.0
            for order in range(TAYLOR_ORDER, 0, -1):
                density = 1.0 - exponent * density / order
            if density - level_high < band:
                if level_low - density < band:
                    return trial, filled, True
                trial += 1
                continue
        trial += 1
        magnitude = (strip << strip_bits) | inside
        sign = first >> (WORD_BITS - 1)
        # Zero has one sign: the other is rejected.
        if magnitude > 0 or sign == 0:
            draws[filled] = (magnitude ^ sign) - sign
            filled += 1
    return trial, filled, False


def _settle_strip(choice: int, rate: Fraction, entropy: Entropy) -> int:
    """The strip chosen by the uniform whose first 31 bits are `choice`, extended as needed."""
    boundaries, _ = _strip_table(rate)
    strip, bits = int(np.searchsorted(boundaries, choice, side="left")), CHOICE_BITS
    while True:
        low, high = exponential_bounds(rate.numerator * (strip + 1), rate.denominator, bits + GUARD_BITS)
        left = (1 << bits) - choice
        if left << GUARD_BITS <= low:
            strip += 1
        elif (left - 1) << GUARD_BITS >= high:
            return strip
        else:
            choice = choice << WORD_BITS | int(entropy.words(1)[0])
            bits += WORD_BITS


def _settle_trial(first: int, offset: int, strip_bits: int, inverse: Fraction, entropy: Entropy) -> int | None:
    """One trial in integers: the draw, or None if it is rejected; `inverse` is η."""
    strip = _settle_strip(first >> LEVEL_BITS & CHOICE_MASK, inverse * 2**strip_bits, entropy)
    inside = (offset >> 1) >> (OFFSET_BITS - strip_bits)
    if not settle_coin(first & LEVEL_MASK, LEVEL_BITS, inverse.numerator * inside, inverse.denominator, entropy):
        return None
    magnitude = strip << strip_bits | inside
    negative = bool(first >> (WORD_BITS - 1))
    if negative and not magnitude:
        return None
    return -magnitude if negative else magnitude


def discrete_laplace(count: int, scale: Fraction | int, entropy: Entropy, band: float = BAND) -> NDArray[np.int64]:
    r"""Independent exact draws of the discrete Laplace law on the integers.

    .. math:: P(K = k) = \frac{1 - e^{-1/scale}}{1 + e^{-1/scale}} e^{-|k|/scale}

    Guarantee: the law is exact for every rational scale from 2^-52 to 2^52, with no floating-point error, truncated
    tail or hole, so adding K to an integer of sensitivity Δ is Δ/scale-differentially private. Draws are independent:
    no random word serves two trials or two decisions, and nothing is kept between calls.

    The noise is private if and only if `entropy` is secure. With a wider `band` the law is the same, and exact
    arithmetic settles more of the trials; from 2 upwards nearly all of them. Law: A. Ghosh, T. Roughgarden,
    M. Sundararajan, STOC 2009; exact coins: C. Canonne, G. Kamath, T. Steinke, NeurIPS 2020.
    """
    if isinstance(scale, float) or not 1 <= scale * LARGEST_SCALE <= LARGEST_SCALE**2:
        raise SettingError(f"scale is {scale!r}; expected a whole number or Fraction from 2^-52 to 2^52")
    inverse = 1 / Fraction(scale)
    strip_bits = max(0, int(WIDEST_STRIP / inverse).bit_length() - 1)
    table, how = _strip_table(inverse * 2**strip_bits), (strip_bits, float(inverse), max(band, BAND))
    draws = np.empty(whole("count", count, 0), dtype=np.int64)
    filled = 0
    while filled < count:
        missing = count - filled
        trials = min(missing + missing // 8 + 4, TRIALS_PER_REQUEST)
        words = entropy.words(2 * trials)
        signed = words.view(np.int64)
        # One compiled version serves all sources: some hand out read-only words.
        signed.flags.writeable = False
        trial = 0
        while trial < trials and filled < count:
            trial, filled, unsettled = _run_trials(signed, trial, draws, filled, *table, how)
            if unsettled:
                pair = int(words[2 * trial]), int(words[2 * trial + 1])
                draw = _settle_trial(*pair, strip_bits, inverse, entropy)
                trial += 1
                if draw is not None:
                    draws[filled] = draw
                    filled += 1
    return draws
