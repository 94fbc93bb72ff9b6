r"""Forecasts from the central limit theorem of Gaussian differential privacy: no guarantees.

The limit of many subsampled Gaussian steps is nearly Gaussian, and its mu is a quick estimate. The
truth can be well above it, so the result is a type that no certificate accepts.

References
----------
Dong, Roth and Su (2022), "Gaussian differential privacy", Corollary 5.4.
Bu, Dong, Long and Su (2020), "Deep learning with Gaussian differential privacy", section 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special

from tacit.accounting import gaussian
from tacit.accounting.renyi._arguments import count, non_negative, probability


@dataclass(frozen=True, slots=True)
class Forecast:
    """An estimate for planning, **not a guarantee**: the true cost may be larger.

    It is no number and no `Guarantee`, has no field named epsilon, delta or mu, and says what it is
    when it is printed.

    Guarantee
    ---------
    - It cannot be converted to a number or compared with one.

    Parameters
    ----------
    approximate_mu
        The mu of the limit.
    steps
        Number of steps it stands for.

    Examples
    --------
    >>> print(forecast_poisson(mu=1.0, sampling_rate=0.01, steps=100))
    forecast, not a guarantee: about mu = 0.131 after 100 steps
    """

    approximate_mu: float
    steps: int

    def approximate_epsilon(self, delta: float) -> float:
        """Return the epsilon that the limit would have at delta; the truth may be larger."""
        return gaussian.epsilon(self.approximate_mu, delta)

    def __str__(self) -> str:
        """Say that it is a forecast."""
        about = f"{self.approximate_mu:.3g}"
        return f"forecast, not a guarantee: about mu = {about} after {self.steps} steps"


def forecast_poisson(mu: float, sampling_rate: float, steps: int) -> Forecast:
    r"""Forecast many Gaussian steps on Poisson samples (add-remove). Not a guarantee.

    .. math:: \mu_{\text{limit}} = q\sqrt{T(e^{\mu^2} - 1)}

    Examples
    --------
    >>> round(forecast_poisson(1.25, 0.01, 1000).approximate_epsilon(1e-5), 2)
    2.51
    """
    mu, rate = non_negative("mu", mu), probability("sampling_rate", sampling_rate)
    steps = count("steps", steps)
    if rate == 0.0 or mu == 0.0:
        return Forecast(0.0, steps)
    square = mu * mu
    growth = math.sqrt(math.expm1(square)) if square < 700.0 else math.inf
    return Forecast(rate * math.sqrt(steps) * growth, steps)


def forecast_without_replacement(mu: float, sampling_rate: float, steps: int) -> Forecast:
    r"""Forecast many Gaussian steps on samples without replacement. Not a guarantee.

    .. math:: \mu_{\text{limit}} = \sqrt2\, q \sqrt{T}
        \sqrt{e^{\mu^2}\Phi(3\mu/2) + 3\Phi(-\mu/2) - 2}

    Examples
    --------
    >>> round(forecast_without_replacement(1.0, 0.01, 100).approximate_mu, 4)
    0.171
    """
    mu, rate = non_negative("mu", mu), probability("sampling_rate", sampling_rate)
    steps = count("steps", steps)
    if rate == 0.0 or mu == 0.0:
        return Forecast(0.0, steps)
    square = mu * mu
    if square >= 700.0:
        return Forecast(math.inf, steps)
    root = math.sqrt(0.5)
    # Written around 0, where the three terms of the formula cancel.
    odd = 0.5 * (math.erf(1.5 * mu * root) - 3.0 * math.erf(0.5 * mu * root))
    inside = float(special.ndtr(1.5 * mu)) * math.expm1(square) + odd
    return Forecast(math.sqrt(2.0 * steps) * rate * math.sqrt(max(inside, 0.0)), steps)
