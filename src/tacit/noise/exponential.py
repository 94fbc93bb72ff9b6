"""Enclosures of exp(-a/b) in integers, and coins of that probability.

A uniform is an infinite string of fair bits, of which only the bits looked at exist. A comparison with it is settled
when every continuation of those bits gives the same outcome. Proof: `proofs/noise/exponential.md`.
"""

from tacit.noise.entropy import Entropy

WORD_BITS = 64
# Extra bits with which bounds are computed beyond those of the uniform they are compared to.
GUARD_BITS = 32


def exponential_bounds(numerator: int, denominator: int, precision: int) -> tuple[int, int]:
    """Integers low <= 2^precision · exp(-numerator/denominator) <= high, for numerator >= 0.

    The argument is halved until it is below one, the alternating series is summed with every
    term rounded outwards, and the result is squared back, again rounding outwards.

    Guarantee: the enclosure is true for all integers numerator >= 0, denominator > 0.
    """
    halvings = max(0, numerator.bit_length() - denominator.bit_length() + 1)
    while halvings and numerator < denominator << (halvings - 1):
        halvings -= 1
    working = precision + halvings + GUARD_BITS
    low = high = term_low = term_high = 1 << working
    order = 0
    while term_high > 1:
        order += 1
        divisor = order * denominator << halvings
        term_low = term_low * numerator // divisor
        term_high = -(-term_high * numerator // divisor)
        if order % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    low, high = max(low - term_high, 0), high + term_high
    for _ in range(halvings):
        low, high = low * low >> working, -(-high * high >> working)
    drop = working - precision
    return low >> drop, -(-high >> drop)


def settle_coin(
    level: int, bits: int, numerator: int, denominator: int, entropy: Entropy, share: tuple[int, int] = (1, 1)
) -> bool:
    """Whether U < (a/b)·exp(-numerator/denominator), share = (a, b), U a uniform that begins with `bits` bits `level`.

    Guarantee: over the bits of U the outcome is true with exactly that probability, if it is at most 1.
    """
    above, below = share
    while True:
        low, high = exponential_bounds(numerator, denominator, bits + GUARD_BITS)
        if ((level + 1) << GUARD_BITS) * below <= low * above:
            return True
        if (level << GUARD_BITS) * below >= high * above:
            return False
        level = level << WORD_BITS | int(entropy.words(1)[0])
        bits += WORD_BITS
