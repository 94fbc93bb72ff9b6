"""How many trials a private search runs, drawn exactly: Poisson, or truncated negative binomial.

The weights of both laws are rational: w_1 = 1 and w_{k+1} = w_k (1 - γ)(k + η)/(k + 1), or w_0 = 1 and w_{k+1} = w_k
m/(k + 1). Their sum is not. It is enclosed in integers, and a uniform is compared with the enclosed sums, with more
bits wherever these do not settle it. Proof: `proofs/noise/run_counts.md`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

from tacit.noise.entropy import Entropy
from tacit.noise.exponential import GUARD_BITS, WORD_BITS
from tacit.privacy.event import NegativeBinomial, RunCountLaw

FIRST_BITS = 2 * WORD_BITS
"""Bits of the uniform that are looked at first."""


def drawn_runs(law: RunCountLaw, entropy: Entropy) -> int:
    """A number of trials, drawn from its law.

    Guarantee: the law is exact; no weight is rounded or cut to zero. Draws are independent of everything else.
    """
    level, bits = _fresh(FIRST_BITS // WORD_BITS, entropy), FIRST_BITS
    while True:
        found = _settled(law, level, bits)
        if found is not None:
            return found
        level, bits = level << WORD_BITS | _fresh(1, entropy), bits + WORD_BITS


def _fresh(words: int, entropy: Entropy) -> int:
    level = 0
    for word in entropy.words(words):
        level = level << WORD_BITS | int(word)
    return level


def _settled(law: RunCountLaw, level: int, bits: int) -> int | None:
    """The number k with F(k - 1) ≤ U < F(k), if all uniforms U in [level, level + 1)/2^bits have the same."""
    first, lows, highs, (least, most) = _enclosure(law, bits)
    for place, (low, high) in enumerate(zip(lows, highs, strict=True)):
        # F(k) is between low/most and high/least.
        if (level + 1) * most <= low << bits:
            return first + place
        if level * least < high << bits:
            return None
    return None


@lru_cache(maxsize=8)
def _enclosure(law: RunCountLaw, bits: int) -> tuple[int, tuple[int, ...], tuple[int, ...], tuple[int, int]]:
    """Enclosures of the partial sums of the weights, and of their total, in units of 2^-(bits + guard)."""
    first = 1 if isinstance(law, NegativeBinomial) else 0
    unit = 1 << (bits + 2 * GUARD_BITS)
    low_weight = high_weight = low_sum = high_sum = unit
    lows, highs = [low_sum], [high_sum]
    for ratio, ceiling in _ratios(law):
        # What is left is below the geometric series of the largest ratio from here on.
        if ceiling < 1 and high_weight * ceiling < (1 - ceiling) * 2**GUARD_BITS:
            break
        low_weight = low_weight * ratio.numerator // ratio.denominator
        high_weight = -(-high_weight * ratio.numerator // ratio.denominator)
        low_sum, high_sum = low_sum + low_weight, high_sum + high_weight
        lows.append(low_sum)
        highs.append(high_sum)
    return first, tuple(lows), tuple(highs), (low_sum, high_sum + (1 << GUARD_BITS))


def _ratios(law: RunCountLaw) -> Iterator[tuple[Fraction, Fraction]]:
    """w_{k+1}/w_k, and the largest such ratio from k on, for k = 1, 2, … or k = 0, 1, … in turn."""
    k = 1 if isinstance(law, NegativeBinomial) else 0
    while True:
        if isinstance(law, NegativeBinomial):
            fails = 1 - Fraction(law.gamma)
            ratio = fails * (k + Fraction(law.shape)) / (k + 1)
            yield ratio, max(ratio, fails)
        else:
            ratio = Fraction(law.mean) / (k + 1)
            yield ratio, ratio
        k += 1
