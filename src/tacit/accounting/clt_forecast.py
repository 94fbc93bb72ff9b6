r"""The central-limit forecast of a sequence of events, which is not a guarantee.

.. math:: \mu^2 \approx \sum_i \mu_i^2

with the limits of Dong, Roth and Su for sampled Gaussian steps. The truth may be larger, so the
answer is a `Forecast`, which no guarantee, certificate or filter accepts.
Why: ``proofs/accounting/clt_forecast.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from tacit.accounting.classical import (
    Forecast,
    forecast_poisson,
    forecast_without_replacement,
)
from tacit.accounting.event_counts import tally
from tacit.accounting.rounding import float_up, root_up
from tacit.errors import AccountingError
from tacit.privacy.event import Event, Gaussian, PoissonSampled, SampledWithoutReplacement
from tacit.privacy.relation import Relation


def forecast(events: Iterable[Event], *, relation: Relation | str | None = None) -> Forecast:
    """Forecast events by the central limit theorem (gdp-clt). Not a guarantee.

    Guarantee
    ---------
    - The answer is no number, has no field named epsilon, and cannot enter a certificate.
    - Poisson samples under add-remove or zero-out and samples without replacement only; other
      events are refused by name.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from tacit.privacy.event import Repeated
    >>> step = PoissonSampled(Gaussian(1, Fraction(16, 25)), Fraction(1, 100))
    >>> found = forecast([Repeated(step, 1000)], relation="add-remove")
    >>> round(found.approximate_epsilon(1e-5), 2)
    2.51
    """
    known = None if relation is None else Relation.parse(relation)
    squares, steps = 0.0, 0
    for event, times in tally(events, known):
        match event:
            case Gaussian():
                square = float_up(event.mu_squared * times)
            case PoissonSampled(event=Gaussian() as release) if known is not Relation.REPLACE_ONE:
                mu, rate = root_up(release.mu_squared), float_up(event.rate)
                square = forecast_poisson(mu, rate, times).approximate_mu ** 2
            case SampledWithoutReplacement(event=Gaussian() as release):
                mu, rate = root_up(release.mu_squared), float_up(event.rate)
                square = forecast_without_replacement(mu, rate, times).approximate_mu ** 2
            case _:
                raise AccountingError(
                    f"gdp-clt has no forecast for {type(event).__name__} here; expected Gaussian "
                    "releases, plain, on Poisson samples or on samples without replacement"
                )
        squares, steps = squares + square, steps + times
    return Forecast(math.sqrt(squares), steps)
