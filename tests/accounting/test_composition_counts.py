from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.accounting.composition import count_events, pure_epsilon, total_mu_squared
from tacit.errors import AccountingError, SchemaError, SettingError
from tacit.privacy.event import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    Event,
    Gaussian,
    Laplace,
    NegativeBinomial,
    ObjectivePerturbation,
    PoissonSampled,
    Pure,
    RandomStopping,
    Repeated,
    SampledWithoutReplacement,
    SampledWithReplacement,
    SoftmaxPerturbation,
    Votes,
)

SETTINGS = settings(max_examples=100, deadline=None)
HALF = Fraction(1, 2)
LEAVES: tuple[Event, ...] = (
    Gaussian(1, 4),
    Laplace(1, 2),
    Pure(1),
    Approximate(1, Fraction(1, 10)),
    BoundedRange(1),
    DiscreteGaussian(1, 4),
    ObjectivePerturbation(1, 4, 1, 1),
    SoftmaxPerturbation(1, 4, 1, 3),
    PoissonSampled(Gaussian(1, 4), HALF),
    SampledWithoutReplacement(Gaussian(1, 4), 1, 2),
    SampledWithReplacement(Gaussian(1, 4), 1, 2),
    RandomStopping(Pure(1), NegativeBinomial(1, HALF)),
)


@SETTINGS
@given(st.sampled_from(LEAVES), st.integers(1, 20), st.integers(1, 5))
def test_t21_every_spelling_of_a_count_is_the_same_tally(event: Event, times: int, again: int) -> None:
    whole = count_events([Repeated(event, times * again)], "replace-one")
    assert whole == count_events([event] * (times * again), "replace-one")
    assert whole == count_events([Repeated(Repeated(event, times), again)], "replace-one")
    assert whole == count_events([Repeated(Composed((event,) * times), again)], "replace-one")
    assert whole == count_events([Composed((Repeated(event, times),) * again)], "replace-one")
    assert len(whole) == 1
    assert whole[0][1] == times * again


def test_labels_and_equal_ratios_do_not_separate() -> None:
    assert count_events([Gaussian(1, 4, "a"), Gaussian(2, 8, "b")]) == ((Gaussian(Fraction(1, 4), 1), 2),)
    assert count_events([Laplace(1, 4), Laplace(2, 8)]) == ((Laplace(Fraction(1, 4), 1), 2),)


def test_votes_are_gaussian_with_squared_sensitivity_two() -> None:
    assert total_mu_squared(count_events([Votes(1600, 100)])) == Fraction(1, 8)


def test_what_tells_nothing_is_dropped() -> None:
    nothing: list[Event] = [
        Gaussian(0, 1),
        Laplace(0, 1),
        Pure(0),
        BoundedRange(0),
        DiscreteGaussian(0, 1),
        Approximate(0, 0),
        Composed(()),
        PoissonSampled(Gaussian(1, 1), 0),
        PoissonSampled(Gaussian(0, 1), HALF),
        RandomStopping(Gaussian(0, 1), NegativeBinomial(1, HALF)),
    ]
    assert count_events(nothing, "add-remove") == ()
    assert total_mu_squared(()) == 0


def test_a_whole_sample_is_the_table() -> None:
    step = Gaussian(1, 4)
    whole = PoissonSampled(step, 1)
    assert count_events([whole], "add-remove") == count_events([step])
    assert count_events([whole], "zero-out") == count_events([step])
    assert count_events([SampledWithoutReplacement(step, 9, 9)], "replace-one") == count_events([step])


def test_t22_replace_one_doubles_the_sensitivity_of_a_whole_poisson_sample() -> None:
    counted = count_events([PoissonSampled(Gaussian(1, 4), 1)], "replace-one")
    assert total_mu_squared(counted) == 1


def test_a_sample_of_a_sample_has_the_product_of_the_rates() -> None:
    twice = PoissonSampled(PoissonSampled(Gaussian(1, 4), HALF), HALF)
    once = PoissonSampled(Gaussian(1, 4), Fraction(1, 4))
    assert count_events([twice], "add-remove") == count_events([once], "add-remove")


