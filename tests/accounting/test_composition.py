import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.accounting import gaussian
from tacit.accounting.composition import Composition, compose, guarantee_of, mu_squared_of
from tacit.errors import AccountingError, BudgetError, InputError, SchemaError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import BoundedRange, Composed, Event, Gaussian, Laplace, PoissonSampled, Pure, Repeated, Votes
from tacit.privacy.relation import Relation

SETTINGS = settings(max_examples=100, deadline=None)

gaussians = st.builds(
    Gaussian,
    squared_sensitivity=st.fractions(min_value=0, max_value=10**6),
    variance=st.fractions(min_value=Fraction(1, 10**6), max_value=10**30),
)


def exact_delta(epsilon: float, mu_squared: Fraction) -> mpmath.mpf:
    """The definition of the curve at 60 digits, from the exact square of mu."""
    with mpmath.workdps(60):
        mu = mpmath.sqrt(mpmath.mpf(mu_squared.numerator) / mu_squared.denominator)
        e, root = mpmath.mpf(epsilon), mpmath.sqrt(2)
        first = mpmath.erfc((e / mu - mu / 2) / root) / 2
        return first - mpmath.exp(e) * mpmath.erfc((e / mu + mu / 2) / root) / 2


@SETTINGS
@given(gaussians, st.integers(min_value=1, max_value=40), st.integers(min_value=1, max_value=5))
def test_repeated_equals_copies_exactly(event: Event, times: int, again: int) -> None:
    copies = compose([event] * (times * again))
    assert compose([Repeated(event, times * again)]) == copies
    assert compose([Repeated(Repeated(event, times), again)]) == copies
    assert compose([Repeated(event, times)] * again) == copies


@SETTINGS
@given(st.lists(gaussians, max_size=5))
def test_order_and_grouping_do_not_matter(events: list[Event]) -> None:
    total = compose(events)
    assert compose(reversed(events)) == total
    cut = len(events) // 2
    assert compose(events[:cut]).mu_squared + compose(events[cut:]).mu_squared == total.mu_squared


@SETTINGS
@given(st.fractions(min_value=0).filter(lambda square: square < 2**2000), st.integers(min_value=-1200, max_value=1200))
def test_mu_is_the_smallest_float_above_the_root(square: Fraction, power: int) -> None:
    square *= Fraction(2) ** power
    mu = Composition(square).mu
    assert mu is not None
    if math.isinf(mu):
        assert square > Fraction(math.nextafter(math.inf, 0.0)) ** 2
        return
    assert Fraction(mu) ** 2 >= square
    if mu > 0.0:
        assert Fraction(math.nextafter(mu, 0.0)) ** 2 < square


@pytest.mark.parametrize("mu", [0.0, 5e-324, 1e-160, 0.3, 1.0, 1e200, 1.7976931348623157e308])
def test_mu_of_an_exact_square_is_its_root(mu: float) -> None:
    assert Composition(Fraction(mu) ** 2).mu == mu


def test_mu_beyond_floats_is_infinite_and_so_is_epsilon() -> None:
    composition = Composition(Fraction(2) ** 2048)
    assert composition.mu == math.inf
    assert composition.epsilon(1e-6) == math.inf
    assert composition.delta(1.0) == 1.0


def test_nothing_released_costs_nothing() -> None:
    assert compose([]) == Composition(Fraction(0))
    assert compose([]).epsilon(1e-6) == compose([]).delta(0.0) == compose([Gaussian(0, 1)]).mu == 0.0


def test_epsilon_and_delta_are_never_below_the_exact_ones() -> None:
    generator = np.random.default_rng(11)
    for _ in range(100):
        events: list[Event] = [
            Repeated(
                Gaussian(int(generator.integers(1, 2**30)), 4 ** int(generator.integers(14, 22))),
                int(generator.integers(1, 50)),
            )
            for _ in range(3)
        ]
        total = compose(events)
        delta = float(10.0 ** generator.uniform(-15, -2))
        assert exact_delta(total.epsilon(delta), total.mu_squared) <= delta
        assert total.delta(1.0) >= exact_delta(1.0, total.mu_squared)


def test_unknown_events_are_refused_by_name() -> None:
    with pytest.raises(SettingError, match="str"):
        compose([Gaussian(1, 1), "gaussian"])  # type: ignore[list-item]


def test_mu_squared_of_mu_and_rho_is_exact() -> None:
    assert mu_squared_of(Budget(mu=0.3)) == Fraction(0.3) ** 2
    assert mu_squared_of(Budget(rho=0.05, delta=1e-6)) == 2 * Fraction(0.05)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 8.0, 300.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_t24_spending_the_whole_budget_stays_within_it(epsilon: float, delta: float) -> None:
    allowed = mu_squared_of(Budget(epsilon=epsilon, delta=delta))
    assert exact_delta(epsilon, allowed) <= delta
    assert exact_delta(epsilon, allowed * (1 + Fraction(1, 10**8))) > delta
    assert Composition(allowed).epsilon(delta) <= epsilon
    assert Composition(allowed).delta(epsilon) <= delta
    assert Composition(allowed).mu == gaussian.mu(epsilon, delta)


