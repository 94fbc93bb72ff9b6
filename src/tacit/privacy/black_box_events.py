"""Events of which only a bound on the privacy loss is known, under the guarantee's relation."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.privacy.event_base import Event, at_least_zero, probability, require_line


@dataclass(frozen=True, slots=True)
class Pure(Event):
    """A release that is epsilon-private, by whatever mechanism. Permute-and-flip is one.

    Guarantee
    ---------
    - Nothing beyond epsilon is assumed: accountants price randomised response.

    Parameters
    ----------
    epsilon
        At least 0.
    label
        What was released.

    Examples
    --------
    >>> Pure(Fraction(1, 2)).epsilon
    Fraction(1, 2)
    """

    epsilon: Fraction | float
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", at_least_zero("epsilon", self.epsilon))
        require_line(self.label)


@dataclass(frozen=True, slots=True)
class Approximate(Event):
    """A release that is (epsilon, delta)-private, by whatever mechanism.

    Guarantee
    ---------
    - Nothing beyond the two numbers is assumed: accountants price leaky randomised response.

    Parameters
    ----------
    epsilon
        At least 0.
    delta
        In [0, 1].
    label
        What was released.

    Examples
    --------
    >>> Approximate(1, Fraction(1, 10**6)).delta
    Fraction(1, 1000000)
    """

    epsilon: Fraction | float
    delta: Fraction | float
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", at_least_zero("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", self.delta))
        require_line(self.label)


@dataclass(frozen=True, slots=True)
class BoundedRange(Event):
    """A release whose privacy loss lies in an interval of length eta for each pair of neighbours.

    The exponential mechanism ``exp(eta u / (2 sensitivity of u))`` and report-noisy-max with
    Gumbel noise are of this kind. **Permute-and-flip is not**: it is `Pure`.

    Guarantee
    ---------
    - The interval contains 0, so the release is also eta-private.

    Parameters
    ----------
    eta
        Length of the interval, at least 0.
    label
        What was released.

    Examples
    --------
    >>> BoundedRange(1).eta
    1
    """

    eta: Fraction | float
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", at_least_zero("eta", self.eta))
        require_line(self.label)
