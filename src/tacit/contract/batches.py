"""How the records of one step are drawn, and what that makes of an event."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from tacit.errors import SettingError
from tacit.privacy.event import Event, Gaussian, PoissonSampled, SampledWithoutReplacement, SampledWithReplacement
from tacit.privacy.relation import Relation
from tacit.validate import whole

FINEST_RATE = 1 << 32
"""Poisson rates are whole numbers of 2^-32: so many bits decide about a record."""


class Sampling(StrEnum):
    """How a batch is drawn.

    - ``poisson``: every record with the same probability, independently; the size of a batch is random and secret.
    - ``without-replacement``: a uniform subset of fixed size.
    - ``with-replacement``: a fixed number of independent uniform draws.
    """

    POISSON = "poisson"
    WITHOUT_REPLACEMENT = "without-replacement"
    WITH_REPLACEMENT = "with-replacement"


@dataclass(frozen=True)
class Batches:
    """Fresh secret batches of `sample` of `population` records.

    For Poisson batches sample / population is the probability of a record, and the population a power of two up to
    2^32, not the number of records; for the others it is that number, which is public.

    Guarantee: sizes that the relation, or the scheme, does not allow are refused. `rate` is exact.
    """

    sampling: Sampling
    sample: int
    population: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "sampling", Sampling(self.sampling))
        whole("population", self.population, 1)
        poisson = self.sampling is Sampling.POISSON
        if poisson and FINEST_RATE % self.population:
            raise SettingError("A Poisson rate must be a whole number of a power of 1/2, up to 2^-32.")
        drawn_again = self.sampling is Sampling.WITH_REPLACEMENT
        whole("sample", self.sample, 1, None if drawn_again else self.population)

    @property
    def rate(self) -> Fraction:
        """How often a record is drawn, on average."""
        return Fraction(self.sample, self.population)

    @property
    def numerator(self) -> int:
        """A Poisson rate in units of 2^-32."""
        return self.sample * (FINEST_RATE // self.population)

    @property
    def squared_factor(self) -> int:
        """Squared change of a sum over a batch, in squares of the bound on a record.

        One record is added to, or removed from, a Poisson batch; in a batch of fixed size one is replaced.
        """
        return 1 if self.sampling is Sampling.POISSON else 4

    def require(self, relation: Relation) -> None:
        """Refuse a relation for which no amplification is proven."""
        if self.sampling is not Sampling.POISSON and relation is not Relation.REPLACE_ONE:
            raise SettingError(
                f'sampling="{self.sampling}" has no price under {relation}: the size of a batch is fixed. Use '
                'sampling="poisson", or relation="replace-one".'
            )

    def event(self, bound: int, bits: int, label: str) -> Event:
        """One answer over a fresh batch, records bounded by `bound` and noise of scale 2^bits."""
        inner = Gaussian(self.squared_factor * bound**2, 4**bits, label)
        if self.sampling is Sampling.POISSON:
            return PoissonSampled(inner, self.rate)
        fixed = self.sampling is Sampling.WITHOUT_REPLACEMENT
        return (SampledWithoutReplacement if fixed else SampledWithReplacement)(inner, self.sample, self.population)


@dataclass(frozen=True)
class BatchPrice:
    """Price of a sum over a fresh batch: bound and noise as in `Price`, and how the batch is drawn."""

    bound: int
    bits: int
    batches: Batches
