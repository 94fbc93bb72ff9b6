import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.accounting.composition import compose, mu_squared_of
from tacit.accounting.filters import UNIT_BITS, CompositionLaw, Filter, amount, capacity, shares, split
from tacit.accounting.renyi import conversion
from tacit.errors import AccountingError, BudgetError, SettingError
from tacit.privacy.budget import Budget
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonRuns,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    Votes,
)
from tacit.privacy.relation import Relation

SETTINGS = settings(max_examples=60, deadline=None)
REPLACE = Relation.REPLACE_ONE
BUDGET = Budget(epsilon=2.0, delta=1e-6)
budgets = st.one_of(
    st.builds(Budget, epsilon=st.floats(1e-3, 100.0), delta=st.floats(1e-15, 0.5)),
    st.builds(Budget, mu=st.floats(1e-6, 100.0)),
    st.builds(Budget, rho=st.floats(1e-6, 100.0)),
)


@SETTINGS
@given(budgets, st.integers(1, 60))
def test_t34_equal_parts_of_a_budget_fit_to_the_last_one(budget: Budget, parts: int) -> None:
    filter_ = Filter(budget, REPLACE)
    part = Gaussian(filter_.capacity / parts, 1)
    for _ in range(parts):
        filter_ = filter_.after(part)
    assert filter_.spent == filter_.capacity
    assert filter_.remaining == 0
    assert not filter_.admits(Gaussian(Fraction(1, 10**400), 1))


@SETTINGS
@given(budgets, st.integers(1, 500))
def test_t34_integer_shares_add_up_and_cost_what_they_are(budget: Budget, parts: int) -> None:
    whole = capacity(budget)
    split = shares(whole, parts)
    assert sum(split) == whole
    assert max(split) - min(split) <= 1
    for share in {*split} - {0}:
        assert amount(Gaussian(Fraction(share, 2**UNIT_BITS), 1)) == share


def test_a_filter_refuses_what_does_not_fit_and_spends_nothing_on_it() -> None:
    filter_ = Filter(Budget(mu=0.5), REPLACE).after(Gaussian(1, 8))
    with pytest.raises(BudgetError, match="nothing was spent"):
        filter_.after(Gaussian(1, 7))
    assert filter_.spent == Fraction(1, 8)


def test_units_round_against_us() -> None:
    assert amount(Gaussian(1, 3)) * 3 > 2**UNIT_BITS
    assert amount(Gaussian(1, 4)) == 2 ** (UNIT_BITS - 2)
    allowed = mu_squared_of(BUDGET)
    assert capacity(BUDGET) <= allowed * 2**UNIT_BITS < capacity(BUDGET) + 1
    assert amount(Pure(1), law="zcdp") >= 2**UNIT_BITS * math.tanh(0.5)


@pytest.mark.parametrize("law", ["zcdp", "rdp"])
def test_the_capacity_of_mixed_releases_converts_to_the_budget(law: CompositionLaw) -> None:
    filter_ = Filter(BUDGET, REPLACE, law)
    value = float(filter_.capacity)
    if law == "zcdp":
        assert conversion.zcdp_to_epsilon(value, 1e-6) <= 2.0
        assert conversion.zcdp_to_epsilon(value * 1.001, 1e-6) > 2.0
    else:
        assert filter_.order is not None
        assert conversion.epsilon_from_values([filter_.order], [value], 1e-6) <= 2.0
        assert conversion.epsilon_from_values([filter_.order], [value * 1.001], 1e-6) > 2.0
        # At the chosen order a Gaussian may spend as much as by zcdp, to two per cent.
        best = Filter(BUDGET, REPLACE, "zcdp").capacity
        assert value / filter_.order == pytest.approx(float(best), rel=0.02)


@pytest.mark.parametrize("law", ["zcdp", "rdp"])
def test_mixed_releases_within_a_filter_are_within_its_budget(law: CompositionLaw) -> None:
    generator = np.random.default_rng(5)
    menu: list[Event] = [Gaussian(1, 900), Laplace(1, 20), BoundedRange(Fraction(1, 9)), Pure(Fraction(1, 30))]
    if law == "rdp":
        menu.append(PoissonSampled(Gaussian(1, 2), Fraction(1, 100)))
    filter_ = Filter(BUDGET, Relation.ADD_REMOVE, law)
    released: list[Event] = []
    while True:
        event = Repeated(menu[generator.integers(len(menu))], int(generator.integers(1, 6)))
        if not filter_.admits(event):
            break
        filter_, released = filter_.after(event), [*released, event]
    assert len(released) > 5
    assert filter_.remaining >= 0
    assert compose(released, "add-remove").epsilon(1e-6) <= 2.0


def test_an_adaptive_strategy_cannot_beat_the_gaussian_filter() -> None:
    # An analyst who spends the rest at once after an outcome that favours one table: the exact
    # delta of the whole interaction, by summing over a fine grid of first outcomes.
    allowed = float(mu_squared_of(BUDGET))
    first = math.sqrt(0.5 * allowed)
    points = np.linspace(-12.0, 12.0, 4001)
    weights = np.exp(-0.5 * (points - first) ** 2) / math.sqrt(2 * math.pi) * (points[1] - points[0])
    losses = first * points - 0.5 * first * first
    total = 0.0
    for loss, weight in zip(losses, weights, strict=True):
        rest = math.sqrt(0.5 * allowed) if loss > 0.3 else math.sqrt(0.05 * allowed)
        total += weight * _gaussian_delta(2.0 - loss, rest)
    assert total <= 1e-6


def _gaussian_delta(epsilon: float, mu: float) -> float:
    from scipy import special

    first = special.ndtr(-epsilon / mu + 0.5 * mu)
    return float(first - math.exp(epsilon) * special.ndtr(-epsilon / mu - 0.5 * mu))


