"""Events: what was released, in exact numbers, and never what it costs.

The meaning of an event never changes, so a later accountant can price a stored one again.
Sensitivities are those under the relation of the guarantee, unless the event says otherwise or is
inside a sampled event, which fixes the relation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from numbers import Integral, Rational, Real
from types import MappingProxyType
from typing import TypeAlias

from tacit.errors import SettingError

# 1536 bits are at most 463 digits, so a fraction is written in at most 927 characters.
LARGEST_BITS = 1536
LONGEST_LABEL = 200
DEEPEST_NESTING = 16

Number: TypeAlias = Fraction | float


class Event:
    """What was released. `label` says it in words, in at most 200 printable characters.

    Guarantee
    ---------
    - Events compare by value and cannot be changed; their numbers are exact.
    - An event inside events is at most `DEEPEST_NESTING` deep.
    """

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)

    def inner(self) -> tuple[Event, ...]:
        """The events this one is made of, one level down."""
        one = getattr(self, "event", None)
        several: tuple[Event, ...] = getattr(self, "events", () if one is None else (one,))
        return several


@dataclass(frozen=True, slots=True)
class Gaussian(Event):
    """An integer vector with N(0, variance) noise on each coordinate, rounded to integers.

    Rounding is post-processing. `squared_sensitivity` is the square of the L2 sensitivity.

    Guarantee
    ---------
    - `mu_squared` is an exact rational, with no rounding anywhere.
    - Floats are read exactly, as binary fractions. Write a decimal as a Fraction.

    Examples
    --------
    >>> Gaussian(squared_sensitivity=9, variance=36).mu_squared
    Fraction(1, 4)
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

    Guarantee
    ---------
    - `squared_sensitivity` is an integer, because shifts of integer vectors are.
    """

    squared_sensitivity: int
    variance: Number
    coordinates: int = 1
    label: str = ""

    def __post_init__(self) -> None:
        check_fields(self)
        if not isinstance(self.squared_sensitivity, int):
            raise SettingError("squared_sensitivity is no integer; expected one: the vector is one")

    @property
    def mu_squared(self) -> Fraction:
        """Twice the concentrated privacy parameter. It is not a GDP parameter."""
        return Fraction(self.squared_sensitivity) / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class Laplace(Event):
    """A number or vector of this L1 sensitivity with noise of density exp(-|x|/scale) / (2 scale).

    Guarantee
    ---------
    - `epsilon` is the exact ratio sensitivity / scale, not its inverse.
    """

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

    One neighbour step changes one vote per query and so moves two counts by one each. A check of
    the largest noisy count against a threshold is an event of its own, ``Gaussian(1, variance)``,
    paid for every query whether answered or not.

    Guarantee
    ---------
    - `mu_squared` is that of all the queries together; it does not depend on the votes.
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

    Each loss is convex with Lipschitz gradient and sees theta through one product with the record's
    features; the noise is N(0, variance) and the ridge positive on every coordinate; there is no
    constraint. `squared_sensitivity` is the square of the bound on the gradient norm of **one
    record's own loss**, whatever the relation. `curvature_ratio` is beta / l2, the largest second
    derivative times squared row norm over the ridge. `signs` is 1 if the derivative of the loss has
    one sign given the record (logistic, hinge), else 2.

    Guarantee
    ---------
    - It is not GDP and offers no mu: its cost never enters a sum of squares.
    """

    squared_sensitivity: Number
    variance: Number
    curvature_ratio: Number
    signs: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Pure(Event):
    """A release that is epsilon-private, by whatever mechanism. Permute-and-flip is one.

    Guarantee
    ---------
    - Nothing beyond epsilon is assumed: accountants price randomised response.
    """

    epsilon: Number
    label: str = ""


@dataclass(frozen=True, slots=True)
class Approximate(Event):
    """A release that is (epsilon, delta)-private, by whatever mechanism.

    Guarantee
    ---------
    - Nothing beyond the two numbers is assumed: accountants price leaky randomised response.
    """

    epsilon: Number
    delta: Number
    label: str = ""


@dataclass(frozen=True, slots=True)
class BoundedRange(Event):
    """A release whose privacy loss lies in an interval of length eta for each pair of neighbours.

    The exponential mechanism ``exp(eta u / (2 sensitivity of u))`` and report-noisy-max with
    Gumbel noise are of this kind. **Permute-and-flip is not**: it is `Pure`.

    Guarantee
    ---------
    - The interval contains 0, so the release is also eta-private.
    """

    eta: Number
    label: str = ""


@dataclass(frozen=True, slots=True)
class Composed(Event):
    """Several events on the same table, each with fresh noise, possibly chosen adaptively.

    Guarantee
    ---------
    - An accountant prices it exactly as the list of its events.
    """

    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Repeated(Event):
    """The same event several times, with fresh noise and fresh samples, possibly adaptively.

    Guarantee
    ---------
    - An accountant prices ``Repeated(event, k)`` exactly as k copies of the event.
    """

    event: Event
    times: int


