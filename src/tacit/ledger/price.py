r"""What a charge takes from a budget, in exact numbers, and its integers for the database.

Costs are exact rationals and only the running total is rounded:

.. math:: \text{spent} = \lceil 2^{62} \cdot \text{total} / \text{capacity} \rceil

For every integer N, :math:`\lceil N x \rceil \le N` exactly when :math:`x \le 1`. So the integer
test ``spent <= 2^62`` of the database *is* the exact test ``total <= capacity``: equal parts of a
budget fit to the last one, and nothing beyond it does.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from tacit.accounting.filters import Filter, Law
from tacit.privacy.budget import Budget
from tacit.privacy.event import Event
from tacit.privacy.relation import Relation

LAW: Law = "gdp"
"""What is added up: squares of mu. A ledger under another law is refused, not misread."""
WHOLE = 2**62
"""The whole budget in integer units: the largest power of two with room to spare in 64 bits."""


def cost_of(events: Iterable[Event], relation: Relation) -> Fraction:
    """Exact cost of events by the filter of a ledger; costs of charges add up.

    Adaptively chosen Gaussian releases stay within a budget as long as the squares of their mu
    add up to no more than its square (proofs/accounting/filters.md).

    Raises
    ------
    AccountingError
        If an event is not Gaussian and so has no cost by this law.

    Examples
    --------
    >>> from tacit.privacy.event import Gaussian
    >>> cost_of([Gaussian(1, 10), Gaussian(1, 15)], Relation.REPLACE_ONE)
    Fraction(1, 6)
    """
    # The budget does not enter a cost.
    return Filter(Budget(mu=1.0), relation, LAW).amount(events)


def capacity_of(budget: Budget) -> Fraction:
    """Largest exact cost that a budget allows, rounded down.

    Examples
    --------
    >>> capacity_of(Budget(mu=0.5))
    Fraction(1, 4)
    """
    # Nor does the relation enter a capacity.
    return Filter(budget, Relation.REPLACE_ONE, LAW).capacity


def units(total: Fraction, capacity: Fraction) -> int:
    """Integer units of a running total, rounded up.

    Guarantee
    ---------
    - At most `WHOLE` exactly when the total is at most the capacity.
    - Never decreasing in the total, and above 0 when the total is.

    Examples
    --------
    >>> units(Fraction(3, 10) + Fraction(7, 10), Fraction(1)) == WHOLE
    True
    """
    share = total / capacity * WHOLE
    return -(-share.numerator // share.denominator)
