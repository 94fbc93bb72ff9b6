r"""Exact amounts of privacy: costs, capacities, sums and how they are written.

Amounts are squares of mu, as exact rationals. Only the running total of a ledger is rounded, to an
integer:

.. math:: \text{spent} = \lceil 2^{62} \cdot \text{total} / \text{capacity} \rceil

For every integer N, :math:`\lceil N x \rceil \le N` exactly when :math:`x \le 1`. So the integer
test ``spent <= 2^62`` is the exact test ``total <= capacity``.

A sum with unlike denominators has a denominator as long as all of theirs together. A certificate
writes it with a bounded number of digits, rounded to the side that promises less.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction

from tacit.accounting.filters import Filter, Law
from tacit.errors import CertificateError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation

LAW: Law = "gdp"
"""What is added up: squares of mu. A ledger under another law is refused, not misread."""
WHOLE = 2**62
"""The whole budget in integer units."""
TOLERANCE = Fraction(1, 10**9)
"""Relative excess of a stored capacity over the derived one, for the rounding of other versions."""
MOST_BITS = 1024 * 1536
"""Bits of all unlike denominators together: 1,024 of the longest, added up within a second."""
SIGNIFICANT_BITS = 256
"""Of a long number that is written; more than the 106 of the square of a float."""
LONGEST_EXACT = 1024
"""Bits of numerator and denominator together up to which a number is written as it is."""
REDUCIBLE_BITS = 2**15

_NUMBER = re.compile(r"(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)

Ratio = tuple[int, int]
"""Numerator and denominator, not necessarily in lowest terms."""


def cost_of(events: Iterable[Event], relation: Relation) -> Fraction:
    """Exact cost of Gaussian events; costs of charges add up (proofs/accounting/filters.md)."""
    # The budget does not enter a cost.
    return Filter(Budget(mu=1.0), relation, LAW).amount(events)


def capacity_of(budget: Budget) -> Fraction:
    """Largest exact cost that a budget allows, rounded down."""
    # The relation does not enter a capacity.
    return Filter(budget, Relation.REPLACE_ONE, LAW).capacity


def units(total: Fraction, capacity: Fraction) -> int:
    """Integer units of a running total, rounded up.

    Guarantee
    ---------
    - At most `WHOLE` exactly when the total is at most the capacity.
    - Never decreasing in the total, and above 0 when the total is.
    """
    return math.ceil(total / capacity * WHOLE)


def root_down(square: Fraction) -> float:
    """Return the largest float whose exact square is at most the given one."""
    # 2^-1074 squared is 2^-2148: finer than any float's square.
    shift = 1100
    result = float(Fraction(math.isqrt(math.floor(square * 4**shift)), 2**shift))
    while Fraction(result) ** 2 > square:
        result = math.nextafter(result, 0.0)
    return result


def total_of(terms: Iterable[Fraction]) -> Ratio:
    """Add up fractions exactly, with at most `MOST_BITS`; the sum is not reduced."""
    grouped: dict[int, int] = {}
    for term in terms:
        grouped[term.denominator] = grouped.get(term.denominator, 0) + term.numerator
    if sum(map(int.bit_length, grouped)) > MOST_BITS:
        raise CertificateError("the events have too many unlike denominators to be added up")
    level: list[Ratio] = [(above, below) for below, above in grouped.items()] or [(0, 1)]
    # In pairs, so that most sums are of short numbers.
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


def compare(ratio: Ratio, number: Fraction) -> int:
    """Return -1, 0 or 1 as a ratio is below, equal to or above a number."""
    left, right = ratio[0] * number.denominator, number.numerator * ratio[1]
    return (left > right) - (left < right)


def read_number(text: object, longest: int, place: str) -> Fraction:
    """Read "a" or "a/b" of at most `longest` characters; the length is checked first."""
    if not isinstance(text, str) or len(text) > longest or not _NUMBER.fullmatch(text):
        raise CertificateError(f'{place} is no exact number; expected digits, "a" or "a/b"')
    try:
        return Fraction(text)
    except ValueError as error:
        # Python can be told to convert shorter numbers only.
        raise CertificateError(f"{place} has too many digits to be read here") from error
