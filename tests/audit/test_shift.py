"""What one query showed, in the unit that it was paid in."""

from fractions import Fraction

from tacit.audit.shift import Shift
from tacit.contract.query import QueryKind


def test_a_shift_has_what_was_shown_and_what_was_paid() -> None:
    found = Shift(QueryKind.BLOCK_MEAN, Fraction(1, 2), Fraction(1))
    assert found.realised / found.paid == Fraction(1, 2)
