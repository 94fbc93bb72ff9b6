"""Room within a cap: moved by grants, never made, and never spent twice."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import BudgetError, InputError, LedgerError
from tacit.ledger.accounts import COMMON, Accounts

WHOLE = Accounts(Fraction(1))
NAMES = st.sampled_from([None, "ana", "ben"])
AMOUNTS = st.fractions(min_value=0, max_value=Fraction(3, 4), max_denominator=60)


def test_before_the_first_grant_a_name_is_a_note() -> None:
    charged = WHOLE.charged("ana", Fraction(1, 2)).charged(None, Fraction(1, 2))
    assert charged.left("ben") == charged.left(None) == 0
    assert charged.total == 1


def test_an_analyst_spends_the_grant_and_no_more() -> None:
    granted = WHOLE.moved(COMMON, "ana", Fraction(1, 3))
    assert granted.charged("ana", Fraction(1, 3)).left("ana") == 0
    with pytest.raises(BudgetError, match="Nothing was spent"):
        granted.charged("ana", Fraction(1, 3) + Fraction(1, 10**9))
    with pytest.raises(BudgetError):
        granted.charged(None, Fraction(2, 3) + Fraction(1, 10**9))
    assert granted.charged(None, Fraction(2, 3)).left(None) == 0


def test_after_the_first_grant_an_unknown_name_is_refused() -> None:
    granted = WHOLE.moved(COMMON, "ana", Fraction(1, 3))
    for name in ("Ana", "ben"):
        with pytest.raises(LedgerError, match="nothing was granted"):
            granted.charged(name, Fraction(1, 100))


def test_a_grant_moves_what_is_left_and_nothing_else() -> None:
    granted = WHOLE.moved(COMMON, "ana", Fraction(1, 2)).charged("ana", Fraction(1, 5))
    moved = granted.moved("ana", "ben", None)
    assert moved.left("ana") == 0
    assert (moved.left("ben"), moved.left(None)) == (Fraction(3, 10), Fraction(1, 2))
    with pytest.raises(BudgetError, match="larger than what"):
        granted.moved("ana", "ben", Fraction(2, 5))
    with pytest.raises(BudgetError):
        granted.moved(COMMON, "ben", Fraction(3, 5))
    with pytest.raises(LedgerError, match="are the same"):
        granted.moved("ana", "ana", None)
    with pytest.raises(LedgerError, match="nothing can be taken back"):
        granted.moved("ben", None, None)


def test_the_cap_falls_and_never_rises() -> None:
    lowered = WHOLE.charged(None, Fraction(1, 4)).lowered(Fraction(1, 2))
    assert lowered.left(None) == Fraction(1, 4)
    with pytest.raises(BudgetError, match="never raised"):
        lowered.lowered(Fraction(3, 4))
    with pytest.raises(BudgetError, match="below what is spent"):
        lowered.lowered(Fraction(1, 5))
    granted = lowered.moved(COMMON, "ana", None)
    with pytest.raises(BudgetError, match="granted already"):
        granted.lowered(Fraction(2, 5))


def test_paused_charges_are_refused_with_the_reason() -> None:
    paused = WHOLE.halted("ben", "on leave")
    with pytest.raises(LedgerError, match="on leave"):
        paused.charged("ben", Fraction(1, 10))
    assert paused.charged("ana", Fraction(1, 10)).total == Fraction(1, 10)
    assert paused.halted("ben", None).charged("ben", Fraction(1, 10)).total == Fraction(1, 10)
    everybody = WHOLE.halted(None, "audit")
    for name in (None, "ana", "ben"):
        with pytest.raises(LedgerError, match="audit"):
            everybody.charged(name, Fraction(1, 10))
    with pytest.raises(LedgerError, match="not paused"):
        WHOLE.halted(None, None)


@given(st.lists(st.tuples(st.sampled_from("cgl"), NAMES, NAMES, AMOUNTS), max_size=40))
def test_whatever_is_done_the_total_stays_within_the_first_cap(
    acts: list[tuple[str, str | None, str | None, Fraction]],
) -> None:
    accounts = WHOLE
    for kind, one, other, amount in acts:
        before = accounts
        try:
            if kind == "c":
                accounts = accounts.charged(one, amount)
            elif kind == "g":
                accounts = accounts.moved(one, other, amount)
            else:
                accounts = accounts.lowered(amount)
        except InputError:
            continue
        assert accounts.capacity <= before.capacity
        rooms = sum((accounts.left(name) for name in accounts.granted), accounts.left(None))
        assert accounts.total + rooms == accounts.capacity
        assert all(accounts.left(name) >= 0 for name in (None, *accounts.granted))
