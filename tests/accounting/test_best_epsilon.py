import itertools
import math
from fractions import Fraction

import pytest

from tacit.accounting import gaussian
from tacit.accounting.accountants import ACCOUNTANTS, AccountantPrice, price
from tacit.accounting.best_epsilon import best, compare, delta_of_counts
from tacit.accounting.clt_forecast import Forecast
from tacit.accounting.composition import count_events
from tacit.errors import AccountingError, BudgetError
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    PoissonRuns,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

HUNDREDTH = Fraction(1, 100)
SIGMAS = [Fraction(1, 100), Fraction(1), Fraction(100), Fraction(10**6)]
RATES = [Fraction(0), HUNDREDTH, Fraction(1)]
STEPS = [1, 1000, 10**6]
DELTAS = [0.1, 1e-20]


def sgd(sigma: Fraction, rate: Fraction, steps: int) -> list[Event]:
    return [Repeated(PoissonSampled(Gaussian(1, sigma**2), rate), steps)]


def test_t26_the_best_epsilon_is_finite_monotone_and_never_negative() -> None:
    table = {
        (sigma, rate, steps, delta): best(sgd(sigma, rate, steps), delta=delta, relation="add-remove").epsilon
        for sigma, rate, steps, delta in itertools.product(SIGMAS, RATES, STEPS, DELTAS)
    }
    axes: list[list[object]] = [list(SIGMAS), list(RATES), list(STEPS), list(DELTAS)]
    for point, epsilon in table.items():
        assert 0.0 <= epsilon < math.inf
        for axis, values in enumerate(axes):
            place = values.index(point[axis])
            if place + 1 < len(values):
                following = (*point[:axis], values[place + 1], *point[axis + 1 :])
                # More noise costs less; a larger rate, more steps and a smaller delta cost more.
                less = table[following] if axis == 0 else epsilon  # type: ignore[index]
                more = epsilon if axis == 0 else table[following]  # type: ignore[index]
                assert less <= more * (1 + 1e-6)
    assert all(table[sigma, Fraction(0), 1, 0.1] == 0.0 for sigma in SIGMAS)


def test_gaussians_alone_are_exact_and_sampled_at_rate_one_too() -> None:
    found = best(sgd(Fraction(10), Fraction(1), 25), delta=1e-6, relation="add-remove")
    assert found.accountant == "gdp"
    assert found.epsilon == gaussian.epsilon(0.5, 1e-6)


@pytest.mark.parametrize(
    ("rate", "noise", "steps", "most", "forecast"),
    [("0.01", "0.8", 1000, 3.24, 2.51), ("0.004", "0.7", 2500, 3.06, 2.07), ("0.05", "2", 400, 2.29, 2.14)],
)
def test_t31_the_truth_lies_between_the_forecast_and_the_published_bound(
    rate: str, noise: str, steps: int, most: float, forecast: float
) -> None:
    found = best(sgd(Fraction(noise), Fraction(rate), steps), delta=1e-5, relation="add-remove")
    assert found.accountant == "pld"
    assert forecast < found.lower <= found.epsilon <= most
    assert found.epsilon <= found.lower * 1.001


def test_a_fallback_says_why() -> None:
    found = best([Laplace(1, 1), RandomStopping(Pure(1), PoissonRuns(2))], delta=1e-6)
    assert found.accountant in ("rdp", "basic")
    assert "RandomStopping" in found.note
    far = best(sgd(HUNDREDTH, HUNDREDTH, 10**6), delta=1e-20, relation="add-remove")
    assert far.accountant != "pld"
    assert far.note


def test_a_family_of_losses_is_also_priced_by_renyi() -> None:
    events: list[Event] = [Repeated(BoundedRange(Fraction(1, 10)), 20)]
    found = best(events, delta=1e-5)
    assert found.accountant == "rdp"
    assert found.epsilon < price("pld", events, delta=1e-5).epsilon


def test_at_delta_zero_pure_releases_add_up() -> None:
    assert best([Pure(1), Laplace(1, 2)], delta=0.0).epsilon == 1.5


def test_pure_releases_never_cost_more_than_their_sum() -> None:
    events = [Pure(Fraction(99, 200)), Pure(Fraction(1, 200))]
    assert price("pld", events, delta=1e-6).epsilon > 0.5
    assert best(events, delta=1e-6).epsilon == 0.5
    counts = count_events(events)
    assert delta_of_counts(counts, None, 0.5) == 0.0 < delta_of_counts(counts, None, math.nextafter(0.5, 0.0))


def test_an_event_that_nobody_can_price_is_refused_by_name() -> None:
    drawn = SampledWithReplacement(DiscreteGaussian(1, 4), 2, 10)
    with pytest.raises(AccountingError, match="SampledWithReplacement"):
        best([drawn], delta=1e-6, relation="replace-one")
    with pytest.raises(AccountingError, match="SampledWithReplacement"):
        delta_of_counts(count_events([drawn], "replace-one"), Relation.REPLACE_ONE, 1.0)


@pytest.mark.parametrize(
    "events",
    [
        [Gaussian(1, 4)],
        [Repeated(Laplace(1, 10), 5), Gaussian(1, 100)],
        [RandomStopping(Gaussian(1, 100), NegativeBinomial(1, Fraction(1, 10)))],
        [Repeated(Approximate(Fraction(1, 10), Fraction(1, 10**8)), 5)],
    ],
)
def test_delta_and_epsilon_are_inverse_on_the_safe_side(events: list[Event]) -> None:
    counted = count_events(events)
    epsilon = best(events, delta=1e-5).epsilon
    assert delta_of_counts(counted, None, epsilon) == pytest.approx(1e-5, rel=0.05)
    assert delta_of_counts(counted, None, 0.0) <= 1.0
    assert delta_of_counts(counted, None, math.inf) == 0.0
    with pytest.raises(BudgetError):
        delta_of_counts(counted, None, -1.0)


def test_all_accountants_side_by_side() -> None:
    table = compare(sgd(Fraction(2), HUNDREDTH, 50), delta=1e-5, relation="add-remove")
    assert list(table) == [*list(ACCOUNTANTS)[:-1], "gdp-clt", "pld"]
    assert isinstance(table["gdp-clt"], Forecast)
    assert table["gdp"] is table["zcdp"] is None
    prices = {name: found for name, found in table.items() if isinstance(found, AccountantPrice)}
    assert min(prices, key=lambda name: prices[name].epsilon) == "pld"
    with pytest.raises(AccountingError):
        compare(sgd(Fraction(2), HUNDREDTH, 50), delta=1e-5)
