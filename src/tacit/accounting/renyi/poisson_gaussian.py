r"""The Rényi curve of a Gaussian release on a Poisson sample, for add-remove and zero-out.

.. math:: r(\alpha) = \frac{\log A_\alpha}{\alpha - 1}, \qquad
    A_\alpha = E[(1 - q + qL)^\alpha], \quad L = e^{\mu X - \mu^2/2}, \quad X \sim N(0, 1)

:math:`A_\alpha - 1` is summed from positive parts: binomially at integer orders, by the trapezoidal
rule at fractional orders and mu up to 8, and by a series of Mills ratios beyond. Proof and
references: ``proofs/accounting/renyi/poisson_gaussian.md``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.accounting.argument_checks import Floats, as_orders, non_negative, probability
from tacit.accounting.renyi.curve import log_expm1, log_one_plus, log_sum
from tacit.accounting.renyi.mechanisms import gaussian
from tacit.accounting.rounding import ALLOWANCE, UNDERFLOW, raised

# Below it the curve is read at this order, which bounds it because curves grow with the order.
_SMALLEST_ORDER = 1.0 + 2.0**-10
# Above it the unsampled curve is used, which is an upper bound.
_LARGEST_INTEGER = 2**15
# Above it fractional orders are interpolated between integers.
_LARGEST_FRACTIONAL = 32.0
_LARGEST_MU_BY_QUADRATURE = 8.0
# exp(-80) relative to the moment is what the trapezoidal rule may miss.
_STRIP_EXPONENT = 80.0
_END = 14.0
_REMAINDER_TERMS = 256
_LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


def poisson_gaussian(orders: ArrayLike, mu: float, sampling_rate: float) -> Floats:
    """Return the curve of a Poisson-sampled Gaussian release.

    Guarantee
    ---------
    - Never below the divergence in either direction, for add-remove and zero-out only.
    - At most a relative 1e-8 above the first one for mu up to 8, orders from 1.001 to 32 and
      integers to 2^15, wherever the curve is above 1e-20; at most 1e-4 for larger mu and rates
      from 1e-6.
    - The plain Gaussian curve at rate 1, zero at rate 0, and never above the plain curve.
    """
    array, mu = as_orders(orders), non_negative("mu", mu)
    rate = probability("sampling_rate", sampling_rate)
    plain = gaussian(array, mu)
    if rate in (0.0, 1.0) or mu == 0.0 or math.isinf(mu):
        return np.zeros_like(array) if rate == 0.0 else plain
    read = np.maximum(array, _SMALLEST_ORDER)
    sampled = [_log_moment(float(order), mu, rate) / (order - 1.0) for order in read.ravel()]
    return np.minimum(raised(np.array(sampled).reshape(array.shape)), plain)


def _log_moment(order: float, mu: float, rate: float) -> float:
    """Upper bound of the logarithm of the moment."""
    lower = math.floor(order)
    if order == lower:
        return _at_integer(lower, mu, rate)
    if order > _LARGEST_FRACTIONAL:
        # The logarithm of a moment is convex in the order.
        part = order - lower
        below, above = _at_integer(lower, mu, rate), _at_integer(lower + 1, mu, rate)
        return (1.0 - part) * below + part * above
    if mu <= _LARGEST_MU_BY_QUADRATURE:
        return _by_quadrature(order, mu, rate)
    return _by_series(order, mu, rate)


def _at_integer(order: int, mu: float, rate: float) -> float:
    if order > _LARGEST_INTEGER:
        return math.inf
    chosen = np.arange(2.0, order + 1.0)
    with np.errstate(over="ignore"):
        exponents = (chosen * chosen - chosen) * (0.5 * mu * mu)
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    gammas = special.gammaln(chosen + 1.0), special.gammaln(order - chosen + 1.0)
    log_factorial = float(special.gammaln(order + 1.0))
    logs = log_factorial - gammas[0] - gammas[1] + chosen * log_rate + (order - chosen) * log_rest
    sizes = 3.0 * log_factorial - chosen * log_rate - (order - chosen) * log_rest + exponents
    excess = log_sum(logs + log_expm1(exponents) + 2.0**-49 * sizes)
    return log_one_plus(excess) * (1.0 + ALLOWANCE) + UNDERFLOW if excess < math.inf else math.inf


def _by_quadrature(order: float, mu: float, rate: float) -> float:
    """Trapezoidal rule for E[h(q(L - 1))] with the positive h(z) = (1 + z)^order - 1 - order z."""
    strip = min(0.999 * math.pi / mu, 12.0)
    step = 2.0 * math.pi * strip / (_STRIP_EXPONENT + 0.5 * strip * strip)
    degree = max(2.0, order)
    end = degree * mu + 0.5 * mu + _END
    points = np.arange(-_END, end + step, step)
    exponents = mu * points - 0.5 * mu * mu
    shifts = rate * np.expm1(np.minimum(exponents, 700.0))
    logs = (
        _log_beyond_linear(shifts, order)
        + order * np.maximum(exponents - 700.0, 0.0)
        - 0.5 * points * points
        - _LOG_SQRT_TWO_PI
    )
    # Past the last node the integrand falls at least like exp(-s x).
    fall = _END - degree / _END
    tail = float(logs[-1]) - math.log(-math.expm1(-fall * step))
    left = float(_log_beyond_linear(np.array([-rate]), order)[0]) + math.log(1e-44)
    missed = math.log(2.0 * (2.0 + 2.0 * order * rate)) - _STRIP_EXPONENT + 1e-9
    trapezoid = math.log(step) + log_sum(np.append(logs, tail))
    total = log_sum(np.array([trapezoid + ALLOWANCE * (1.0 + end * end), left, missed]))
    return log_one_plus(total)


def _log_beyond_linear(shifts: Floats, order: float) -> Floats:
    """Logarithm of (1 + z)^order - 1 - order z, rounded up."""
    near = np.abs(shifts) * order < 0.1
    clipped = np.where(near, shifts, 0.0)
    series = np.zeros_like(shifts)
    for term in range(18, 1, -1):
        series = (series * clipped + 1.0) * ((order - term + 1.0) / term)
    series *= order * clipped * clipped
    logs = np.log1p(shifts)
    far = (order - 1.0) * logs > 30.0
    power = np.expm1(order * np.where(far, 0.0, logs))
    direct = power - order * shifts + 2.0**-49 * (np.abs(power) + order * np.abs(shifts))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(np.where(near, series * (1.0 + 2.0**-46), direct))
    return np.where(far, order * logs, value)


def _by_series(order: float, mu: float, rate: float) -> float:
    """Binomial series on both sides of the point where its ratio is 1."""
    middle = (math.log1p(-rate) - math.log(rate)) / mu + 0.5 * mu
    number = math.ceil(order) + _REMAINDER_TERMS
    index = np.arange(float(number + 1))
    factors = np.concatenate([[1.0], (order - index[:-1]) / (index[:-1] + 1.0)])
    coefficients = np.cumprod(factors)
    below, above = index * mu - middle, middle - (order - index) * mu
    base = order * math.log1p(-rate) - 0.5 * middle * middle - _LOG_SQRT_TWO_PI
    sizes = abs(base) + middle * middle
    top = -math.inf
    columns = []
    for points in (below, above):
        logs = base + np.log(np.abs(coefficients)) + _log_mills(points)
        columns.append((logs, 2.0**-48 * (1.0 + sizes + points * points + index)))
        top = max(top, float(np.max(logs)))
    total = 0.0
    for logs, errors in columns:
        terms = np.sign(coefficients) * np.exp(logs - top)
        # The last term bounds what follows it: the signs alternate and the sizes fall.
        total += float(np.sum(terms[:-1])) + abs(float(terms[-1]))
        total += float(np.sum(np.abs(terms) * np.expm1(errors)))
    return top + math.log(total) + ALLOWANCE * (1.0 + abs(top))


def _log_mills(points: Floats) -> Floats:
    """Logarithm of the Mills ratio of the normal distribution, of both signs."""
    near = math.sqrt(0.5 * math.pi) * special.erfcx(np.maximum(points, -5.0) * math.sqrt(0.5))
    far = special.log_ndtr(-points) + 0.5 * points * points + _LOG_SQRT_TWO_PI
    return np.asarray(np.where(points > -5.0, np.log(near), far), dtype=np.float64)
