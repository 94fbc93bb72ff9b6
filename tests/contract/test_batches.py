"""How batches are described: exact rates, sizes that exist, and relations that have a price."""

from fractions import Fraction

import pytest

from tacit.contract.batches import Batches, Sampling
from tacit.errors import SettingError
from tacit.privacy.event import Gaussian, PoissonSampled, SampledWithoutReplacement, SampledWithReplacement
from tacit.privacy.relation import Relation


def test_the_event_is_that_of_the_sampling_with_its_own_sensitivity() -> None:
    """T28, T12: one record of a Poisson batch comes or goes; of a fixed one it is replaced."""
    assert Batches(Sampling.POISSON, 3, 64).event(7, 4, "g") == PoissonSampled(Gaussian(49, 256, "g"), Fraction(3, 64))
    fixed = Batches(Sampling.WITHOUT_REPLACEMENT, 5, 100).event(7, 4, "g")
    assert fixed == SampledWithoutReplacement(Gaussian(196, 256, "g"), 5, 100)
    again = Batches(Sampling.WITH_REPLACEMENT, 5, 100).event(7, 4, "g")
    assert again == SampledWithReplacement(Gaussian(196, 256, "g"), 5, 100)


@pytest.mark.parametrize("relation", [Relation.ZERO_OUT, Relation.ADD_REMOVE])
@pytest.mark.parametrize("sampling", [Sampling.WITHOUT_REPLACEMENT, Sampling.WITH_REPLACEMENT])
def test_fixed_sizes_are_for_replace_one(relation: Relation, sampling: Sampling) -> None:
    batches = Batches(sampling, 5, 100)
    batches.require(Relation.REPLACE_ONE)
    with pytest.raises(SettingError, match=f"no price under {relation}"):
        batches.require(relation)
    Batches(Sampling.POISSON, 1, 2).require(relation)


@pytest.mark.parametrize(
    ("sampling", "sample", "population", "said"),
    [
        ("poisson", 1, 3, "power of 1/2"),
        ("poisson", 1, 1 << 33, "power of 1/2"),
        ("poisson", 0, 4, "sample"),
        ("poisson", 5, 4, "sample"),
        ("without-replacement", 101, 100, "sample"),
        ("with-replacement", 0, 100, "sample"),
        ("without-replacement", 1, 0, "population"),
    ],
)
def test_what_no_sampler_draws_is_refused(sampling: str, sample: int, population: int, said: str) -> None:
    with pytest.raises(SettingError, match=said):
        Batches(Sampling(sampling), sample, population)


def test_rates_are_exact() -> None:
    batches = Batches(Sampling.POISSON, 85, 2048)
    assert batches.rate == Fraction(85, 2048)
    assert batches.numerator == 85 << 21
    assert Fraction(batches.numerator, 1 << 32) == batches.rate
    assert Batches(Sampling.WITH_REPLACEMENT, 300, 100).rate == 3
