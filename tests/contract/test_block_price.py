"""Prices of medians and deep points cost what is allowed, in exact rationals."""

import math
from fractions import Fraction

import pytest

from tacit.contract.block_price import ChoicePrice, DepthPrice, depth_price
from tacit.contract.query import QueryKind
from tacit.contract.sensitivity import Price, event_of, events_of, require_kind, squared_sensitivity
from tacit.errors import SettingError
from tacit.privacy.event import Approximate, BoundedRange, Repeated, Votes
from tacit.privacy.relation import Relation


def test_a_choice_has_twice_its_rate_as_range() -> None:
    assert ChoicePrice(Fraction(1, 4)).event(3, "m") == Repeated(BoundedRange(Fraction(1, 2), "m"), 3)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, 1e-6), (Fraction(1, 10), 1e-9), (8, 0.01)])
def test_a_deep_point_costs_at_most_what_is_allowed(epsilon: Fraction, delta: float) -> None:
    price = depth_price(Fraction(epsilon), Fraction(delta))
    event = price.event("point")
    assert isinstance(event, Approximate)
    assert event.epsilon <= epsilon
    assert event.delta <= Fraction(delta)
    # The test passes by chance with at most the share of the shell.
    assert math.exp(-float(price.test) * (price.threshold - 1)) <= price.shell
    assert math.exp(-float(price.test) * (price.threshold - 3)) > price.shell


@pytest.mark.parametrize("relation", list(Relation))
def test_one_block_costs_the_same_under_every_relation(relation: Relation) -> None:
    assert squared_sensitivity(QueryKind.BLOCK_MEAN, 5, relation) == 100
    assert squared_sensitivity(QueryKind.VOTE_COUNTS, 5, relation, 3) == 150
    assert squared_sensitivity(QueryKind.VOTE_CHECKS, 5, relation, 3) == 75


def test_votes_are_the_event_of_gnmax() -> None:
    (event,) = events_of(QueryKind.VOTE_COUNTS, Price(3, 4), Relation.REPLACE_ONE, 7)
    assert isinstance(event, Votes)
    assert event == Votes(Fraction(256, 9), 7, "vote-counts")
    assert event.mu_squared == event_of(QueryKind.VOTE_COUNTS, Price(3, 4), Relation.REPLACE_ONE, 7).mu_squared


def test_prices_of_another_kind_are_refused() -> None:
    for kind, price in ((QueryKind.BLOCK_MEDIAN, Price(1, 1)), (QueryKind.BLOCK_MEAN, ChoicePrice(Fraction(1)))):
        with pytest.raises(SettingError, match="price of its own kind"):
            require_kind(kind, price)
    require_kind(QueryKind.BLOCK_DEPTH, DepthPrice(Fraction(1), Fraction(1), Fraction(1, 10)))