@pytest.mark.parametrize(
    ("law", "event"),
    [
        ("gdp", Laplace(1, 10)),
        ("pure", Gaussian(1, 10**6)),
        ("pure", PoissonSampled(Gaussian(1, 1), Fraction(1, 2))),
        ("zcdp", Approximate(1, Fraction(1, 10**9))),
        ("rdp", Approximate(1, Fraction(1, 10**9))),
        ("zcdp", PoissonSampled(Gaussian(1, 1), Fraction(1, 2))),
    ],
)
def test_what_a_law_cannot_add_up_is_refused(law: CompositionLaw, event: Event) -> None:
    way = "no law takes it" if isinstance(event, Approximate) else 'choose law="rdp"'
    with pytest.raises(AccountingError, match=f'filter with law="{law}" cannot price {type(event).__name__}.*{way}'):
        Filter(BUDGET, REPLACE, law).admits(event)


def test_rdp_takes_every_event_that_does_not_leak() -> None:
    filter_ = Filter(Budget(epsilon=200, delta=1e-6), REPLACE, "rdp")
    inner = Gaussian(1, 10**4)
    for event in (
        inner,
        DiscreteGaussian(1, 10**4),
        Votes(10**6, 3),
        Laplace(1, 10),
        Pure(Fraction(1, 10)),
        BoundedRange(Fraction(1, 10)),
        ObjectivePerturbation(1, 10**4, Fraction(1, 100), 1),
        ObjectivePerturbation(1, 10**4, Fraction(1, 100), 2),
        PoissonSampled(inner, Fraction(1, 10)),
        SampledWithoutReplacement(inner, 1, 10),
        RandomStopping(inner, NegativeBinomial(1, Fraction(1, 10))),
        RandomStopping(inner, PoissonRuns(3)),
    ):
        assert 0 < filter_.amount(event) < filter_.capacity


@settings(max_examples=100, deadline=None)
@given(st.lists(st.fractions(min_value=0, max_value=1), max_size=12))
def test_t34_a_pure_filter_adds_up_exact_rationals(parts: list[Fraction]) -> None:
    total = sum(parts, Fraction(0))
    filter_ = Filter(Budget(epsilon=4, delta=0), REPLACE, "pure")
    events = [(Laplace(part, 1), Pure(part), BoundedRange(part))[place % 3] for place, part in enumerate(parts)]
    assert filter_.amount(events) == total
    assert filter_.admits(events) == (total <= 4)


def test_ten_tenths_of_a_pure_budget_are_the_budget() -> None:
    filter_ = Filter(Budget(epsilon=1, delta=0), REPLACE, "pure")
    for _ in range(10):
        filter_ = filter_.after(Laplace(1, 10))
    assert filter_.remaining == 0
    assert not filter_.admits(Pure(Fraction(1, 10**300)))


def test_a_sample_of_a_pure_release_costs_its_amplified_epsilon() -> None:
    event = PoissonSampled(Pure(1), Fraction(1, 10))
    cost = float(Filter(Budget(epsilon=1, delta=0), Relation.ADD_REMOVE, "pure").amount(event))
    exact = math.log1p(0.1 * math.expm1(1.0))
    assert exact <= cost <= exact * (1 + 1e-9)


def test_mixed_relations_are_refused() -> None:
    filter_ = Filter(BUDGET, REPLACE)
    assert filter_.admits(Gaussian(1, 10**4), "replace-one")
    with pytest.raises(AccountingError, match="never added"):
        filter_.after(Gaussian(1, 10**4), "add-remove")


@pytest.mark.parametrize(
    ("budget", "law"),
    [
        (Budget(mu=0.5), "zcdp"),
        (Budget(mu=0.5), "rdp"),
        (Budget(rho=0.5), "rdp"),
        (Budget(epsilon=1.0), "gdp"),
        (Budget(epsilon=1.0), "zcdp"),
        (Budget(epsilon=math.inf, delta=1e-6), "gdp"),
        (Budget(epsilon=math.inf, delta=1e-6), "zcdp"),
        (Budget(rho=math.inf), "zcdp"),
        (Budget(rho=0.5), "pure"),
        (Budget(epsilon=math.inf), "pure"),
        (Budget(epsilon=1.0, delta=0), "gdp"),
        (Budget(epsilon=1.0, delta=0), "zcdp"),
        (Budget(epsilon=1.0, delta=0), "rdp"),
    ],
)
def test_budgets_that_say_nothing_under_a_law_are_refused(budget: Budget, law: CompositionLaw) -> None:
    with pytest.raises(BudgetError):
        Filter(budget, REPLACE, law)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(SettingError):
        Filter(BUDGET, REPLACE, "pld")  # type: ignore[arg-type]
    with pytest.raises(SettingError):
        Filter(BUDGET, REPLACE, "rdp", order=1.0)
    with pytest.raises(SettingError):
        amount(Gaussian(1, 1), law="rdp")
    with pytest.raises(SettingError):
        shares(10, 0)


def test_parts_of_a_budget_add_up_to_at_most_the_whole() -> None:
    budget = Budget(epsilon=1.0, delta=1e-5)
    for parts in ((0.1, 0.9), (0.3, 0.3, 0.4), (1 / 3,) * 3, (0.2,)):
        found = split(budget, *parts)
        assert all(part.delta == 1e-5 for part in found)
        total = sum(mu_squared_of(part) for part in found)
        assert total <= mu_squared_of(budget)
        assert float(total / mu_squared_of(budget)) == pytest.approx(sum(parts))
    for wrong in ((0.6, 0.6), (0.0, 1.0), (-0.1, 0.5)):
        with pytest.raises(SettingError, match="shares above 0"):
            split(budget, *wrong)
