"""Every kind of event: what was released, in exact numbers, and never what it costs.

The meaning of an event never changes, so a later accountant can price a stored one again. Sensitivities are those under
the relation of the guarantee, unless the event says otherwise or is inside a sampled event, which fixes the relation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tacit.errors import SettingError
from tacit.privacy.event_fields import check_fields

DEEPEST_NESTING = 16
Number: TypeAlias = Fraction | float


class Event:
    """What was released. `label` says it in words, in at most 200 printable characters.

    Guarantee: events compare by value and cannot be changed; their numbers are exact; an event inside events is at
    most `DEEPEST_NESTING` deep.
    """

    __slots__ = ("_levels",)

    def __post_init__(self) -> None:
        check_fields(self)
        outer = type(self).__name__
        parts = self.inner()
        for event in parts:
            if not isinstance(event, Event):
                found = type(event).__name__
                raise SettingError(f"a {found} cannot be inside {outer}; expected an event, e.g. Gaussian or Repeated")
            if _depth(event) >= DEEPEST_NESTING:
                nested = f"events are nested more than {DEEPEST_NESTING} deep inside {outer}"
                raise SettingError(f"{nested}; multiply the counts or list the events instead")
        object.__setattr__(self, "_levels", max((1 + _depth(part) for part in parts), default=0))

    def inner(self) -> tuple[Event, ...]:
        """The events this one is made of, one level down."""
        return getattr(self, "events", ()) or ((self.event,) if hasattr(self, "event") else ())


def _depth(event: Event) -> int:
    """How many levels lie below an event, as its construction noted; a copy notes nothing."""
    noted: int | None = getattr(event, "_levels", None)
    return noted if noted is not None else max((1 + _depth(part) for part in event.inner()), default=0)


@dataclass(frozen=True, slots=True)
class Gaussian(Event):
    """An integer vector with N(0, variance) noise on each coordinate, rounded to integers.

    Rounding is post-processing. `squared_sensitivity` is the square of the L2 sensitivity.

    Guarantee: `mu_squared` is an exact rational, with no rounding anywhere; floats are read exactly, as binary
    fractions. Write a decimal as a Fraction.
    """

    squared_sensitivity: Number
    variance: Number
    label: str = ""

    @property
    def mu_squared(self) -> Fraction:
        """Square of the Gaussian differential privacy parameter, sensitivity² / variance."""
        return Fraction(self.squared_sensitivity) / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Event):
    """An integer vector with discrete Gaussian noise: mass ∝ exp(-k² / (2 variance)) on integers.

    The true variance of the noise is slightly below the parameter `variance`.

    Guarantee: `squared_sensitivity` is an integer, because shifts of integer vectors are.
    """

    squared_sensitivity: int
    variance: Number
    coordinates: int = 1
    label: str = ""

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if not isinstance(self.squared_sensitivity, int):
            raise SettingError("squared_sensitivity is no integer; expected one: the vector is one")

    @property
    def mu_squared(self) -> Fraction:
        """Twice the concentrated privacy parameter. It is not a GDP parameter."""
        return Fraction(self.squared_sensitivity) / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class Laplace(Event):
    """Numbers of this L1 sensitivity with noise exp(-|x|/scale) / (2 scale); epsilon = sensitivity / scale, exactly."""

    sensitivity: Number
    scale: Number
    label: str = ""

    @property
    def epsilon(self) -> Fraction:
        """The pure privacy parameter."""
        return Fraction(self.sensitivity) / Fraction(self.scale)


@dataclass(frozen=True, slots=True)
class Votes(Event):
    """Pluralities of teachers' votes, each count with N(0, variance) noise (GNMax of PATE).

    One neighbour step moves two counts of each query by one. A check of the largest noisy count against a threshold is
    an event of its own, ``Gaussian(1, variance)``, paid for every query whether answered or not.

    Guarantee: `mu_squared` is that of all the queries together; it does not depend on the votes.
    """

    variance: Number
    queries: int = 1
    label: str = ""

    @property
    def mu_squared(self) -> Fraction:
        """Square of the Gaussian differential privacy parameter of all queries."""
        return 2 * self.queries / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class ObjectivePerturbation(Event):
    """The exact minimiser of ``sum of losses + l2/2 |theta|^2 + noise . theta``.

    Each loss is convex with Lipschitz gradient and sees theta through one product with the record's features; noise
    N(0, variance) and a positive ridge on every coordinate; no constraint. `squared_sensitivity` is the squared bound
    on the gradient of **one record's own loss**, whatever the relation. `curvature_ratio` is beta / l2, the largest
    second derivative times squared row norm over the ridge. `signs` is 1 if the derivative of the loss has one sign
    given the record (logistic, hinge), else 2.

    Guarantee: it is not GDP and offers no mu: its cost never enters a sum of squares.
    """

    squared_sensitivity: Number
    variance: Number
    curvature_ratio: Number
    signs: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class SoftmaxPerturbation(Event):
    """The exact minimiser of ``sum of softmax losses + l2/2 |theta|^2 + noise . theta`` for `classes` classes.

    A record sees theta, one vector a class, through the products with its features; noise N(0, variance) and a positive
    ridge on every coordinate of every class; no constraint. `squared_sensitivity` is the squared bound on the gradient
    of **one record's own loss**, twice its squared row norm, whatever the relation. `curvature_ratio` is beta / l2 with
    beta the largest eigenvalue of a record's second derivative, half the squared row norm.

    Guarantee: it is not GDP and offers no mu: its cost never enters a sum of squares.
    """

    squared_sensitivity: Number
    variance: Number
    curvature_ratio: Number
    classes: int
    label: str = ""


PerturbedObjective: TypeAlias = ObjectivePerturbation | SoftmaxPerturbation


@dataclass(frozen=True, slots=True)
class Pure(Event):
    """A release of which only epsilon is known, permute-and-flip for one: accountants price randomised response."""

    epsilon: Number
    label: str = ""


@dataclass(frozen=True, slots=True)
class Approximate(Event):
    """A release of which only (epsilon, delta) is known: accountants price leaky randomised response."""

    epsilon: Number
    delta: Number
    label: str = ""


@dataclass(frozen=True, slots=True)
class BoundedRange(Event):
    """A release whose privacy loss lies in an interval of length eta for each pair of neighbours.

    The exponential mechanism ``exp(eta u / (2 sensitivity of u))`` and report-noisy-max with
    Gumbel noise are of this kind. **Permute-and-flip is not**: it is `Pure`.

    Guarantee: the interval contains 0, so the release is also eta-private.
    """

    eta: Number
    label: str = ""


@dataclass(frozen=True, slots=True)
class Composed(Event):
    """Several events on one table, each with fresh noise, adaptive or not; priced exactly as their list."""

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.events, tuple | list):
            raise SettingError("events is no tuple; expected a tuple of events")
        object.__setattr__(self, "events", tuple(self.events))
        Event.__post_init__(self)


@dataclass(frozen=True, slots=True)
class Repeated(Event):
    """The same event several times with fresh noise and samples, adaptive or not; priced exactly as k copies of it."""

    event: Event
    times: int


@dataclass(frozen=True, slots=True)
class PoissonSampled(Event):
    """An event on a secret sample that holds each record independently with probability `rate`.

    Sensitivities of the inner event are those of **adding or removing one record of the sample**,
    whatever the relation. Divisors and noise do not depend on the sample's size. Several releases
    from one sample are one sampled event around their composition. Shuffled epochs are no event.

    Guarantee: at rate 0 nothing is released of the table; at rate 1 the sample is the table.
    """

    event: Event
    rate: Number


@dataclass(frozen=True, slots=True)
class SampledWithoutReplacement(Event):
    """An event on a secret uniform subset of fixed size. Holds under replace-one.

    Sensitivities of the inner event are those of **replacing one record of the sample**.

    Guarantee: `rate` is the exact ratio sample / population.
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

    Guarantee: draws may outnumber records; both are counts.
    """

    event: Event
    draws: int
    population: int


@dataclass(frozen=True, slots=True)
class NegativeBinomial:
    """The truncated negative binomial distribution of a number of runs, at least 1.

    Shape 1 is the geometric distribution with success probability gamma, shape 0 the logarithmic
    one: Papernot and Steinke (2022), Definition 1.

    Guarantee: the shape is above -1 and gamma in (0, 1), where the theorem holds.
    """

    shape: Number
    gamma: Number

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True, slots=True)
class PoissonRuns:
    """The Poisson law of a number of runs, of mean above 0; at 0 runs a fixed public answer is released."""

    mean: Number

    def __post_init__(self) -> None:
        check_fields(self)


RunCountLaw: TypeAlias = NegativeBinomial | PoissonRuns


@dataclass(frozen=True, slots=True)
class RandomStopping(Event):
    """The best run of randomly many, their number drawn from `law`; only that run is released.

    The score that chooses the best is part of each run.

    Guarantee: the cost does not grow with the realised number of runs, which stays hidden.
    """

    event: Event
    law: RunCountLaw

    def __post_init__(self) -> None:
        Event.__post_init__(self)
        if not isinstance(self.law, RunCountLaw):
            found = type(self.law).__name__
            raise SettingError(f"a {found} is no law of runs; expected NegativeBinomial or PoissonRuns")
