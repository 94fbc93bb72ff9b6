"""The finest price of a sum over a batch for a wanted noise."""

from __future__ import annotations

import math
from fractions import Fraction

from tacit.contract.batches import Batches, BatchPrice
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import FINEST_BOUND, LARGEST_BITS, LARGEST_TOTAL, is_resolved
from tacit.errors import BudgetError


def batch_price_for(noise: Fraction, batches: Batches, *, records: int, width: int) -> BatchPrice:
    """Finest price whose noise is at least `noise` times the bound on a record.

    Guarantee: 2^bits / bound ≥ noise, in exact rationals.
    """
    finest = max(1, min(FINEST_BOUND, LARGEST_TOTAL // max(records, 1)))
    for bits in range(LARGEST_BITS, -1, -1):
        bound = math.floor(2**bits / Fraction(noise))
        if bound <= finest:
            if not is_resolved(QueryKind.BATCH_GRADIENT, bound, width):
                break
            return BatchPrice(bound, bits, batches)
    raise BudgetError(
        "The budget is too small for this plan: one answer would be noise alone. Use a larger epsilon, fewer columns "
        "or iterations."
    )
