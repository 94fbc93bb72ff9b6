r"""Forecasts from the central limit theorem of Gaussian differential privacy: no guarantees.

The true cost can be well above the limit, so the answer is a type that no guarantee, certificate or
filter accepts. Why, and references: ``proofs/accounting/clt_forecast.md``.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from scipy import special

from tacit.accounting import gaussian
from tacit.accounting.composition import counted
from tacit.accounting.rounding import float_up, non_negative, probability, root_up
from tacit.errors import AccountingError
from tacit.privacy.event import Event, Gaussian, PoissonSampled, SampledWithoutReplacement
from tacit.privacy.relation import Relation
from tacit.validate import whole


@dataclass(frozen=True, slots=True)
class Forecast:
    """An estimate for planning, **not a guarantee**: the true cost may be larger.

    Guarantee: it cannot be converted to a number or compared with one, has no field named epsilon, delta or mu, and
    says what it is when it is printed.
    """

    approximate_mu: float
    steps: int

    def approximate_epsilon(self, delta: float) -> float:
        """Return the epsilon that the limit would have at delta; the truth may be larger."""
        return gaussian.epsilon(self.approximate_mu, delta)

    def __str__(self) -> str:
        about = f"{self.approximate_mu:.3g}"
        return f"forecast, not a guarantee: about mu = {about} after {self.steps} steps"


def forecast(events: Iterable[Event], *, relation: Relation | str | None = None) -> Forecast:
    """Forecast events by the central limit theorem (gdp-clt). Not a guarantee.

    Guarantee: the answer is no number, has no field named epsilon, and cannot enter a certificate. Poisson samples
    under add-remove or zero-out and samples without replacement only; other events are refused by name.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tacit.privacy.event import Repeated
    >>> step = PoissonSampled(Gaussian(1, Fraction(16, 25)), Fraction(1, 100))
    >>> found = forecast([Repeated(step, 1000)], relation="add-remove")
    >>> round(found.approximate_epsilon(1e-5), 2)
    2.51
    """
    counts, known = counted(events, relation)
    squares, steps = 0.0, 0
    for event, times in counts:
        poisson = isinstance(event, PoissonSampled)
        if isinstance(event, Gaussian):
            square = float_up(event.mu_squared * times)
        elif (
            isinstance(event, PoissonSampled | SampledWithoutReplacement)
            and isinstance(event.event, Gaussian)
            and not (poisson and known is Relation.REPLACE_ONE)
        ):
            mu, rate = root_up(event.event.mu_squared), float_up(event.rate)
            square = limit_mu(mu, rate, times, poisson=poisson) ** 2
        else:
            expected = "Gaussian releases, plain, on Poisson samples or on samples without replacement"
            raise AccountingError(f"gdp-clt has no forecast for {type(event).__name__} here; expected {expected}")
        squares, steps = squares + square, steps + times
    return Forecast(math.sqrt(squares), steps)


def limit_mu(mu: float, sampling_rate: float, steps: int, *, poisson: bool) -> float:
    r"""Return the limit of many Gaussian steps on samples. Not a guarantee.

    .. math:: q\sqrt{T(e^{\mu^2} - 1)} \qquad\text{(Poisson samples, add-remove)}, \qquad
        \sqrt2\, q \sqrt{T} \sqrt{e^{\mu^2}\Phi(3\mu/2) + 3\Phi(-\mu/2) - 2}
    """
    mu, rate = non_negative("mu", mu), probability("sampling_rate", sampling_rate)
    steps, square = whole("steps", steps), mu * mu
    if rate == 0.0 or mu == 0.0:
        return 0.0
    if square >= 700.0:
        return math.inf
    if poisson:
        return rate * math.sqrt(steps) * math.sqrt(math.expm1(square))
    root = math.sqrt(0.5)
    # Written around 0, where the three terms of the formula cancel.
    odd = 0.5 * (math.erf(1.5 * mu * root) - 3.0 * math.erf(0.5 * mu * root))
    inside = float(special.ndtr(1.5 * mu)) * math.expm1(square) + odd
    return math.sqrt(2.0 * steps) * rate * math.sqrt(max(inside, 0.0))
