"""Rényi curves of single mechanisms; all values are rounded up.

Permute-and-flip is epsilon-private but **not** epsilon-bounded-range: use `pure` for it. Objective perturbation is
**not** mu-GDP: never add its mu to other squares.

Proofs and references: ``proofs/accounting/renyi/mechanism_curves.md``.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.accounting.objective_perturbation import vertex_quantile
from tacit.accounting.renyi.curve import log_one_plus
from tacit.accounting.rounding import ALLOWANCE, Floats, above_one, as_orders, non_negative, raised

# Below this the exponential minus its linear part is summed as a series: 16 terms leave 2^-54.
_SERIES_UP_TO = 0.5
_SERIES_TERMS = 16
# From here on exponentials could overflow and nothing cancels.
_LOGARITHMS_FROM = 30.0
# Above this product of order and epsilon the hyperbolic form could overflow.
_HYPERBOLIC_UP_TO = 30.0
_SMALLEST_ORDER = 1.0 + 2.0**-14
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Sixteen nodes on a width of 1 of the normal density err by less than 2^-60 relatively.
_LONGEST_QUADRATURE = 1.0


def gaussian(orders: ArrayLike, mu: float) -> Floats:
    """Return αμ²/2, mu = sensitivity / noise scale: exact but for rounding up, for the sensitivity's relation."""
    array, mu = as_orders(orders), non_negative("mu", mu)
    with np.errstate(over="ignore"):
        # mu is squared by numpy, so that an overflow is infinity and no exception.
        return _linear(array, float(np.float64(mu) * np.float64(mu)) / 2.0, vanishes=mu == 0.0)


def zcdp(orders: ArrayLike, rho: float) -> Floats:
    """Return the curve that defines rho-zCDP, r(α) = ρα, rounded up."""
    array, rho = as_orders(orders), non_negative("rho", rho)
    return _linear(array, rho, vanishes=rho == 0.0)


def tcdp(orders: ArrayLike, rho: float, omega: float) -> Floats:
    """Return the curve of truncated concentrated privacy, ρα below omega; nothing is claimed from omega on."""
    array = as_orders(orders)
    return np.where(array < above_one("omega", omega), zcdp(array, rho), np.inf)


def laplace(orders: ArrayLike, epsilon: float) -> Floats:
    r"""Return the curve of Laplace noise with epsilon = L1 sensitivity / scale.

    .. math:: r(\alpha) = \frac{1}{\alpha - 1} \log\left( \frac{\alpha}{2\alpha - 1}
        e^{(\alpha - 1)\varepsilon} + \frac{\alpha - 1}{2\alpha - 1} e^{-\alpha\varepsilon} \right)

    Guarantee: exact up to the rounding upwards; at order 1 it is :math:`\varepsilon + e^{-\varepsilon} - 1`. For
    vectors it bounds every way to spread the L1 sensitivity over the coordinates.
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

    Guarantee: attained by randomised response, so no better curve exists; never above epsilon. At order 1 it is
    :math:`\varepsilon\tanh(\varepsilon/2)`, and it never exceeds :math:`\alpha\varepsilon\tanh(\varepsilon/2)`.
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

    .. math:: r(\alpha) = \log a + \frac{\log(c/\alpha)}{\alpha - 1} \le \min(\alpha\eta^2/8,\ \eta), \quad
        c = \frac{e^{\alpha\eta} - 1}{e^{\eta} - 1}, \quad a = \frac{c(\alpha - 1)}{\alpha(c - 1)}

    Guarantee: attained by a two-point mechanism, so no better curve exists; never above the curve of
    :math:`\eta^2/8`-zCDP. Not for permute-and-flip, which has no such range.
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


def one_signed_objective(orders: ArrayLike, determinant: float, mu: float) -> Floats:
    r"""Return the curve of objective perturbation for losses with a one-signed derivative.

    .. math:: r(\alpha) = c + \frac{1}{\alpha - 1} \log\left[ \Phi(-\mu/2)
        + e^{\alpha(\alpha - 1)\mu^2/2}\, \Phi(\mu(\alpha - \tfrac12)) \right]

    Guarantee: the Rényi divergence of the dominating loss c + max(0, V), rounded up, in both directions; between c +
    the Gaussian curve and c + the Gaussian curve + log(2)/(alpha - 1).
    """
    array = as_orders(orders)
    determinant, mu = non_negative("determinant", determinant), non_negative("mu", mu)
    flat = np.array([_one_signed(float(order), mu) for order in array.ravel()])
    return raised(determinant + flat.reshape(array.shape))


def two_signed_objective(orders: ArrayLike, determinant: float, mu: float, vertices: int = 2) -> Floats:
    """Return the curve for m > 1 vertices, c + αμ²/2 + log(mΦ((α - 1)μ - z)) / (α - 1), Φ(-z) = 1/m.

    Guarantee: the Rényi divergence of the dominating loss, c + mu^2/2 + |A| for two vertices, rounded up; never below
    the one-signed curve.
    """
    array = as_orders(orders)
    determinant, mu = non_negative("determinant", determinant), non_negative("mu", mu)
    if math.isinf(mu):
        return np.full_like(array, math.inf)
    excess, start = array - 1.0, vertex_quantile(vertices)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # At order 1 the slope of the concave logarithm, which is above it everywhere.
        steepest = mu * vertices * math.exp(-0.5 * start * start) / math.sqrt(2.0 * math.pi)
        if vertices == 2:
            # log(2 Phi(x)) = log1p(erf(x / sqrt 2)) keeps its digits near 0.
            fold = np.log1p(special.erf(excess * mu * math.sqrt(0.5))) / excess
        else:
            tail = math.log(vertices) + special.log_ndtr(excess * mu - start)
            fold = np.minimum((tail + ALLOWANCE * (1.0 + math.log(vertices))) / excess, steepest)
        fold = np.where(excess > 0.0, fold, steepest)
        square = np.float64(mu) * np.float64(mu) / 2.0
        return raised(determinant + array * square + fold)


def _one_signed(order: float, mu: float) -> float:
    """Return the curve with c = 0, to the allowance."""
    if mu == 0.0:
        return 0.0
    half = 0.5 * mu
    if order == 1.0:
        density = math.exp(-0.5 * half * half) / math.sqrt(2.0 * math.pi)
        return half * mu * float(special.ndtr(half)) + mu * density if half < 1e150 else math.inf
    excess = order - 1.0
    exponent = 0.5 * order * excess * mu * mu if mu < 1e150 else math.inf
    if math.isinf(exponent):
        return math.inf
    width = excess * mu
    if exponent > 1.0 or width > _LONGEST_QUADRATURE:
        last = exponent + float(special.log_ndtr(half + width))
        first = float(special.log_ndtr(-half))
        value = last + log_one_plus(first - last)
        return (value + ALLOWANCE * (1.0 + exponent)) / excess
    # The moment minus 1 as positive parts, so that nothing cancels at orders close to 1.
    points = half + width * (0.5 + 0.5 * _NODES)
    mass = width * 0.5 * float(_WEIGHTS @ np.exp(-0.5 * points * points))
    mass /= math.sqrt(2.0 * math.pi)
    growth = math.expm1(exponent)
    moment = float(special.ndtr(half)) * growth + (1.0 + growth) * mass
    return math.log1p(moment) / excess