def test_t32_one_sample_for_several_releases_is_amplified_once() -> None:
    gaussians = Composed((Gaussian(1, 4), Repeated(Gaussian(1, 8), 2)))
    counted = count_events([PoissonSampled(gaussians, HALF)], "add-remove")
    assert counted == ((PoissonSampled(Gaussian(HALF, 1), HALF), 1),)
    pure = Composed((Laplace(1, 2), Repeated(Pure(1), 2)))
    counted = count_events([PoissonSampled(pure, HALF)], "add-remove")
    assert counted == ((PoissonSampled(Pure(Fraction(5, 2)), HALF), 1),)


@pytest.mark.parametrize(
    "reused",
    [
        PoissonSampled(Composed((Gaussian(1, 4), Laplace(1, 2))), HALF),
        SampledWithoutReplacement(Repeated(DiscreteGaussian(1, 4), 2), 1, 2),
        SampledWithReplacement(Composed((Gaussian(1, 4), Pure(1))), 1, 2),
    ],
)
def test_t32_a_reused_sample_is_refused_with_the_reason(reused: Event) -> None:
    with pytest.raises(AccountingError, match="sample is drawn once"):
        count_events([reused], "replace-one")


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
@pytest.mark.parametrize(
    "event", [SampledWithoutReplacement(Gaussian(4, 4), 1, 2), SampledWithReplacement(Gaussian(4, 4), 1, 2)]
)
def test_t28_samples_of_fixed_size_are_refused_outside_replace_one(event: Event, relation: str) -> None:
    with pytest.raises(AccountingError, match="replace-one only"):
        count_events([event], relation)


@pytest.mark.parametrize(
    "event", [PoissonSampled(Gaussian(1, 4), HALF), ObjectivePerturbation(1, 4, 1, 1), SoftmaxPerturbation(1, 4, 1, 3)]
)
def test_events_that_depend_on_the_relation_need_one(event: Event) -> None:
    with pytest.raises(AccountingError, match="relation"):
        count_events([event])
    with pytest.raises(SchemaError):
        count_events([event], "swap")


@pytest.mark.parametrize(
    "event",
    [
        PoissonSampled(SampledWithReplacement(Gaussian(1, 4), 1, 2), HALF),
        SampledWithoutReplacement(PoissonSampled(Gaussian(1, 4), HALF), 1, 2),
        PoissonSampled(RandomStopping(Pure(1), NegativeBinomial(1, HALF)), HALF),
    ],
)
def test_nestings_without_a_theorem_are_refused(event: Event) -> None:
    with pytest.raises(AccountingError):
        count_events([event], "replace-one")


def test_unknown_objects_are_refused_by_name() -> None:
    with pytest.raises(SettingError, match="float"):
        count_events([0.5])  # type: ignore[list-item]
    with pytest.raises(SettingError, match="Mystery"):
        count_events([type("Mystery", (Event,), {})()])


def test_pure_epsilon_knows_what_is_pure() -> None:
    assert pure_epsilon(Laplace(1, 2)) == HALF
    assert pure_epsilon(BoundedRange(3)) == 3
    assert pure_epsilon(Approximate(1, HALF)) is None


@pytest.mark.parametrize(
    "event",
    [
        Repeated(Pure(1), 10**400),
        Repeated(Repeated(Gaussian(1, 1), 10**200), 10**200),
        SampledWithReplacement(Gaussian(1, 1), 10**400, 3),
        SampledWithReplacement(Pure(1), 3, 10**400),
    ],
)
def test_counts_that_no_float_holds_are_refused_in_words(event: Event) -> None:
    with pytest.raises(AccountingError, match="more than 1000 bits"):
        count_events([event], "replace-one")
    assert count_events([Repeated(Pure(1), 10**300)]) == ((Pure(1), 10**300),)
