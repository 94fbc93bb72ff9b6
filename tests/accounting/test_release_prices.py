import math
from fractions import Fraction

import pytest

from tacit.accounting import gaussian
from tacit.accounting.composition import count_events
from tacit.accounting.event_curves import own_pair, pure_selection
from tacit.accounting.release_prices import epsilon_at, priced_releases
from tacit.privacy.event import (
    Approximate,
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
    SampledWithoutReplacement,
    SampledWithReplacement,
)
from tacit.privacy.relation import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
TENTH = Fraction(1, 10)


def test_each_needy_step_gets_its_share_of_half_of_delta() -> None:
    events = [Repeated(Gaussian(1, 100), 8), Pure(1), Gaussian(1, 400), Laplace(1, 7)]
    parts = priced_releases(count_events(events), None, 1.8e-5)
    assert parts is not None
    assert [part.times for part in parts] == [8, 1, 1, 1]
    assert [part.delta > 0 for part in parts] == [True, False, True, False]
    total = sum(Fraction(part.delta) * part.times for part in parts)
    assert total <= Fraction(1.8e-5) / 2
    assert float(total) == pytest.approx(0.9e-5, rel=1e-12)
    assert parts[0].epsilon == gaussian.epsilon(0.1, parts[0].delta)


def test_own_deltas_come_first() -> None:
    events = [Approximate(1, Fraction(1, 10**6)), Gaussian(1, 100)]
    parts = priced_releases(count_events(events), None, 3e-6)
    assert parts is not None
    assert parts[1].delta == pytest.approx(1e-6, rel=1e-9)
    starved = priced_releases(count_events(events), None, 1e-7)
    assert starved is not None
    assert math.isinf(starved[1].epsilon)


@pytest.mark.parametrize("relation", [ADD, REPLACE])
def test_sampled_releases_fit_their_delta(relation: Relation) -> None:
    plain = epsilon_at(Gaussian(1, 4), None, 1e-6)
    sampled = epsilon_at(PoissonSampled(Gaussian(1, 4), TENTH), relation, 1e-6)
    assert plain is not None
    assert sampled is not None
    base = gaussian.epsilon(0.5, 1e-5)
    amplified = math.log1p(0.1 * math.expm1(base))
    if relation is ADD:
        assert sampled == pytest.approx(amplified, rel=1e-9)
        assert sampled < plain
    else:
        assert amplified < sampled < 2 * amplified


def test_without_replacement_amplifies_the_replaced_sensitivity() -> None:
    found = epsilon_at(SampledWithoutReplacement(Gaussian(4, 16), 1, 10), REPLACE, 1e-6)
    expected = math.log1p(0.1 * math.expm1(gaussian.epsilon(0.5, 1e-5)))
    assert found == pytest.approx(expected, rel=1e-9)


def test_with_replacement_is_above_without_at_the_same_size() -> None:
    with_it = epsilon_at(SampledWithReplacement(Gaussian(4, 16), 100, 1000), REPLACE, 1e-6)
    without = epsilon_at(SampledWithoutReplacement(Gaussian(4, 16), 100, 1000), REPLACE, 1e-6)
    assert with_it is not None
    assert without is not None
    assert without < with_it < math.inf
    pure = epsilon_at(SampledWithReplacement(Pure(1), 10, 1000), REPLACE, 1e-9)
    assert pure is not None
    assert 0 < pure < 10


def test_selection_of_pure_runs_is_pure() -> None:
    geometric = RandomStopping(Repeated(Pure(TENTH), 2), NegativeBinomial(1, TENTH))
    assert pure_selection(geometric, None) == 0.6000000000000001
    assert own_pair(geometric, None) == (0.6000000000000001, 0.0)
    poisson = RandomStopping(Pure(TENTH), PoissonRuns(5))
    assert pure_selection(poisson, None) is None
    assert own_pair(poisson, None) is None


@pytest.mark.parametrize(
    "event",
    [SampledWithReplacement(DiscreteGaussian(1, 4), 2, 10), RandomStopping(Approximate(1, TENTH), PoissonRuns(3))],
)
def test_events_without_a_part_have_none(event: Event) -> None:
    assert epsilon_at(event, REPLACE, 1e-6) is None
    assert priced_releases(((event, 1),), REPLACE, 1e-6) is None
