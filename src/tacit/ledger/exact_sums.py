"""Exact sums of many fractions, and their bounded spelling.

A sum of charges with unlike denominators has a denominator as long as all of theirs together. It is
added up in pairs, never reduced and never printed in full: what is written is rounded to the side
that promises less.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction

from tacit.errors import CertificateError

MOST_BITS = 1024 * 1536
"""Bits of all unlike denominators together: 1,024 of the longest that an event can have. They are
added up within a second; the denominators of fits are powers of two, of which few are unlike."""
SIGNIFICANT_BITS = 256
"""Kept of a long number. The square of a float has at most 106, so the smallest float whose square
is not below the sum is the same before and after rounding up."""
LONGEST_EXACT = 1024
"""Bits of numerator and denominator together up to which a number is written as it is."""
REDUCIBLE_BITS = 2**15

_NUMBER = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)

Ratio = tuple[int, int]
"""Numerator and denominator, not necessarily in lowest terms."""


def total_of(terms: Iterable[Fraction]) -> Ratio:
    """Add up fractions exactly; the sum is not reduced.

    Raises
    ------
    CertificateError
        If the denominators have more than `MOST_BITS` together.

    Examples
    --------
    >>> total_of([Fraction(1, 6), Fraction(1, 6), Fraction(1, 4)])
    (14, 24)
    """
    grouped: dict[int, int] = {}
    for term in terms:
        grouped[term.denominator] = grouped.get(term.denominator, 0) + term.numerator
    if sum(map(int.bit_length, grouped)) > MOST_BITS:
        raise CertificateError("the events have too many unlike denominators to be added up")
    level: list[Ratio] = [(above, below) for below, above in grouped.items()] or [(0, 1)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        added = [(a * d + c * b, b * d) for (a, b), (c, d) in pairs]
        level = added + level[len(added) * 2 :]
    return level[0]


def rounded(ratio: Ratio, *, up: bool) -> Fraction:
    """Return a ratio as a fraction of bounded length: exact where it is short, else rounded.

    Guarantee
    ---------
    - Rounded up it is never below the ratio, rounded down never above; both by less than 2^-255
      of it.
    """
    above, below = ratio
    if above.bit_length() + below.bit_length() <= REDUCIBLE_BITS:
        exact = Fraction(above, below)
        if exact.numerator.bit_length() + exact.denominator.bit_length() <= LONGEST_EXACT:
            return exact
    shift = SIGNIFICANT_BITS - (above.bit_length() - below.bit_length())
    scaled, divisor = (above << max(shift, 0)), (below << max(-shift, 0))
    whole = -(-scaled // divisor) if up else scaled // divisor
    return Fraction(whole << max(-shift, 0), 1 << max(shift, 0))


def read_number(text: object, longest: int, place: str) -> Fraction:
    """Read "a" or "a/b" of at most `longest` characters; the length is checked first."""
    if not isinstance(text, str) or len(text) > longest or not _NUMBER.fullmatch(text):
        raise CertificateError(f'{place} is no exact number; expected digits, "a" or "a/b"')
    try:
        return Fraction(text)
    except ValueError as error:
        # Python can be told to convert shorter numbers only.
        raise CertificateError(f"{place} has too many digits to be read here") from error


def compare(ratio: Ratio, number: Fraction) -> int:
    """Return -1, 0 or 1 as a ratio is below, equal to or above a number."""
    left, right = ratio[0] * number.denominator, number.numerator * ratio[1]
    return (left > right) - (left < right)
