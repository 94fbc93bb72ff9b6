import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from tacit.accounting.composition import count_events
from tacit.accounting.event_curves import curve_of, total_curve
from tacit.privacy.event import (
    Approximate,
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
    SampledWithReplacement,
    SoftmaxPerturbation,
    Votes,
)
from tacit.privacy.relation import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
TENTH = Fraction(1, 10)


def value(event: Event, order: float, relation: Relation = ADD) -> float:
    found = curve_of(event, relation)
    assert found is not None
    return float(found.curve(np.array([order]))[0])


def divergence(order: float, p: stats.rv_continuous, q: stats.rv_continuous) -> float:
    """Rényi divergence of two densities by quadrature."""

    def integrand(x: float) -> float:
        return float(math.exp(order * p.logpdf(x) + (1.0 - order) * q.logpdf(x)))

    return math.log(integrate.quad(integrand, -30.0, 30.0, limit=400)[0]) / (order - 1.0)


class Mixture:
    """A record moves the centre of unit noise with some probability."""

    def __init__(self, rate: float, shift: float) -> None:
        self.rate, self.shift = rate, shift

    def logpdf(self, x: float) -> float:
        plain, moved = stats.norm.pdf(x), stats.norm.pdf(x - self.shift)
        return math.log((1.0 - self.rate) * plain + self.rate * moved)


@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_poisson_samples_bound_both_relations(order: float) -> None:
    event = PoissonSampled(Gaussian(1, 1), TENTH)
    added, plain = Mixture(0.1, 1.0), Mixture(0.0, 0.0)
    assert value(event, order) >= divergence(order, added, plain) * (1 - 1e-9)
    assert value(event, order) <= divergence(order, added, plain) * (1 + 1e-6)
    replaced = divergence(order, added, Mixture(0.1, -1.0))
    assert value(event, order, REPLACE) >= replaced


def test_the_group_of_two_is_no_less_than_twice_the_single() -> None:
    event = PoissonSampled(Laplace(1, 1), TENTH)
    assert value(event, 2.0, REPLACE) >= 2.0 * value(event, 2.0)


def test_leaks_are_carried_and_add_up() -> None:
    event = Approximate(1, Fraction(1, 1000))
    found = total_curve(count_events([Repeated(event, 10)]), None)
    assert found is not None
    assert 1 - 0.999**10 <= found.leak <= (1 - 0.999**10) * (1 + 1e-9)
    assert value(event, 2.0) == value(Pure(1), 2.0)
    sampled = curve_of(PoissonSampled(event, TENTH), ADD)
    assert sampled is not None
    assert sampled.leak == pytest.approx(1e-4, rel=1e-9)


def test_totals_are_sums() -> None:
    events: list[Event] = [Gaussian(1, 4), Repeated(Laplace(1, 2), 3), DiscreteGaussian(1, 9)]
    total = total_curve(count_events(events), None)
    assert total is not None
    parts = value(Gaussian(1, 4), 3.0) + 3 * value(Laplace(1, 2), 3.0)
    parts += value(DiscreteGaussian(1, 9), 3.0)
    assert float(total.curve(np.array([3.0]))[0]) == pytest.approx(parts, rel=1e-9)


def test_amplified_curves_are_never_above_their_base() -> None:
    base = Laplace(1, 1)
    for event in (PoissonSampled(base, TENTH), SampledWithoutReplacement(base, 1, 10)):
        relation = ADD if isinstance(event, PoissonSampled) else REPLACE
        assert 0 < value(event, 3.0, relation) < value(base, 3.0)


def test_objective_perturbation_under_replace_one_costs_more() -> None:
    events: list[Event] = [ObjectivePerturbation(1, 25, TENTH, signs) for signs in (1, 2)]
    for event in (*events, SoftmaxPerturbation(1, 25, TENTH, 4)):
        assert value(event, 4.0, REPLACE) > value(event, 4.0, Relation.ZERO_OUT)
        assert value(event, 4.0, REPLACE) >= value(events[0], 4.0, REPLACE)


@pytest.mark.parametrize("law", [NegativeBinomial(1, TENTH), PoissonRuns(10)])
def test_selection_is_tabulated_on_the_safe_side(law: NegativeBinomial | PoissonRuns) -> None:
    event = RandomStopping(Gaussian(1, 100), law)
    orders = [1.5, 7.0, 7.3, 100.0]
    values = [value(event, order) for order in orders]
    assert values == sorted(values)
    assert value(event, 7.3) == value(event, 8.0)
    assert values[1] > value(Gaussian(1, 100), 7.0)


def test_events_without_a_curve_have_none() -> None:
    leaky = RandomStopping(Approximate(1, TENTH), PoissonRuns(3))
    assert curve_of(leaky, ADD) is None
    assert curve_of(SampledWithReplacement(Pure(1), 2, 10), REPLACE) is None
    assert total_curve(count_events([leaky, Gaussian(1, 1)]), None) is None


def test_t43_a_plurality_and_its_check_cost_the_same_whatever_the_votes() -> None:
    orders = np.array([1.0, 2.0, 20.0])
    for scale in (5, 40, 150):
        plurality = total_curve(count_events([Votes(scale**2)]), None)
        check = total_curve(count_events([Gaussian(1, scale**2)]), None)
        assert plurality is not None
        assert check is not None
        # A changed vote moves two counts by one each; the largest count moves by one.
        assert plurality.curve(orders) == pytest.approx(orders / scale**2)
        assert check.curve(orders) == pytest.approx(orders / (2 * scale**2))
