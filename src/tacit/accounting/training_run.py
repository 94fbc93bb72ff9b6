"""A run: noisy sums of clipped contributions, over the table or over samples of it.

This is where a noise multiplier, a sampling scheme and a relation become an event: which of C and
2C is the sensitivity is decided here only. Proof: ``proofs/accounting/training_run.md``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import SettingError
from tacit.privacy import event as kinds
from tacit.privacy.event_fields import exact, probability
from tacit.privacy.relation import Relation

SAMPLINGS = ("poisson", "without-replacement", "with-replacement")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Steps of one noisy sum each, every record's contribution clipped at C.

    Guarantee: `event` has sensitivity C under add-remove and zero-out and 2C under replace-one; inside a Poisson sample
    C, inside a sample of fixed size 2C. Steps are whole: a fraction of a step is refused, never dropped. There is no
    such thing as shuffled batches: "shuffle" is refused.

    `noise` is the standard deviation of the noise on the sum over the clip bound C, above 0. `sample_rate` is the
    probability of a record in a Poisson sample, or the size of the sample over that of the table; None for sums over
    the whole table. `sampling` is ``"poisson"``, ``"without-replacement"`` or ``"with-replacement"``. `population` is
    the number of records; needed with replacement, it fixes the size of the sample without. `composed_with` are other
    releases of the same run, whose prices are fixed.

    Examples
    --------
    >>> Run(noise=2, steps=10, relation=Relation.REPLACE_ONE).event
    Repeated(event=Gaussian(squared_sensitivity=4, variance=4, label=''), times=10)
    """

    noise: Fraction | float
    steps: int
    relation: Relation
    sample_rate: Fraction | float | None = None
    sampling: str = "poisson"
    population: int | None = None
    composed_with: tuple[kinds.Event, ...] = ()

    def __post_init__(self) -> None:
        noise = Fraction(exact("noise", self.noise))
        if noise <= 0:
            expected = "a number above 0, the noise's standard deviation over the clip bound"
            raise SettingError(f"noise is {self.noise!r}; expected {expected}")
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "steps", _count("steps", self.steps))
        object.__setattr__(self, "relation", Relation.parse(self.relation))
        if self.sampling not in SAMPLINGS:
            known = f"{', '.join(SAMPLINGS)}. Shuffled batches have no amplification: leave sample_rate out"
            raise SettingError(f"unknown sampling {str(self.sampling)[:40]!r}; expected one of {known}")
        if self.population is not None:
            object.__setattr__(self, "population", _count("population", self.population))
        if self.sample_rate is not None:
            rate = Fraction(probability("sample_rate", self.sample_rate))
            object.__setattr__(self, "sample_rate", rate)
            if self.sampling == "with-replacement" and self.population is None:
                raise SettingError("draws with replacement need the population; pass the number of records")

    @property
    def event(self) -> kinds.Event:
        """Everything the run releases."""
        return kinds.Composed((self.sums, *self.composed_with)) if self.composed_with else self.sums

    @property
    def sums(self) -> kinds.Event:
        """The noisy sums, without what is composed with them."""
        variance = Fraction(self.noise) ** 2
        own, replaced = kinds.Gaussian(1, variance), kinds.Gaussian(4, variance)
        if self.sample_rate is None:
            return kinds.Repeated(replaced if self.relation is Relation.REPLACE_ONE else own, self.steps)
        rate = Fraction(self.sample_rate)
        if rate == 0 or self.sampling == "poisson":
            return kinds.Repeated(kinds.PoissonSampled(own, rate), self.steps)
        size, population = rate.numerator, rate.denominator
        if self.population is not None:
            size, population = math.ceil(rate * self.population), self.population
        fixed = self.sampling == "without-replacement"
        sampled = kinds.SampledWithoutReplacement if fixed else kinds.SampledWithReplacement
        return kinds.Repeated(sampled(replaced, size, population), self.steps)


def _count(name: str, value: object) -> int:
    number = exact(name, value)
    if not isinstance(number, int) or number < 1:
        raise SettingError(
            f"{name} is {value!r}; expected an integer of at least 1. Round up: a part of a step is a step"
        )
    return number
