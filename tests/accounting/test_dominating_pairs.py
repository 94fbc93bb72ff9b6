import math
from fractions import Fraction

import pytest

from tacit.accounting.composition import count_events
from tacit.accounting.dominating_pairs import attained_pair, pair_of, pairs_of
from tacit.accounting.pld.pairs.bounded_loss import (
    ExponentialPair,
    LaplacePair,
    RandomisedResponse,
    ReplacedLaplace,
    ReplacedResponse,
)
from tacit.accounting.pld.pairs.gaussian import (
    DiscreteGaussianPair,
    GaussianPair,
    PoissonGaussian,
    WithoutReplacementGaussian,
)
from tacit.accounting.pld.pairs.gaussian import ObjectivePerturbation as ObjectivePair
from tacit.accounting.pld.pairs.pair import FixedSizePair, PoissonPair
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
    SampledWithReplacement,
    SoftmaxPerturbation,
)
from tacit.privacy.relation import Relation

ADD, REPLACE = Relation.ADD_REMOVE, Relation.REPLACE_ONE
HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("event", "relation", "pair"),
    [
        (Gaussian(1, 4), None, GaussianPair(0.5)),
        (Laplace(1, 2), None, LaplacePair(0.5)),
        (Pure(2), None, RandomisedResponse(2.0)),
        (Approximate(2, HALF), None, RandomisedResponse(2.0, 0.5)),
        (BoundedRange(2), None, ExponentialPair(2.0)),
        (DiscreteGaussian(4, 9), None, DiscreteGaussianPair(2, 3.0)),
        (DiscreteGaussian(3, 9), None, DiscreteGaussianPair(1, 3.0)),
        (PoissonSampled(Gaussian(1, 4), HALF), ADD, PoissonGaussian(0.5, 0.5, "add-remove")),
        (PoissonSampled(Gaussian(1, 4), HALF), REPLACE, PoissonGaussian(0.5, 0.5, "replace-one")),
        (PoissonSampled(Laplace(1, 2), HALF), ADD, PoissonPair(LaplacePair(0.5), 0.5)),
        (PoissonSampled(Laplace(1, 2), HALF), REPLACE, ReplacedLaplace(0.5, 0.5)),
        (PoissonSampled(Pure(2), HALF), REPLACE, ReplacedResponse(2.0, 0.5)),
        (PoissonSampled(BoundedRange(2), HALF), REPLACE, ReplacedResponse(2.0, 0.5)),
        (SampledWithoutReplacement(Laplace(1, 2), 1, 2), REPLACE, FixedSizePair(LaplacePair(0.5), 0.5)),
        (SampledWithoutReplacement(Gaussian(4, 4), 1, 2), REPLACE, WithoutReplacementGaussian(1.0, 0.5)),
        (ObjectivePerturbation(1, 4, 0, 1), ADD, ObjectivePair(0.0, 0.5, 1, c_add=0.0)),
        (ObjectivePerturbation(1, 4, 0, 1), REPLACE, ObjectivePair(0.0, 1.0, 1)),
        (ObjectivePerturbation(1, 4, 0, 2), ADD, ObjectivePair(0.0, 0.5, 2, c_add=0.0)),
        (ObjectivePerturbation(1, 4, 0, 2), REPLACE, ObjectivePair(0.0, 1.0, 2)),
        (SoftmaxPerturbation(1, 4, 0, 4), ADD, ObjectivePair(0.0, 0.5, 3, c_add=0.0)),
        (SoftmaxPerturbation(1, 4, 0, 4), REPLACE, ObjectivePair(0.0, 1.0, 9)),
        (RandomStopping(Pure(1), NegativeBinomial(1, HALF)), None, RandomisedResponse(3.0)),
    ],
)
def test_each_event_has_its_pair(event: Event, relation: Relation | None, pair: object) -> None:
    assert pair_of(event, relation) == pair


@pytest.mark.parametrize(
    ("event", "relation"),
    [
        (DiscreteGaussian(4, 9, coordinates=2), None),
        (PoissonSampled(DiscreteGaussian(1, 4), HALF), ADD),
        (SampledWithoutReplacement(DiscreteGaussian(1, 4), 1, 2), REPLACE),
        (SampledWithReplacement(DiscreteGaussian(1, 4), 1, 2), REPLACE),
        (RandomStopping(Gaussian(1, 1), NegativeBinomial(1, HALF)), None),
        (RandomStopping(Pure(1), PoissonRuns(2)), None),
    ],
)
def test_events_without_a_proven_pair_have_none(event: Event, relation: Relation | None) -> None:
    assert pair_of(event, relation) is None


def test_a_sampled_pair_of_numbers_is_amplified_for_its_relation() -> None:
    event = PoissonSampled(Approximate(1, Fraction(1, 10**6)), Fraction(1, 10))
    one, two = pair_of(event, ADD), pair_of(event, REPLACE)
    assert isinstance(one, RandomisedResponse)
    assert isinstance(two, RandomisedResponse)
    assert one.epsilon == pytest.approx(0.158565, abs=1e-6)
    assert one.delta == pytest.approx(1e-7, rel=1e-9)
    tight = math.log((0.9 + 0.1 * math.e) / (0.9 + 0.1 / math.e))
    assert tight <= two.epsilon <= tight * (1 + 1e-12) < 2 * one.epsilon
    assert one.delta < two.delta < 2 * one.delta


@pytest.mark.parametrize(
    ("event", "relation", "pair"),
    [
        (Laplace(1, 2), None, LaplacePair(0.5)),
        (BoundedRange(1), None, None),
        (PoissonSampled(Gaussian(1, 4), HALF), REPLACE, PoissonGaussian(0.5, 0.5, "replace-one")),
        (PoissonSampled(BoundedRange(1), HALF), ADD, None),
        (PoissonSampled(Approximate(1, HALF), HALF), ADD, None),
        (SampledWithoutReplacement(Gaussian(4, 4), 1, 2), REPLACE, PoissonGaussian(1.0, 0.5)),
        (SampledWithoutReplacement(Pure(1), 1, 2), REPLACE, PoissonPair(RandomisedResponse(1), 0.5)),
        (SampledWithReplacement(Pure(1), 1, 2), REPLACE, None),
        (ObjectivePerturbation(1, 4, 0, 1), ADD, None),
        (SoftmaxPerturbation(1, 4, 0, 3), ADD, None),
        (RandomStopping(Pure(1), NegativeBinomial(1, HALF)), None, None),
    ],
)
def test_lower_bounds_come_from_pairs_that_releases_have(event: Event, relation: Relation | None, pair: object) -> None:
    assert attained_pair(event, relation) == pair


def test_one_copy_of_a_drawn_record_is_the_least_that_is_told() -> None:
    pair = attained_pair(SampledWithReplacement(Gaussian(4, 4), 3, 10), REPLACE)
    assert isinstance(pair, PoissonGaussian)
    assert pair.rate == pytest.approx(1 - 0.9**3, rel=1e-9)
    assert pair.rate < 1 - 0.9**3


def test_gaussian_releases_enter_as_their_exact_total() -> None:
    items = pairs_of(count_events([Repeated(Gaussian(1, 400), 100), Pure(1)]), None)
    assert items is not None
    assert (GaussianPair(0.5), 1) in items
    assert len(items) == 2
