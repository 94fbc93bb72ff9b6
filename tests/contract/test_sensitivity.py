"""Prices never cost more than was allowed, and queries refuse what could overflow."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.query import GradientSum, QueryKind, SecondMoments
from tacit.contract.selection_price import SELECTIONS
from tacit.contract.sensitivity import BATCHED, CHOICES, Price, event_of, is_resolved, price_for, squared_sensitivity
from tacit.errors import BudgetError, SettingError
from tacit.privacy.relation import Relation


@given(
    kind=st.sampled_from(
        [kind for kind in QueryKind if kind not in {QueryKind.MINIMUM, *BATCHED, *CHOICES, *SELECTIONS}]
    ),
    relation=st.sampled_from(list(Relation)),
    exponent=st.floats(-12, 6),
    records=st.integers(2, 10**12),
    width=st.integers(1, 500),
)
def test_price_is_within_what_is_allowed_and_close_to_it(
    kind: QueryKind, relation: Relation, exponent: float, records: int, width: int
) -> None:
    allowed = Fraction(10**exponent)
    if kind is QueryKind.NOISY_MINIMUM and not relation.n_is_public:
        with pytest.raises(SettingError, match="public number of records"):
            event_of(kind, Price(2**20, 20), relation)
        return
    try:
        price = price_for(kind, allowed, relation, records=records, width=width)
    except BudgetError:
        # Refused only where the bound would drown in rounding.
        return
    cost = event_of(kind, price, relation).mu_squared
    assert cost <= allowed
    assert is_resolved(kind, price.bound, width)
    if price.bound > 10**6:
        assert cost > allowed * (1 - Fraction(1, 10**5))
    assert price.bound * records <= 2**61 or price.bound == 1
    assert 0 <= price.bits <= 52


def test_a_budget_that_buys_noise_alone_is_refused() -> None:
    with pytest.raises(BudgetError, match="too small"):
        price_for(QueryKind.GRADIENT, Fraction(1, 10**40), Relation.REPLACE_ONE, records=100, width=10)


def test_t04_factors() -> None:
    bound = 100
    vector = [squared_sensitivity(QueryKind.GRADIENT, bound, r) for r in Relation]
    matrix = [squared_sensitivity(QueryKind.SECOND_MOMENTS, bound, r) for r in Relation]
    assert vector == [4 * bound**2, bound**2, bound**2]
    assert matrix == [2 * bound**2, bound**2, bound**2]


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1e200])
def test_queries_refuse_parameters_that_could_overflow(bad: float) -> None:
    with pytest.raises(SettingError):
        GradientSum(np.array([0.0, bad]), 1.0)
    with pytest.raises(SettingError):
        GradientSum(np.zeros(2), bad)
    with pytest.raises(SettingError):
        SecondMoments(1.0, np.full((2, 2), bad))
    with pytest.raises(SettingError):
        SecondMoments(0.0)


def test_t04_factors_of_means() -> None:
    """Twice the bound in each mean where a record is replaced; groups cost nothing, and their counts little."""
    for relation in Relation:
        replaced = relation is Relation.REPLACE_ONE
        for size in (1, 2, 7):
            assert squared_sensitivity(QueryKind.MEANS, 10, relation, size) == (400 if replaced else 100) * size
            groups = squared_sensitivity(QueryKind.GROUP_MEANS, 10, relation, size)
            assert groups == (max(4 * size - 4, 2 * size) * 100 if replaced else 100 * size)
    with pytest.raises(ValueError, match="Only counts and means"):
        squared_sensitivity(QueryKind.GRADIENT, 10, Relation.REPLACE_ONE, 2)


def test_means_are_refused_where_rounding_would_drown_them() -> None:
    assert is_resolved(QueryKind.MEANS, 32, 1)
    assert not is_resolved(QueryKind.GROUP_MEANS, 31, 1)
