"""Events on a secret random sample of the records, and the best of randomly many runs.

A sample is drawn afresh each time and never shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tacit.errors import SettingError
from tacit.privacy.basic_events import Event, Number, check_fields


@dataclass(frozen=True, slots=True)
class PoissonSampled(Event):
    """An event on a secret sample that holds each record independently with probability `rate`.

    Sensitivities of the inner event are those of **adding or removing one record of the sample**,
    whatever the relation. Divisors and noise do not depend on the sample's size. Several releases
    from one sample are one sampled event around their composition. Shuffled epochs are no event.

    Guarantee
    ---------
    - At rate 0 nothing is released of the table; at rate 1 the sample is the table.
    """

    event: Event
    rate: Number


@dataclass(frozen=True, slots=True)
class SampledWithoutReplacement(Event):
    """An event on a secret uniform subset of fixed size. Holds under replace-one.

    Sensitivities of the inner event are those of **replacing one record of the sample**.

    Guarantee
    ---------
    - `rate` is the exact ratio sample / population.
    """

    event: Event
    sample: int
    population: int

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if self.sample > self.population:
            raise SettingError("sample is larger than the population; expected at most as many")

    @property
    def rate(self) -> Fraction:
        """Probability that a record is in the sample."""
        return Fraction(self.sample, self.population)


@dataclass(frozen=True, slots=True)
class SampledWithReplacement(Event):
    """An event on secret independent uniform draws. Holds under replace-one.

    Sensitivities of the inner event are those of **replacing one draw of the sample**.

    Guarantee
    ---------
    - Draws may outnumber records; both are counts.
    """

    event: Event
    draws: int
    population: int


@dataclass(frozen=True, slots=True)
class NegativeBinomial:
    """The truncated negative binomial distribution of a number of runs, at least 1.

    Shape 1 is the geometric distribution with success probability gamma, shape 0 the logarithmic
    one: Papernot and Steinke (2022), Definition 1.

    Guarantee
    ---------
    - The shape is above -1 and gamma in (0, 1), where the theorem holds.
    """

    shape: Number
    gamma: Number

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class PoissonRuns:
    """The Poisson distribution of a number of runs; at 0 runs a fixed public answer is released.

    Guarantee
    ---------
    - The mean is above 0.
    """

    mean: Number

    def __post_init__(self) -> None:
        check_fields(self)


Law: TypeAlias = NegativeBinomial | PoissonRuns


@dataclass(frozen=True, slots=True)
class RandomStopping(Event):
    """The best of randomly many runs of one event; only the best run is released.

    The number of runs is drawn from `law`. The score that chooses the best is part of each run.

    Guarantee
    ---------
    - The cost does not grow with the realised number of runs, which stays hidden.
    """

    event: Event
    law: Law

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if not isinstance(self.law, NegativeBinomial | PoissonRuns):
            raise SettingError(
                f"a {type(self.law).__name__} is no law of runs; expected NegativeBinomial or "
                "PoissonRuns"
            )
