"""Events on a random sample of the records, drawn afresh each time and never shown.

The three schemes differ and are never exchanged. There is no event for shuffled epochs, because
the amplification of Poisson sampling does not hold for them. An event inside a sampled one sees
one sample: several releases from the same sample are one sampled event around their composition.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import SettingError
from tacit.privacy.event_base import Event, count, probability, require_nested


@dataclass(frozen=True, slots=True)
class PoissonSampled(Event):
    """An event on a sample that holds each record independently with the same probability.

    Sensitivities of the inner event are those of **adding or removing one record of the sample**,
    whatever the relation of the guarantee. Divisors and noise do not depend on the sample's size.

    Guarantee
    ---------
    - At rate 0 nothing is released of the table; at rate 1 the sample is the table.

    Parameters
    ----------
    event
        What was released of the sample.
    rate
        Probability of each record, in [0, 1].

    Examples
    --------
    >>> from tacit.privacy.noise_events import Gaussian
    >>> PoissonSampled(Gaussian(1, 1), Fraction(1, 100)).rate
    Fraction(1, 100)
    """

    event: Event
    rate: Fraction | float

    def __post_init__(self) -> None:
        require_nested("PoissonSampled", self.event)
        object.__setattr__(self, "rate", probability("rate", self.rate))

    def inner(self) -> tuple[Event, ...]:
        """The event on the sample."""
        return (self.event,)


@dataclass(frozen=True, slots=True)
class SampledWithoutReplacement(Event):
    """An event on a uniform subset of fixed size.

    Sensitivities of the inner event are those of **replacing one record of the sample** (twice
    the contribution bound for a vector sum). The claim holds under replace-one.

    Guarantee
    ---------
    - `rate` is the exact ratio sample / population.

    Parameters
    ----------
    event
        What was released of the sample.
    sample, population
        Sizes, the sample's at most the population's.

    Examples
    --------
    >>> from tacit.privacy.noise_events import Gaussian
    >>> SampledWithoutReplacement(Gaussian(4, 9), sample=10, population=1000).rate
    Fraction(1, 100)
    """

    event: Event
    sample: int
    population: int

    def __post_init__(self) -> None:
        require_nested("SampledWithoutReplacement", self.event)
        object.__setattr__(self, "sample", count("sample", self.sample))
        object.__setattr__(self, "population", count("population", self.population))
        if self.sample > self.population:
            raise SettingError("sample is larger than the population; expected at most as many")

    @property
    def rate(self) -> Fraction:
        """Probability that a record is in the sample."""
        return Fraction(self.sample, self.population)

    def inner(self) -> tuple[Event, ...]:
        """The event on the sample."""
        return (self.event,)


@dataclass(frozen=True, slots=True)
class SampledWithReplacement(Event):
    """An event on independent uniform draws; a record may be drawn several times.

    Sensitivities of the inner event are those of **replacing one draw of the sample**: a record
    drawn k times moves k draws. The claim holds under replace-one.

    Guarantee
    ---------
    - Draws may outnumber records; both are counts.

    Parameters
    ----------
    event
        What was released of the sample.
    draws, population
        Number of draws, and of records they are drawn from.

    Examples
    --------
    >>> from tacit.privacy.noise_events import Gaussian
    >>> SampledWithReplacement(Gaussian(4, 9), draws=2, population=10).draws
    2
    """

    event: Event
    draws: int
    population: int

    def __post_init__(self) -> None:
        require_nested("SampledWithReplacement", self.event)
        object.__setattr__(self, "draws", count("draws", self.draws))
        object.__setattr__(self, "population", count("population", self.population))

    def inner(self) -> tuple[Event, ...]:
        """The event on the sample."""
        return (self.event,)
