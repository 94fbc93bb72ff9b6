"""Prices of a holdout: within the budget, and not far below it."""

from fractions import Fraction

import pytest

from tacit.accounting.composition import compose
from tacit.contract.holdout_price import HoldoutPrice, holdout_price
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import Pure, Repeated
from tacit.privacy.relation import Relation


@pytest.mark.parametrize("relation", [Relation.REPLACE_ONE, Relation.ZERO_OUT])
@pytest.mark.parametrize(("delta", "releases"), [(0.0, 1), (0.0, 20), (1e-6, 20)])
def test_all_releases_are_within_the_budget(relation: Relation, delta: float, releases: int) -> None:
    price = holdout_price(Budget(epsilon=1.0, delta=delta), relation, releases, 10_000)
    total = compose(price.events(relation), relation).epsilon(delta)
    assert 0.99 < total <= 1.0


def test_a_release_is_two_events_of_sensitivity_over_scale() -> None:
    price = HoldoutPrice(100, 10, 3)
    assert price.epsilon(Relation.REPLACE_ONE) == Fraction(200, 1024)
    assert price.epsilon(Relation.ZERO_OUT) == Fraction(100, 1024)
    first, second = price.events(Relation.ZERO_OUT)
    assert isinstance(first, Repeated)
    assert isinstance(first.event, Pure)
    assert (first.times, first.event.epsilon) == (3, Fraction(100, 1024))
    assert first != second


def test_what_has_no_price_is_refused() -> None:
    with pytest.raises(SettingError, match="public number"):
        HoldoutPrice(100, 10, 3).events(Relation.ADD_REMOVE)
    with pytest.raises(BudgetError, match="finite epsilon"):
        holdout_price(Budget(mu=1.0, delta=1e-6), Relation.REPLACE_ONE, 1, 100)
    with pytest.raises(BudgetError, match="too small"):
        holdout_price(Budget(epsilon=1e-16, delta=0), Relation.REPLACE_ONE, 1000, 100)
