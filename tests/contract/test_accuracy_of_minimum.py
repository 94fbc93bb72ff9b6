"""How exactly a minimum can be found: public numbers, rounded up; and what it costs."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.contract.accuracy_of_minimum import ACCEPTED, FARTHEST, Accuracy
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import MinimumPrice, Price, event_of, events_of, ridge_of
from tacit.errors import SettingError
from tacit.losses import classification
from tacit.privacy.event import Gaussian, ObjectivePerturbation
from tacit.privacy.relation import Relation

PRICE = MinimumPrice(2**47, 50, Fraction(1, 4), Price(2**20, 24))


def prices() -> st.SearchStrategy[MinimumPrice]:
    return st.builds(
        MinimumPrice,
        st.integers(2**30, 2**52),
        st.integers(40, 52),
        st.fractions(Fraction(1, 10**6), 10**3, max_denominator=10**9),
        st.builds(Price, st.integers(2**10, 2**36), st.integers(10, 40)),
    )


@given(price=prices(), clip=st.floats(1e-6, 1e6))
def test_the_ridge_keeps_the_ratio_in_exact_rationals(price: MinimumPrice, clip: float) -> None:
    ridge = Fraction(ridge_of(price, clip, classification.LOGISTIC))
    assert Fraction(clip) ** 2 / 4 / ridge <= price.ratio
    assert Fraction(clip) ** 2 / 4 / ridge > price.ratio * (1 - Fraction(1, 2**50))


@given(price=prices(), records=st.integers(1, 10**8), width=st.integers(1, 300))
def test_every_number_is_at_least_what_the_proof_needs(price: MinimumPrice, records: int, width: int) -> None:
    found = Accuracy.of(price, classification.LOGISTIC, records=records, width=width)
    ridge = Fraction(1, 4) / price.ratio
    reach, error, u = Fraction(found.radius), Fraction(found.error), Fraction(1, 2**53)
    pull_squared = Fraction(FARTHEST * 2**price.bits, price.bound) ** 2 * width
    # λ/2 R² ≥ n log 2 + ‖b‖ R
    least = ridge / 2 * reach - Fraction(records) * Fraction(math.log(2)) / reach
    assert least > 0
    assert least**2 >= pull_squared
    one = (width + 12) * u * reach / 4 + (2 * width + 64) * u
    lattice_squared = Fraction(width, 2**100)
    rest = error / records - one
    assert rest > 0
    assert rest**2 >= lattice_squared
    assert Fraction(found.tolerance) == ACCEPTED * error
    rest = Fraction(found.drift) * ridge - (ACCEPTED + 1) * error
    assert rest > 0
    assert rest**2 >= Fraction(width, 4 * price.bound**2)
    rest = price.drift.bound - 2 * Fraction(found.drift) / Fraction(found.step(price, width))
    assert rest > 0
    assert rest**2 >= width


def test_more_records_and_columns_are_harder() -> None:
    few = Accuracy.of(PRICE, classification.LOGISTIC, records=100, width=3)
    many = Accuracy.of(PRICE, classification.LOGISTIC, records=10**6, width=3)
    wide = Accuracy.of(PRICE, classification.LOGISTIC, records=100, width=30)
    assert few.drift < many.drift
    assert few.drift < wide.drift
    assert few.drift < 1e-9


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ZERO_OUT])
def test_a_minimum_is_two_events(relation: Relation) -> None:
    first, second = events_of(QueryKind.MINIMUM, PRICE, relation)
    assert isinstance(first, ObjectivePerturbation)
    assert isinstance(second, Gaussian)
    assert (first.squared_sensitivity, first.variance) == (4**47, 4**50)
    assert (first.curvature_ratio, first.signs) == (Fraction(1, 4), 1)
    assert second.mu_squared == Fraction(1, 256)


def test_a_private_number_of_records_is_refused() -> None:
    with pytest.raises(SettingError, match="public number of records"):
        events_of(QueryKind.MINIMUM, PRICE, Relation.ADD_REMOVE)


def test_prices_of_another_kind_are_refused() -> None:
    with pytest.raises(SettingError, match="own kind"):
        events_of(QueryKind.GRADIENT, PRICE, Relation.REPLACE_ONE)
    with pytest.raises(SettingError, match="no μ"):
        event_of(QueryKind.MINIMUM, PRICE, Relation.REPLACE_ONE)
    with pytest.raises(SettingError, match="own kind"):
        events_of(QueryKind.MINIMUM, Price(2**20, 20), Relation.REPLACE_ONE)
