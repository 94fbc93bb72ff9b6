"""Events made of events: several, the same again, the best of randomly many."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tacit.errors import SettingError
from tacit.privacy.event_base import Event, above_zero, count, exact, probability, require_nested


@dataclass(frozen=True, slots=True)
class Composed(Event):
    """Several events on the same table, each with fresh noise, possibly chosen adaptively.

    Guarantee
    ---------
    - An accountant prices it exactly as the list of its events.

    Parameters
    ----------
    events
        What happened, in order; may be empty.

    Examples
    --------
    >>> from tacit.privacy.noise_events import Gaussian, Laplace
    >>> len(Composed((Gaussian(1, 4), Laplace(1, 2))).events)
    2
    """

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.events, tuple | list):
            raise SettingError("events is no tuple; expected a tuple of events")
        object.__setattr__(self, "events", tuple(self.events))
        require_nested("Composed", *self.events)

    def inner(self) -> tuple[Event, ...]:
        """The events."""
        return self.events


@dataclass(frozen=True, slots=True)
class Repeated(Event):
    """The same event several times, each with fresh noise, possibly chosen adaptively.

    Around a sampled event it draws a fresh sample each time.

    Guarantee
    ---------
    - An accountant prices ``Repeated(event, k)`` exactly as k copies of the event.

    Parameters
    ----------
    event
        What happened each time.
    times
        How often, at least 1.

    Examples
    --------
    >>> from tacit.privacy.noise_events import Gaussian
    >>> Repeated(Gaussian(1, 100), times=20).times
    20
    """

    event: Event
    times: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "times", count("times", self.times))
        require_nested("Repeated", self.event)

    def inner(self) -> tuple[Event, ...]:
        """The event."""
        return (self.event,)


@dataclass(frozen=True, slots=True)
class NegativeBinomial:
    """The truncated negative binomial law of a number of runs, at least 1.

    Shape 1 is the geometric law with success probability gamma, shape 0 the logarithmic law.

    Guarantee
    ---------
    - The shape is above -1 and gamma in (0, 1), where the theorem holds.

    Parameters
    ----------
    shape, gamma
        As in Papernot and Steinke (2022), "Hyperparameter tuning with Rényi differential
        privacy", Definition 1.

    Examples
    --------
    >>> NegativeBinomial(shape=1, gamma=Fraction(1, 10)).shape
    1
    """

    shape: Fraction | float
    gamma: Fraction | float

    def __post_init__(self) -> None:
        shape = exact("shape", self.shape)
        if shape <= -1:
            raise SettingError("shape is not above -1; expected for example 1, a geometric law")
        object.__setattr__(self, "shape", shape)
        gamma = probability("gamma", self.gamma)
        if not 0 < gamma < 1:
            raise SettingError("gamma is not between 0 and 1; expected for example 1/10")
        object.__setattr__(self, "gamma", gamma)


@dataclass(frozen=True, slots=True)
class PoissonRuns:
    """The Poisson law of a number of runs; at 0 runs a fixed public answer is released.

    Guarantee
    ---------
    - The mean is above 0.

    Parameters
    ----------
    mean
        Expected number of runs.

    Examples
    --------
    >>> PoissonRuns(20).mean
    20
    """

    mean: Fraction | float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", above_zero("mean", self.mean))


Law: TypeAlias = NegativeBinomial | PoissonRuns


@dataclass(frozen=True, slots=True)
class RandomStopping(Event):
    """The best of randomly many runs of one event; only the best run is released.

    The number of runs is drawn from the law, independently of the table; the score by which the
    best is chosen is part of each run.

    Guarantee
    ---------
    - The cost does not grow with the realised number of runs, which stays hidden.

    Parameters
    ----------
    event
        One run, its score included.
    law
        The law of the number of runs.

    Examples
    --------
    >>> from tacit.privacy.black_box_events import Pure
    >>> RandomStopping(Pure(1), NegativeBinomial(1, Fraction(1, 10))).event
    Pure(epsilon=1, label='')
    """

    event: Event
    law: Law

    def __post_init__(self) -> None:
        require_nested("RandomStopping", self.event)
        if not isinstance(self.law, NegativeBinomial | PoissonRuns):
            raise SettingError(
                f"a {type(self.law).__name__} is no law of runs; expected NegativeBinomial or "
                "PoissonRuns"
            )

    def inner(self) -> tuple[Event, ...]:
        """The event of one run."""
        return (self.event,)
