r"""Rényi curves of additive noise and of the concentrated notions.

All values are rounded up by a relative 2^-46. Order 1 is the limit, a Kullback-Leibler
divergence.

References
----------
Mironov (2017), "Rényi differential privacy", Table II and Proposition 6.
Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy", Theorem 4.
Bun, Dwork, Rothblum and Steinke (2018), "Composable and versatile privacy via truncated CDP".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tacit.accounting.renyi._arguments import Floats, as_orders, non_negative, positive, raised
from tacit.errors import SettingError

# Below this the exponential minus its linear part is summed as a series: 16 terms leave 2^-54.
_SERIES_UP_TO = 0.5
_SERIES_TERMS = 16
# From here on exponentials could overflow and nothing cancels.
_LOGARITHMS_FROM = 30.0


def gaussian(orders: ArrayLike, mu: float) -> Floats:
    r"""Return the curve of a Gaussian release with mu = sensitivity / noise scale.

    .. math:: r(\alpha) = \alpha \mu^2 / 2

    Guarantee
    ---------
    - Exact up to the rounding upwards, for every relation whose sensitivity entered mu.

    Examples
    --------
    >>> round(float(gaussian(2.0, mu=0.5)), 12)
    0.25
    """
    array, mu = as_orders(orders), non_negative("mu", mu)
    with np.errstate(over="ignore"):
        # mu is squared by numpy, so that an overflow is infinity and no exception.
        return _linear(array, float(np.float64(mu) * np.float64(mu)) / 2.0, vanishes=mu == 0.0)


def zcdp(orders: ArrayLike, rho: float) -> Floats:
    r"""Return the curve of zero-concentrated privacy, :math:`r(\alpha) = \rho\alpha`.

    Guarantee
    ---------
    - It is the definition of rho-zCDP, rounded up.

    Examples
    --------
    >>> round(float(zcdp(4.0, rho=0.125)), 12)
    0.5
    """
    array, rho = as_orders(orders), non_negative("rho", rho)
    return _linear(array, rho, vanishes=rho == 0.0)


def tcdp(orders: ArrayLike, rho: float, omega: float) -> Floats:
    r"""Return the curve of truncated concentrated privacy.

    .. math:: r(\alpha) = \rho\alpha \quad (1 \le \alpha < \omega), \qquad \infty \text{ beyond}

    Guarantee
    ---------
    - Nothing is claimed at omega and beyond.

    Examples
    --------
    >>> tcdp([2.0, 8.0], rho=0.0, omega=8.0).tolist()
    [0.0, inf]
    """
    array = as_orders(orders)
    if not omega > 1.0:
        raise SettingError(f"omega is {omega!r}; expected a number above 1")
    return np.where(array < omega, zcdp(array, rho), np.inf)


def discrete_gaussian(orders: ArrayLike, squared_sensitivity: float, variance: float) -> Floats:
    r"""Return the curve of integers released with discrete Gaussian noise.

    .. math:: r(\alpha) = \alpha\, \Delta^2 / (2\sigma^2)

    with :math:`\Delta` the L2 sensitivity of the integer vector and :math:`\sigma^2` the parameter
    of the discrete Gaussian, which is at least its variance.

    Guarantee
    ---------
    - An upper bound for every integer shift of squared norm at most `squared_sensitivity`.

    Examples
    --------
    >>> round(float(discrete_gaussian(2.0, squared_sensitivity=4, variance=16)), 12)
    0.25
    """
    array = as_orders(orders)
    squared = non_negative("squared_sensitivity", squared_sensitivity)
    ratio = squared / positive("variance", variance)
    return _linear(array, ratio / 2.0, vanishes=squared == 0.0)


def laplace(orders: ArrayLike, epsilon: float) -> Floats:
    r"""Return the curve of Laplace noise with epsilon = L1 sensitivity / scale.

    .. math:: r(\alpha) = \frac{1}{\alpha - 1} \log\left( \frac{\alpha}{2\alpha - 1}
        e^{(\alpha - 1)\varepsilon} + \frac{\alpha - 1}{2\alpha - 1} e^{-\alpha\varepsilon} \right)

    Guarantee
    ---------
    - Exact up to the rounding upwards; at order 1 it is :math:`\varepsilon + e^{-\varepsilon} - 1`.
    - For vectors it bounds every way to spread the L1 sensitivity over the coordinates.

    Examples
    --------
    >>> round(float(laplace(2.0, epsilon=1.0)), 6)
    0.619124
    """
    array, epsilon = as_orders(orders), non_negative("epsilon", epsilon)
    if epsilon == 0.0 or math.isinf(epsilon):
        return np.full_like(array, epsilon)
    excess = array - 1.0
    high, low = array / (2.0 * array - 1.0), excess / (2.0 * array - 1.0)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        up, down = excess * epsilon, -array * epsilon
        # Probabilities times (exp - 1 - linear part): the linear parts cancel on paper.
        near = np.minimum(up, _LOGARITHMS_FROM)
        moment = high * _exp_beyond_linear(near) + low * _exp_beyond_linear(down)
        far = up + np.log(high + low * np.exp(down - up))
        values = np.where(up > _LOGARITHMS_FROM, far, np.log1p(moment)) / excess
    values = np.where(excess > 0.0, values, _exp_beyond_linear(np.asarray(-epsilon)))
    return np.minimum(raised(values), raised(np.full_like(array, epsilon)))


def _linear(orders: Floats, rho: float, *, vanishes: bool) -> Floats:
    with np.errstate(over="ignore"):
        return np.zeros_like(orders) if vanishes else raised(orders * rho)


def _exp_beyond_linear(exponents: Floats) -> Floats:
    """Return exp(t) - 1 - t without cancellation."""
    near = np.clip(exponents, -_SERIES_UP_TO, _SERIES_UP_TO)
    series = np.zeros_like(near)
    for term in range(_SERIES_TERMS, 1, -1):
        series = (series * near + 1.0) / term
    series *= near * near
    return np.where(np.abs(exponents) <= _SERIES_UP_TO, series, np.expm1(exponents) - exponents)
