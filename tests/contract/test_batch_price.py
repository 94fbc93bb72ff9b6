"""Prices of sums over batches: noise at least as asked, and for their own kind alone."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.batch_price import batch_price_for
from tacit.contract.batches import Batches, BatchPrice, Sampling
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import BATCHED, Price, event_of, events_of
from tacit.errors import BudgetError, SettingError
from tacit.privacy.relation import Relation

BATCHES = Batches(Sampling.POISSON, 1, 16)
PRICE = BatchPrice(2**30, 32, BATCHES)


@given(noise=st.fractions(Fraction(1, 100), 10**6), records=st.integers(1, 10**12), width=st.integers(1, 500))
def test_the_noise_is_at_least_what_was_asked_for(noise: Fraction, records: int, width: int) -> None:
    try:
        price = batch_price_for(noise, BATCHES, records=records, width=width)
    except BudgetError:
        return
    assert Fraction(2**price.bits, price.bound) >= noise
    assert price.bound * records <= 2**61
    # On the lattice it is hardly more: a bound is one of thousands of steps.
    assert Fraction(2**price.bits, price.bound) <= noise * (1 + Fraction(1, price.bound))


def test_noise_that_hides_everything_is_refused() -> None:
    with pytest.raises(BudgetError, match="noise alone"):
        batch_price_for(Fraction(10**15), BATCHES, records=100, width=10)


def test_the_events_of_a_price() -> None:
    kind = QueryKind.BATCH_GRADIENT
    assert events_of(kind, PRICE, Relation.ADD_REMOVE) == (BATCHES.event(2**30, 32, str(kind)),)
    fixed = BatchPrice(2**30, 32, Batches(Sampling.WITHOUT_REPLACEMENT, 2, 30))
    with pytest.raises(SettingError, match="no price under zero-out"):
        events_of(kind, fixed, Relation.ZERO_OUT)


def test_a_price_is_for_its_own_kind_alone() -> None:
    for kind in QueryKind:
        if kind not in BATCHED:
            with pytest.raises(SettingError, match="of its own kind"):
                events_of(kind, PRICE, Relation.REPLACE_ONE)
    with pytest.raises(SettingError, match="of its own kind"):
        events_of(QueryKind.BATCH_GRADIENT, Price(2**30, 32), Relation.REPLACE_ONE)
    with pytest.raises(SettingError, match="no μ"):
        event_of(QueryKind.BATCH_GRADIENT, PRICE, Relation.REPLACE_ONE)
