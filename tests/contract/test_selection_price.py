"""Prices of selections and of draws: exact, of the right event, and refused elsewhere."""

from fractions import Fraction

import pytest

from tacit.accounting.composition import compose
from tacit.contract.query import QueryKind
from tacit.contract.selection_price import SelectionPrice, score_range, selection_price
from tacit.contract.selection_query import SelectionLaw
from tacit.contract.sensitivity import Price, event_of, events_of, price_for, require_kind
from tacit.errors import BudgetError, SettingError
from tacit.privacy.event import BoundedRange, Gaussian, Pure, Repeated
from tacit.privacy.relation import Relation

KINDS = (QueryKind.SELECTION, QueryKind.SIGNED_SELECTION)


@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.parametrize("kind", KINDS)
def test_a_price_costs_exactly_what_is_asked(kind: QueryKind, relation: Relation) -> None:
    for epsilon in (Fraction(1, 1000), Fraction(1), Fraction(37, 3)):
        (event,) = events_of(kind, selection_price(kind, epsilon, relation), relation)
        assert event == BoundedRange(epsilon, str(kind))
        flipped = selection_price(kind, epsilon, relation, law=SelectionLaw.PERMUTE_AND_FLIP)
        assert events_of(kind, flipped, relation) == (Pure(epsilon, str(kind)),)


def test_ranges_by_relation_and_sign() -> None:
    found = [[score_range(kind, 10, relation) for relation in Relation] for kind in KINDS]
    by_name = dict(zip([str(relation) for relation in Relation], zip(*found, strict=True), strict=True))
    assert by_name == {"replace-one": (20, 40), "zero-out": (10, 20), "add-remove": (10, 20)}


def test_t21_selections_compose_like_single_ones() -> None:
    kind = QueryKind.SIGNED_SELECTION
    (event,) = events_of(kind, selection_price(kind, Fraction(1, 10), Relation.REPLACE_ONE), Relation.REPLACE_ONE)
    together = compose([Repeated(event, 50)], Relation.REPLACE_ONE)
    assert together.epsilon(1e-6) == compose([event] * 50, Relation.REPLACE_ONE).epsilon(1e-6)
    assert together.pure_epsilon == 5
    # zCDP of T η²/8 and no less; permute-and-flip gets no such price.
    assert together.epsilon(1e-6) < compose([Repeated(Pure(Fraction(1, 10)), 50)]).epsilon(1e-6)


def test_a_draw_from_a_posterior_is_gaussian_in_its_price() -> None:
    for relation, factor in ((Relation.REPLACE_ONE, 4), (Relation.ZERO_OUT, 1), (Relation.ADD_REMOVE, 1)):
        price = price_for(QueryKind.POSTERIOR, Fraction(2), relation, records=1, width=4)
        event = event_of(QueryKind.POSTERIOR, price, relation)
        assert event == Gaussian(factor * price.bound**2, 4**price.bits, "posterior-draw")
        assert Fraction(19, 10) < event.mu_squared <= 2


def test_what_has_no_price_is_refused() -> None:
    with pytest.raises(SettingError, match="selections alone"):
        require_kind(QueryKind.GRADIENT, SelectionPrice(8, Fraction(1, 2)))
    with pytest.raises(SettingError, match="not Gaussian"):
        event_of(QueryKind.SELECTION, Price(8, 3), Relation.ZERO_OUT)
    with pytest.raises(SettingError, match="priced by its rate"):
        price_for(QueryKind.SELECTION, Fraction(1), Relation.ZERO_OUT, records=5, width=2)
    with pytest.raises(SettingError, match="those of selections"):
        score_range(QueryKind.MEANS, 8, Relation.ZERO_OUT)
    for epsilon in (Fraction(1, 2**40), Fraction(2**40)):
        with pytest.raises(BudgetError, match="beyond what an exact selection"):
            selection_price(QueryKind.SELECTION, epsilon, Relation.ZERO_OUT)
