"""The integers of the database decide as the exact rationals do."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tacit.ledger.accounts import WHOLE, units
from tacit.ledger.law import LedgerLaw
from tacit.privacy.budget import Budget
from tacit.privacy.event import Gaussian, Repeated
from tacit.privacy.relation import Relation

RELATION = Relation.REPLACE_ONE
AMOUNTS = st.fractions(min_value=0, max_value=2, max_denominator=10**30)


@given(total=AMOUNTS, capacity=AMOUNTS.filter(bool))
def test_the_integer_test_is_the_exact_test(total: Fraction, capacity: Fraction) -> None:
    assert (units(total, capacity) <= WHOLE) == (total <= capacity)


@given(totals=st.tuples(AMOUNTS, AMOUNTS), capacity=AMOUNTS.filter(bool))
def test_units_grow_with_the_total(totals: tuple[Fraction, Fraction], capacity: Fraction) -> None:
    small, large = sorted(totals)
    assert units(small, capacity) <= units(large, capacity)
    assert (units(small, capacity) > 0) == (small > 0)


def test_the_next_rational_beyond_the_budget_is_beyond() -> None:
    budget = Fraction(1, 3)
    assert units(budget, budget) == WHOLE
    assert units(budget + Fraction(1, 10**400), budget) == WHOLE + 1


@given(parts=st.integers(min_value=1, max_value=3000))
def test_t34_equal_parts_never_exceed_nor_strand_the_budget(parts: int) -> None:
    part = LedgerLaw().cost([Gaussian(1, parts)], RELATION)
    capacity = LedgerLaw().capacity(Budget(mu=1.0))
    assert units(part * parts, capacity) == WHOLE
    assert units(part * (parts + 1), capacity) > WHOLE


def test_costs_are_exact_and_add_up() -> None:
    events = [Gaussian(1, 7), Repeated(Gaussian(2, 9), times=5)]
    assert LedgerLaw().cost(events, RELATION) == Fraction(1, 7) + Fraction(10, 9)
    assert LedgerLaw().cost(events, RELATION) == sum(
        (LedgerLaw().cost([event], RELATION) for event in events), start=Fraction(0)
    )
