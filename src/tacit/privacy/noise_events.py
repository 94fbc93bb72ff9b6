"""Events of releases with additive noise.

Sensitivities are those between neighbouring tables under the relation of the guarantee, unless
the event says otherwise or stands inside a sampled event, which then fixes the relation.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tacit.errors import SettingError
from tacit.privacy.event_base import Event, above_zero, at_least_zero, count, exact, require_line


@dataclass(frozen=True, slots=True)
class Gaussian(Event):
    """An integer vector released with Gaussian noise, rounded to the integers.

    The exact vector moves by at most ``sqrt(squared_sensitivity)`` in Euclidean norm between
    neighbouring tables. Each coordinate gets independent N(0, variance) noise and is rounded to
    an integer, which is post-processing of the real Gaussian mechanism with
    ``mu^2 = squared_sensitivity / variance``.

    Guarantee
    ---------
    - `mu_squared` is an exact rational, with no rounding anywhere.
    - Floats are read exactly, as the binary fractions that they are. Where the true number is a
      decimal, write it as a Fraction: the float next to it may be on either side.

    Parameters
    ----------
    squared_sensitivity
        Square of the L2 sensitivity, at least 0.
    variance
        Variance of the noise per coordinate, above 0.
    label
        What was released, in at most 200 printable characters.

    Examples
    --------
    >>> Gaussian(squared_sensitivity=9, variance=36).mu_squared
    Fraction(1, 4)
    """

    squared_sensitivity: Fraction | float
    variance: Fraction | float
    label: str = ""

    def __post_init__(self) -> None:
        squared = at_least_zero("squared_sensitivity", self.squared_sensitivity)
        why = "A release without noise has no Gaussian event"
        object.__setattr__(self, "squared_sensitivity", squared)
        object.__setattr__(self, "variance", above_zero("variance", self.variance, why))
        require_line(self.label)

    @property
    def mu_squared(self) -> Fraction:
        """Square of the Gaussian differential privacy parameter."""
        return Fraction(self.squared_sensitivity) / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class DiscreteGaussian(Event):
    """An integer vector released with discrete Gaussian noise.

    Each coordinate gets independent noise with mass proportional to
    ``exp(-k^2 / (2 variance))`` on the integers k.

    Guarantee
    ---------
    - `squared_sensitivity` is an integer, because shifts of integer vectors are.

    Parameters
    ----------
    squared_sensitivity
        Square of the L2 sensitivity of the integer vector, at least 0.
    variance
        The parameter of the law, above 0. The true variance is slightly smaller.
    coordinates
        Length of the vector.
    label
        What was released.

    Examples
    --------
    >>> DiscreteGaussian(4, 100).mu_squared
    Fraction(1, 25)
    """

    squared_sensitivity: int
    variance: Fraction | float
    coordinates: int = 1
    label: str = ""

    def __post_init__(self) -> None:
        squared = at_least_zero("squared_sensitivity", self.squared_sensitivity)
        if not isinstance(squared, int):
            raise SettingError("squared_sensitivity is no integer; expected one: the vector is one")
        object.__setattr__(self, "squared_sensitivity", squared)
        object.__setattr__(self, "variance", above_zero("variance", self.variance))
        object.__setattr__(self, "coordinates", count("coordinates", self.coordinates))
        require_line(self.label)

    @property
    def mu_squared(self) -> Fraction:
        """Twice the concentrated privacy parameter. It is not a GDP parameter."""
        return Fraction(self.squared_sensitivity) / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class Laplace(Event):
    """A number or vector released with Laplace noise on each coordinate.

    Guarantee
    ---------
    - `epsilon` is the exact ratio sensitivity / scale, not its inverse.

    Parameters
    ----------
    sensitivity
        L1 sensitivity, at least 0.
    scale
        Scale b of the density ``exp(-|x| / b) / (2 b)``, above 0.
    label
        What was released.

    Examples
    --------
    >>> Laplace(sensitivity=1, scale=4).epsilon
    Fraction(1, 4)
    """

    sensitivity: Fraction | float
    scale: Fraction | float
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "sensitivity", at_least_zero("sensitivity", self.sensitivity))
        object.__setattr__(self, "scale", above_zero("scale", self.scale))
        require_line(self.label)

    @property
    def epsilon(self) -> Fraction:
        """The pure privacy parameter."""
        return Fraction(self.sensitivity) / Fraction(self.scale)


@dataclass(frozen=True, slots=True)
class Votes(Event):
    """Pluralities of teachers' votes, each count with Gaussian noise (GNMax of PATE).

    One neighbour step changes the training records of at most one teacher, hence one vote per
    query, which moves two counts by one each: squared sensitivity 2. A check whether the largest
    noisy count passes a threshold is an event of its own, ``Gaussian(1, variance)``, paid for
    every query whether answered or not.

    Guarantee
    ---------
    - `mu_squared` is that of all the queries together; it does not depend on the votes.

    Parameters
    ----------
    variance
        Variance of the noise on each count, above 0.
    queries
        How many pluralities were released.
    label
        What was asked.

    Examples
    --------
    >>> Votes(variance=1600, queries=100).mu_squared
    Fraction(1, 8)
    """

    variance: Fraction | float
    queries: int = 1
    label: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variance", above_zero("variance", self.variance))
        object.__setattr__(self, "queries", count("queries", self.queries))
        require_line(self.label)

    @property
    def mu_squared(self) -> Fraction:
        """Square of the Gaussian differential privacy parameter of all queries."""
        return 2 * self.queries / Fraction(self.variance)


@dataclass(frozen=True, slots=True)
class ObjectivePerturbation(Event):
    """The exact minimiser of ``sum of losses + l2/2 |theta|^2 + noise . theta``.

    Each loss is convex with Lipschitz gradient and sees theta through one product with the
    record's features; the noise is N(0, variance) per coordinate; the ridge covers every
    coordinate; the minimum is unconstrained. Sensitivity and curvature are those of **one
    record's own loss**, whatever the relation: pricing under replace-one doubles them itself.

    Guarantee
    ---------
    - It is not GDP and offers no mu: its cost never enters a sum of squares.

    Parameters
    ----------
    squared_sensitivity
        Square of the bound L on the gradient norm of one record's loss.
    variance
        Variance of the linear noise per coordinate, above 0.
    curvature_ratio
        beta / l2: the largest second derivative times squared row norm, over the ridge.
    signs
        1 if the derivative of the loss has one sign given the record (logistic, hinge), else 2.
    label
        What was fitted.

    Examples
    --------
    >>> ObjectivePerturbation(1, 16, curvature_ratio=Fraction(1, 40), signs=1).signs
    1
    """

    squared_sensitivity: Fraction | float
    variance: Fraction | float
    curvature_ratio: Fraction | float
    signs: int
    label: str = ""

    def __post_init__(self) -> None:
        squared = at_least_zero("squared_sensitivity", self.squared_sensitivity)
        ratio = at_least_zero("curvature_ratio", self.curvature_ratio)
        object.__setattr__(self, "squared_sensitivity", squared)
        object.__setattr__(self, "variance", above_zero("variance", self.variance))
        object.__setattr__(self, "curvature_ratio", ratio)
        signs = exact("signs", self.signs)
        if signs not in (1, 2):
            raise SettingError("signs is neither 1 nor 2; expected the signs a derivative takes")
        object.__setattr__(self, "signs", signs)
        require_line(self.label)
