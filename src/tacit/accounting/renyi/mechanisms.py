r"""Rényi curves of single mechanisms: additive noise, pure privacy, bounded range.

All values are rounded up. Permute-and-flip is epsilon-private but **not** epsilon-bounded-range:
use `pure` for it, never `bounded_range`.

References: Mironov (2017), Table II and Proposition 6. Canonne, Kamath and Steinke (2020), Theorem
4. Bun and Steinke (2016), Proposition 3.3. Dong, Durfee and Rogers (2020), Lemma 3.2. Cesar and
Rogers (2021), Lemma 3.4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tacit.accounting.arguments import Floats, above_one, as_orders, non_negative
from tacit.accounting.rounding import ALLOWANCE, raised

# Below this the exponential minus its linear part is summed as a series: 16 terms leave 2^-54.
_SERIES_UP_TO = 0.5
_SERIES_TERMS = 16
# From here on exponentials could overflow and nothing cancels.
_LOGARITHMS_FROM = 30.0
# Above this product of order and epsilon the hyperbolic form could overflow.
_HYPERBOLIC_UP_TO = 30.0
_SMALLEST_ORDER = 1.0 + 2.0**-14


def gaussian(orders: ArrayLike, mu: float) -> Floats:
    r"""Return the curve of a Gaussian release with mu = sensitivity / noise scale.

    .. math:: r(\alpha) = \alpha \mu^2 / 2

    Guarantee
    ---------
    - Exact up to the rounding upwards, for every relation whose sensitivity entered mu.
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
    """
    array, rho = as_orders(orders), non_negative("rho", rho)
    return _linear(array, rho, vanishes=rho == 0.0)


def tcdp(orders: ArrayLike, rho: float, omega: float) -> Floats:
    r"""Return the curve of truncated concentrated privacy: :math:`\rho\alpha` below omega.

    Guarantee
    ---------
    - Nothing is claimed at omega and beyond.
    """
    array = as_orders(orders)
    return np.where(array < above_one("omega", omega), zcdp(array, rho), np.inf)


def laplace(orders: ArrayLike, epsilon: float) -> Floats:
    r"""Return the curve of Laplace noise with epsilon = L1 sensitivity / scale.

    .. math:: r(\alpha) = \frac{1}{\alpha - 1} \log\left( \frac{\alpha}{2\alpha - 1}
        e^{(\alpha - 1)\varepsilon} + \frac{\alpha - 1}{2\alpha - 1} e^{-\alpha\varepsilon} \right)

    Guarantee
    ---------
    - Exact up to the rounding upwards; at order 1 it is :math:`\varepsilon + e^{-\varepsilon} - 1`.
    - For vectors it bounds every way to spread the L1 sensitivity over the coordinates.
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


def pure(orders: ArrayLike, epsilon: float) -> Floats:
    r"""Return the best curve that every epsilon-private mechanism has.

    .. math:: r(\alpha) = \varepsilon - \frac{1}{\alpha - 1}
        \log\frac{1 + e^{-\varepsilon}}{1 + e^{-(2\alpha - 1)\varepsilon}}

    Guarantee
    ---------
    - Attained by randomised response, so no better curve exists; never above epsilon.
    - At order 1 it is :math:`\varepsilon\tanh(\varepsilon/2)`, and it never exceeds
      :math:`\alpha\varepsilon\tanh(\varepsilon/2)`.
    """
    array, epsilon = as_orders(orders), non_negative("epsilon", epsilon)
    if epsilon == 0.0 or math.isinf(epsilon):
        return np.full_like(array, epsilon)
    excess = array - 1.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        product = np.minimum(array * epsilon, _HYPERBOLIC_UP_TO)
        difference = np.minimum(excess * epsilon, _HYPERBOLIC_UP_TO)
        # cosh a / cosh b - 1 = 2 sinh((a + b) / 2) sinh((a - b) / 2) / cosh b
        ratio = 2.0 * np.sinh(product / 2.0) * np.sinh(difference / 2.0)
        near = np.log1p(ratio / math.cosh(min(epsilon, _HYPERBOLIC_UP_TO) / 2.0)) / excess
        tails = math.log1p(math.exp(-epsilon)) - np.log1p(np.exp(-(array + excess) * epsilon))
        far = epsilon - tails / excess
        values = np.where(array * epsilon <= _HYPERBOLIC_UP_TO, near, far)
    values = np.where(excess > 0.0, values, epsilon * math.tanh(epsilon / 2.0))
    return np.minimum(raised(values), raised(np.full_like(array, epsilon)))


def bounded_range(orders: ArrayLike, eta: float) -> Floats:
    r"""Return the best curve that every mechanism of range eta has.

    With :math:`c = (e^{\alpha\eta} - 1)/(e^{\eta} - 1)` and
    :math:`a = c(\alpha - 1)/(\alpha(c - 1))`,

    .. math:: r(\alpha) = \log a + \frac{\log(c/\alpha)}{\alpha - 1}
        \le \min(\alpha\eta^2/8,\ \eta).

    The exponential mechanism :math:`\propto \exp(\eta\, u/(2\Delta))` has range eta, and half of
    that for scores that only move one way.

    Guarantee
    ---------
    - Attained by a two-point mechanism, so no better curve exists; never above
      :math:`\alpha\eta^2/8`, the curve of :math:`\eta^2/8`-zCDP.
    - Not for permute-and-flip, which has no such range.
    """
    array, eta = as_orders(orders), non_negative("eta", eta)
    if eta == 0.0 or math.isinf(eta):
        return np.full_like(array, eta)
    # Close to 1 the error of the formula outgrows it; a larger order bounds a smaller one.
    read = np.maximum(array, _SMALLEST_ORDER)
    excess = read - 1.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        quadratic = raised(array * (eta * eta / 8.0))
        log_width = math.log(-math.expm1(-eta))
        log_whole = np.log(-np.expm1(-read * eta))
        # c - 1 = (exp(alpha eta) - exp(eta)) / (exp(eta) - 1), which does not cancel.
        log_part = np.log(-np.expm1(-excess * eta))
        log_c = excess * eta + log_whole - log_width
        log_a = (log_whole - log_part) + np.log(excess / read)
        sizes = np.abs(log_whole) + np.abs(log_part) + abs(log_width) + np.abs(np.log(excess))
        error = ALLOWANCE * (1.0 + sizes + np.log(read) + read * eta) * (1.0 + 1.0 / excess)
        tight = log_a + (log_c - np.log(read)) / excess + error
    tight = np.where(np.isfinite(tight), tight, quadratic)
    return np.minimum(np.minimum(tight, quadratic), raised(np.full_like(array, eta)))


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
