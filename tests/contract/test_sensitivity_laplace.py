"""Prices of sums with Laplace noise: at most the epsilon, and nearly all of it."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import LaplacePrice, event_of, events_of, laplace_price
from tacit.errors import BudgetError, SettingError
from tacit.privacy.event import Pure
from tacit.privacy.relation import Relation


@settings(max_examples=200, deadline=None)
@given(st.floats(1e-3, 100.0), st.sampled_from(list(Relation)), st.integers(2, 10**7), st.integers(1, 1000))
def test_a_price_costs_at_most_its_epsilon_and_nearly_all_of_it(
    epsilon: float, relation: Relation, records: int, width: int
) -> None:
    price = laplace_price(Fraction(epsilon), relation, records=records, width=width)
    (event,) = events_of(QueryKind.GRADIENT, price, relation)
    assert isinstance(event, Pure)
    assert Fraction(epsilon) * (1 - Fraction(1, 1000)) <= event.epsilon <= Fraction(epsilon)


@pytest.mark.parametrize(("relation", "factor"), [("replace-one", 2), ("zero-out", 1), ("add-remove", 1)])
@pytest.mark.parametrize("width", [1, 4, 5])
def test_the_epsilon_is_that_of_the_l1_norm(relation: str, factor: int, width: int) -> None:
    """Twice the bound for replace-one, times the root of the width, rounded up."""
    (event,) = events_of(QueryKind.GRADIENT, LaplacePrice(1000, 12, width), Relation.parse(relation))
    assert isinstance(event, Pure)
    assert event.epsilon * 2**12 == math.ceil(1000 * factor * math.sqrt(width))


def test_what_is_no_sum_or_cannot_be_resolved_is_refused() -> None:
    price = LaplacePrice(1, 1, 1)
    with pytest.raises(SettingError, match="sums of vectors"):
        events_of(QueryKind.COUNTS, price, Relation.ZERO_OUT)
    with pytest.raises(SettingError, match="no μ"):
        event_of(QueryKind.GRADIENT, price, Relation.ZERO_OUT)
    for epsilon in (Fraction(1, 2**60), Fraction(2**60)):
        with pytest.raises(BudgetError, match="beyond what exact noise"):
            laplace_price(epsilon, Relation.ZERO_OUT, records=1000, width=3)
