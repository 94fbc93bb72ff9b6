r"""Zero-concentrated and truncated concentrated privacy: conversions in the safe directions.

Only implications that are theorems are here. Privacy with (epsilon, delta), delta > 0, implies no
rho; rho-zCDP implies no mu; mu-GDP implies :math:`\mu^2/2`-zCDP and pure epsilon implies
:math:`\varepsilon\tanh(\varepsilon/2)`-zCDP.

References: Bun and Steinke (2016), Propositions 1.6 and 1.9. Canonne, Kamath and Steinke (2020),
Proposition 12. Bun, Dwork, Rothblum and Steinke (2018), Lemma 6.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from tacit.accounting.arguments import Floats, above_one, non_negative, probability
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi.mechanisms import tcdp, zcdp
from tacit.accounting.rounding import ALLOWANCE, UNDERFLOW
from tacit.validate import whole


def zcdp_to_epsilon(rho: float, delta: float) -> float:
    r"""Return an epsilon of rho-zCDP at delta.

    .. math:: \varepsilon = \inf_{\alpha > 1}\ \rho\alpha + \log\frac{\alpha - 1}{\alpha}
        - \frac{\log\delta + \log\alpha}{\alpha - 1}

    Guarantee
    ---------
    - Never below the infimum, at most 1e-6 above it relatively, and never above
      :math:`\rho + 2\sqrt{\rho\log(1/\delta)}`.
    """
    rho, delta = non_negative("rho", rho), probability("delta", delta)
    if rho == 0.0 or delta == 1.0:
        return 0.0
    if delta == 0.0 or math.isinf(rho):
        return math.inf
    return conversion.epsilon(partial(zcdp, rho=rho), delta, _orders(-math.log(delta), rho))


def zcdp_to_delta(rho: float, epsilon: float) -> float:
    """Return a delta of rho-zCDP at epsilon.

    Guarantee
    ---------
    - Never below the infimum over orders, at most 1.
    - ``zcdp_to_delta(rho, zcdp_to_epsilon(rho, d))`` is d up to a relative 1e-4.
    """
    rho, bound = non_negative("rho", rho), non_negative("epsilon", epsilon)
    if rho == 0.0 or math.isinf(bound):
        return 0.0
    if math.isinf(rho):
        return 1.0
    # Near the order (epsilon + rho) / (2 rho) the exponent is smallest.
    distance = max(bound - rho, math.sqrt(rho), 1e-3 * rho) / (2.0 * rho)
    return conversion.delta(partial(zcdp, rho=rho), bound, _around(distance))


def tcdp_to_epsilon(rho: float, omega: float, delta: float) -> float:
    """Return an epsilon of (rho, omega)-tCDP at delta: the infimum over orders below omega.

    Guarantee
    ---------
    - Never below `zcdp_to_epsilon`, to which it tends as omega grows.
    """
    rho, delta = non_negative("rho", rho), probability("delta", delta)
    if math.isinf(above_one("omega", omega)):
        return zcdp_to_epsilon(rho, delta)
    if delta == 1.0:
        return 0.0
    if delta == 0.0 or math.isinf(rho):
        return math.inf
    last = math.nextafter(omega, 1.0)
    if last <= 1.0:
        return math.inf
    wide = _orders(-math.log(delta), rho) if rho > 0.0 else np.array([last])
    grid = np.append(wide[wide < last], last)
    return conversion.epsilon(partial(tcdp, rho=rho, omega=omega), delta, grid)


def pure_to_zcdp(epsilon: float) -> float:
    """Return the least rho of every epsilon-private mechanism, ε tanh(ε/2), rounded up.

    Guarantee
    ---------
    - Attained by randomised response as the order tends to 1, so no smaller rho exists.
    """
    epsilon = non_negative("epsilon", epsilon)
    return _up(epsilon * math.tanh(0.5 * epsilon), vanishes=epsilon == 0.0)


def bounded_range_to_zcdp(eta: float) -> float:
    r"""Return the rho of every mechanism of range eta, :math:`\eta^2/8`, rounded up.

    Guarantee
    ---------
    - For the exponential mechanism; not for permute-and-flip, which has no bounded range.
    """
    eta = non_negative("eta", eta)
    return _up(eta * eta / 8.0, vanishes=eta == 0.0)


def gdp_to_zcdp(mu: float) -> float:
    r"""Return the rho of every mu-GDP mechanism, :math:`\mu^2/2`, rounded up.

    Guarantee
    ---------
    - Attained by the Gaussian mechanism. There is no way back: zCDP implies no mu.
    """
    mu = non_negative("mu", mu)
    return _up(mu * mu / 2.0, vanishes=mu == 0.0)


def group_zcdp(rho: float, size: int) -> float:
    r"""Return the rho that protects a group of k records, :math:`k^2\rho`, rounded up.

    Guarantee
    ---------
    - Attained by the Gaussian mechanism.
    """
    rho, size = non_negative("rho", rho), whole("size", size)
    return _up(float(size) * float(size) * rho, vanishes=rho == 0.0)


def group_tcdp(rho: float, omega: float, size: int) -> tuple[float, float]:
    r"""Return rho and omega that protect a group of k records, :math:`(k^2\rho, \omega/k)`.

    Guarantee
    ---------
    - rho is rounded up and omega down; omega at or below 1 claims nothing.
    """
    above_one("omega", omega)
    return group_zcdp(rho, size), math.nextafter(omega / whole("size", size), 0.0)


def _orders(log_inverse: float, rho: float) -> Floats:
    """Orders around 1 + sqrt(log(1/delta)/rho), where the infimum lies up to a small factor."""
    return _around(math.sqrt(max(log_inverse, 1e-3) / rho) if rho > 1e-300 else 1e150)


def _around(distance: float) -> Floats:
    # A distance below 2^-45 would be rounded away; beyond 1e15 nothing is gained.
    distance = min(max(distance, 2.0**-40), 1e15)
    return np.asarray(1.0 + distance * np.geomspace(1.0 / 32.0, 32.0, 41))


def _up(value: float, *, vanishes: bool) -> float:
    return 0.0 if vanishes else value * (1.0 + ALLOWANCE) + UNDERFLOW