@SETTINGS
@given(
    st.one_of(
        st.builds(
            Budget, epsilon=st.floats(min_value=1e-3, max_value=100.0), delta=st.floats(min_value=1e-15, max_value=0.5)
        ),
        st.builds(Budget, mu=st.floats(min_value=1e-6, max_value=100.0)),
        st.builds(Budget, rho=st.floats(min_value=1e-6, max_value=100.0)),
    )
)
def test_t34_ten_parts_add_up_to_the_budget_exactly(budget: Budget) -> None:
    allowed = mu_squared_of(budget)
    parts: list[Event] = [Gaussian(allowed / 10, 1) for _ in range(10)]
    assert compose(parts).mu_squared == allowed
    spent = Fraction(0)
    for part in parts:
        assert spent + compose([part]).mu_squared <= allowed
        spent += compose([part]).mu_squared
    assert spent == allowed
    if budget.epsilon is not None and budget.delta is not None:
        assert compose(parts).epsilon(budget.delta) <= budget.epsilon


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (Budget(epsilon=math.inf, delta=1e-6), "infinite"),
        (Budget(mu=math.inf), "infinite"),
        (Budget(rho=math.inf), "infinite"),
        (Budget(epsilon=1.0), "with_delta"),
    ],
)
def test_budgets_without_a_mu_are_refused(budget: Budget, message: str) -> None:
    with pytest.raises(BudgetError, match=message) as caught:
        mu_squared_of(budget)
    assert isinstance(caught.value, InputError)


def test_guarantee_of_names_relation_and_unit() -> None:
    events: list[Event] = [Repeated(Gaussian(1, 400), 16)]
    guarantee = guarantee_of(events, delta=1e-6, relation="replace-one", unit="patient")
    assert guarantee.relation is Relation.REPLACE_ONE
    assert guarantee.unit == "patient"
    assert guarantee.delta == 1e-6
    assert guarantee.mu == 0.2
    assert exact_delta(guarantee.epsilon, Fraction(1, 25)) <= 1e-6
    assert exact_delta(guarantee.epsilon * (1 - 1e-9), Fraction(1, 25)) > 1e-6


def test_guarantee_of_refuses_an_unknown_relation() -> None:
    with pytest.raises(SchemaError, match="add-remove"):
        guarantee_of([], delta=1e-6, relation="replace", unit="row")


def test_t18_more_noise_gives_a_smaller_epsilon() -> None:
    epsilons = [
        guarantee_of([Gaussian(1, Fraction(4) ** power)], delta=1e-6, relation="zero-out", unit="row").epsilon
        for power in range(-3, 12)
    ]
    assert epsilons == sorted(epsilons, reverse=True)
    assert len(set(epsilons)) == len(epsilons)


def test_mixed_events_have_no_mu_but_an_epsilon_and_a_delta() -> None:
    composition = compose([Gaussian(1, 100), Laplace(1, 10)])
    assert composition.mu is None
    with pytest.raises(AccountingError, match="not all of them are Gaussian"):
        _ = composition.mu_squared
    alone = compose([Gaussian(1, 100)]).epsilon(1e-6)
    assert alone < composition.epsilon(1e-6) <= alone + 0.1 + 1e-9
    assert composition.delta(composition.epsilon(1e-6)) == pytest.approx(1e-6, rel=0.01)
    assert composition.price(1e-6).accountant == "pld"
    assert compose([Gaussian(1, 100)]).price(1e-6).accountant == "gdp"


def test_sampled_events_need_their_relation_and_get_another_price_under_each() -> None:
    step = Repeated(PoissonSampled(Gaussian(1, 2), Fraction(1, 50)), 100)
    with pytest.raises(AccountingError, match="relation"):
        compose([step])
    added = compose([step], "add-remove").epsilon(1e-6)
    assert compose([step], "zero-out").epsilon(1e-6) == added
    assert compose([step], "replace-one").epsilon(1e-6) > 1.2 * added
    stated = guarantee_of([step], delta=1e-6, relation="add-remove", unit="row")
    assert stated.epsilon == added
    assert stated.mu is None


def test_votes_and_nested_gaussians_stay_on_the_exact_path() -> None:
    events: list[Event] = [Votes(1600, 100), Composed((Gaussian(1, 16), Gaussian(1, 16)))]
    assert compose(events) == Composition(Fraction(1, 4))


@SETTINGS
@given(st.lists(st.fractions(min_value=0, max_value=100), min_size=1, max_size=6), st.integers(1, 50))
def test_t34_pure_events_cost_exactly_their_sum_at_delta_zero(epsilons: list[Fraction], times: int) -> None:
    kinds: list[Callable[[Fraction], Event]] = [lambda it: Laplace(it, 1), Pure, BoundedRange]
    events = [Repeated(kinds[place % 3](epsilon), times) for place, epsilon in enumerate(epsilons)]
    exact = times * sum(epsilons)
    total = compose(events)
    assert total.pure_epsilon == exact
    stated = guarantee_of(events, delta=0.0, relation="zero-out", unit="row")
    assert stated.delta == 0.0
    assert Fraction(stated.epsilon) >= exact > Fraction(math.nextafter(stated.epsilon, -math.inf))


def test_an_event_that_is_not_pure_has_no_epsilon_at_delta_zero() -> None:
    for events in ([Gaussian(1, 1)], [Gaussian(1, 1), Laplace(1, 1)]):
        assert compose(events).pure_epsilon is None
        assert compose(events).epsilon(0.0) == math.inf
    with pytest.raises(BudgetError, match="delta is 0, and Gaussian noise"):
        mu_squared_of(Budget(epsilon=1, delta=0))