def exact(name: str, value: object) -> Fraction | int:
    """Return an exact number of bounded size, integers as ``int``.

    A float is read as the binary fraction that it is. Other real numbers are refused if no float
    holds them: rounded to 0 a sensitivity would cost nothing.
    """
    number: Fraction | int
    if isinstance(value, bool) or not isinstance(value, Real):
        raise SettingError(
            f"{name} is a {type(value).__name__}; expected a number: an int, a Fraction or a float"
        )
    if isinstance(value, Integral):
        number = int(value)
    elif isinstance(value, Rational):
        number = Fraction(value)
    else:
        held = float(value)
        if not math.isfinite(held):
            raise SettingError(f"{name} is {held}; expected a finite number")
        if held != value:
            raise SettingError(
                f"{name} is a {type(value).__name__} that no float holds; expected a number: "
                "an int, a Fraction or a float"
            )
        number = Fraction(held)
    number = number.numerator if number.denominator == 1 else number
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > LARGEST_BITS:
        raise SettingError(f"{name} has more than {LARGEST_BITS} bits; expected a smaller number")
    return number


def _exact_number(
    holds: Callable[[Fraction | int], bool], fault: str
) -> Callable[[str, object], Fraction | int]:
    def check(name: str, value: object) -> Fraction | int:
        number = exact(name, value)
        if not holds(number):
            raise SettingError(f"{name} {fault}")
        return number

    return check


at_least_zero = _exact_number(lambda it: it >= 0, "is negative; expected a number of at least 0")
above_zero = _exact_number(lambda it: it > 0, "is not positive; expected a number above 0")
probability = _exact_number(lambda it: 0 <= it <= 1, "is outside [0, 1]; expected a probability")
_one_or_two = _exact_number(
    lambda it: it in (1, 2), "is neither 1 nor 2; expected the signs a derivative takes"
)


def count(name: str, value: object) -> int:
    """Return an integer of at least 1; a float is none, whatever its value."""
    number = exact(name, value) if isinstance(value, Rational) else 0
    if isinstance(value, bool) or not isinstance(number, int) or number < 1:
        raise SettingError(f"{name} is not a count; expected an integer of at least 1")
    return number


def _line(name: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_LABEL or not value.isprintable():
        raise SettingError(
            f"{name} is not a line of text; expected at most {LONGEST_LABEL} printable characters"
        )
    return value


def _nested(outer: str, event: object) -> Event:
    if not isinstance(event, Event):
        raise SettingError(
            f"a {type(event).__name__} cannot be inside {outer}; expected an event, "
            "for example Gaussian or Repeated"
        )
    if _depth(event) >= DEEPEST_NESTING:
        raise SettingError(
            f"events are nested more than {DEEPEST_NESTING} deep inside {outer}; "
            "multiply the counts or list the events instead"
        )
    return event


def _depth(event: Event) -> int:
    """How many levels lie below an event, which its own construction has bounded."""
    return max((1 + _depth(part) for part in event.inner()), default=0)


def _several(outer: str, events: object) -> tuple[Event, ...]:
    if not isinstance(events, tuple | list):
        raise SettingError("events is no tuple; expected a tuple of events")
    return tuple(_nested(outer, event) for event in events)


# What each field of an event must be. Fields of one name mean the same in every event.
_RULES: Mapping[str, Callable[[str, object], object]] = MappingProxyType(
    {
        "squared_sensitivity": at_least_zero,
        "sensitivity": at_least_zero,
        "variance": above_zero,
        "scale": above_zero,
        "curvature_ratio": at_least_zero,
        "shape": _exact_number(
            lambda it: it > -1, "is not above -1; expected for example 1, a geometric law"
        ),
        "gamma": _exact_number(
            lambda it: 0 < it < 1, "is not between 0 and 1; expected for example 1/10"
        ),
        "mean": above_zero,
        "signs": _one_or_two,
        "epsilon": at_least_zero,
        "delta": probability,
        "eta": at_least_zero,
        "rate": probability,
        "coordinates": count,
        "queries": count,
        "times": count,
        "sample": count,
        "draws": count,
        "population": count,
        "label": _line,
        "event": _nested,
        "events": _several,
    }
)


def check_fields(event: object) -> None:
    """Replace each field of an event, or of a law of runs, by its checked value."""
    for field in fields(event):  # type: ignore[arg-type]
        rule = _RULES.get(field.name)
        if rule is not None:
            inside = rule in (_nested, _several)
            name = type(event).__name__ if inside else field.name
            object.__setattr__(event, field.name, rule(name, getattr(event, field.name)))
