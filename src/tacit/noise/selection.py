"""Exact draws of an index by its score: the exponential mechanism's law, and permute-and-flip.

Every candidate is weighed in one pass whose work depends on the number of candidates and the rate alone. Proofs:
`proofs/noise/selection.md`.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SettingError
from tacit.noise.entropy import Entropy
from tacit.noise.exponential import WORD_BITS, exponential_bounds, settle_coin

WEIGHT_BITS = 44
"""Binary digits of an integer weight; its float has an error below 2^-46."""
TOTAL_BITS = 62
"""The sum of all integer weights stays below 2^62."""
BAND = 2.0**-44
"""Coins whose uniform is nearer than this to the float weight are settled in integers."""
LARGEST_COUNT = 2**24

Scores = NDArray[np.int64]


@lru_cache(maxsize=64)
def _bit_weights(rate: Fraction) -> NDArray[np.float64]:
    """Float weights exp(-rate 2^j), j = 0, 1, …, up to the first that is below 2^-60."""
    found: list[float] = []
    for j in range(WORD_BITS):
        low, _ = exponential_bounds(rate.numerator << j, rate.denominator, WORD_BITS)
        found.append(low / 2**WORD_BITS)
        if low < 2**4:
            break
    return np.array(found)


def _weigh(excess: NDArray[np.uint64], rate: Fraction) -> NDArray[np.float64]:
    """Exp(-rate·excess), with an absolute error below 2^-46."""
    table = _bit_weights(rate)
    weights = np.ones(excess.size)
    for j, factor in enumerate(table):
        weights *= np.where(excess >> np.uint64(j) & np.uint64(1), factor, 1.0)
    if table.size < WORD_BITS:
        weights *= np.where(excess >> np.uint64(table.size), 0.0, 1.0)
    return weights


def _checked(scores: Scores, rate: Fraction | int) -> tuple[NDArray[np.uint64], Fraction]:
    """Scores less the least one, unsigned, as the difference of two int64 may need 64 bits; the rate as a fraction."""
    if isinstance(rate, float) or not 1 <= rate * 2**52 <= 2**104:
        raise SettingError(f"rate is {rate!r}; expected a whole number or Fraction from 2^-52 to 2^52")
    if scores.dtype != np.int64 or scores.ndim != 1 or not 1 <= scores.size <= LARGEST_COUNT:
        raise SettingError("scores must be a vector of int64, one a candidate, from one to 2^24 of them")
    unsigned: NDArray[np.uint64] = np.ascontiguousarray(scores).view(np.uint64)
    return unsigned - unsigned[np.argmin(scores)], Fraction(rate)


def _below(total: int, entropy: Entropy) -> int:
    """A uniform integer in [0, total), exactly; one request in 2^64 is repeated."""
    while True:
        first, second = (int(word) for word in entropy.words(2))
        product = (first << WORD_BITS | second) * total
        if product % 2 ** (2 * WORD_BITS) >= 2 ** (2 * WORD_BITS) % total:
            return product >> (2 * WORD_BITS)


def exponential_choice(scores: Scores, rate: Fraction | int, entropy: Entropy) -> int:
    """An index i, drawn with probability exp(-rate·scores[i]) / Σ_j exp(-rate·scores[j]).

    Guarantee: the law is exact, for all int64 scores and rational rates from 2^-52 to 2^52: no weight is rounded or
    cut to zero. With scores that change by at most Δ between neighbours, 2·rate·Δ-differentially private. The work
    depends on the number of scores, on the rate and on the drawn index; it is repeated with probability below 2^-11.
    """
    excess, exact = _checked(scores, rate)
    bits = min(WEIGHT_BITS, TOTAL_BITS - excess.size.bit_length())
    proposals = np.floor(_weigh(excess, exact) * 2.0**bits).astype(np.int64) + 2
    sums = np.cumsum(proposals)
    while True:
        index = int(np.searchsorted(sums, _below(int(sums[-1]), entropy), side="right"))
        # An integer weight is above 2^bits·exp(-rate·excess): the coin takes away what is too much.
        level, share = int(entropy.words(1)[0]), (1 << bits, int(proposals[index]))
        numerator = exact.numerator * int(excess[index])
        if settle_coin(level, WORD_BITS, numerator, exact.denominator, entropy, share):
            return index


def permute_and_flip(scores: Scores, rate: Fraction | int, entropy: Entropy) -> int:
    """The index that permute-and-flip returns: candidates in random order, the first whose coin shows heads.

    The coin of i shows heads with probability exp(-rate·(scores[i] - min scores)). The first head of a random order is
    a uniform choice among all heads, so every coin is flipped and one of the heads is chosen.

    Guarantee: the law is exact, as for `exponential_choice`, with the same privacy, and its expected score is never
    higher. The work depends on the number of scores and on the rate, but for one coin in 2^43. R. McKenna, D. Sheldon,
    NeurIPS 2020.
    """
    excess, exact = _checked(scores, rate)
    weights, words = _weigh(excess, exact), entropy.words(excess.size)
    gaps = weights - words * 2.0**-WORD_BITS
    heads = gaps > 0.0
    for index in np.flatnonzero(np.abs(gaps) < BAND):
        numerator = exact.numerator * int(excess[index])
        heads[index] = settle_coin(int(words[index]), WORD_BITS, numerator, exact.denominator, entropy)
    found = np.flatnonzero(heads)
    return int(found[_below(found.size, entropy)])
