r"""Rényi curves of any mechanism on a fresh random sample of the records.

Poisson samples: add-remove and zero-out. Samples of fixed size: replace-one. The base curve holds for the same
relation, on tables of the size of the sample. Releases from one sample are one mechanism, whose base curve is the sum
of theirs. Proofs and references: ``proofs/accounting/renyi/subsampling.md``.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.accounting.renyi.curve import Curve, at_most_base, log_expm1, log_one_plus, log_sum
from tacit.accounting.renyi.mechanism_curves import gaussian
from tacit.accounting.rounding import ALLOWANCE, UNDERFLOW, Floats, as_orders, non_negative, probability, raised
from tacit.validate import whole

_LARGEST_MOMENT = 64
_STEP = 0.1
_MOMENT_END = 24.0


def poisson(orders: ArrayLike, curve: Curve, sampling_rate: float) -> Floats:
    """Return the curve of a mechanism on a Poisson sample of rate q.

    At integer orders it is the larger of the sum for the mixture against the base and the least of three bounds for the
    base against the mixture, all stated on the proof page. Between integers the logarithm of the moment is
    interpolated.

    Guarantee: never below the divergence of any such mechanism, both ways, for add-remove and zero-out. Never above the
    base curve; equal to it at rate 1, zero at rate 0.
    """
    array, rate = as_orders(orders), probability("sampling_rate", sampling_rate)
    if rate == 0.0:
        return np.zeros_like(array)
    return at_most_base(array, curve, rate, lambda order, values: _poisson_moment(order, values, rate))


def without_replacement(
    orders: ArrayLike, curve: Curve, sampling_rate: float, pure_epsilon: float = math.inf
) -> Floats:
    r"""Return the curve of any mechanism on a sample without replacement of m = qn records.

    :math:`A_\alpha = 1 + \sum_{j=2}^{\alpha} \binom{\alpha}{j} q^j c_j` with the :math:`c_j` of the proof page, smaller
    for a base with a `pure_epsilon`. Between integers the logarithm of the moment is interpolated.

    Guarantee: never below the divergence for replace-one, given a base curve for replace-one. Never above the base
    curve; equal to it at rate 1, zero at rate 0.
    """
    rate = probability("sampling_rate", sampling_rate)
    bound = non_negative("pure_epsilon", pure_epsilon)
    log_gap = float(log_expm1(np.asarray(bound))) if bound < math.inf else math.inf
    return _fixed_size(as_orders(orders), curve, rate, lambda values: _generic_terms(values, log_gap))


def without_replacement_gaussian(orders: ArrayLike, mu: float, sampling_rate: float) -> Floats:
    """Return the curve of a Gaussian release on a sample without replacement.

    Guarantee: never below the divergence for replace-one when mu counts the replace-one sensitivity; never above
    `without_replacement` of the Gaussian curve, because terms from j = 3 on may also be bounded by even moments.
    """
    rate, mu = probability("sampling_rate", sampling_rate), non_negative("mu", mu)
    curve = partial(gaussian, mu=mu)
    moments = _even_moments(mu) if 0.0 < mu <= 2.0 else np.full(_LARGEST_MOMENT + 1, math.inf)

    def log_terms(values: Floats) -> Floats:
        terms = _generic_terms(values, math.inf)
        index = np.arange(3, min(len(values), _LARGEST_MOMENT - 1) + 1)
        means = 0.5 * (moments[2 * (index // 2)] + moments[2 * ((index + 1) // 2)])
        terms[1 : 1 + len(index)] = np.minimum(terms[1 : 1 + len(index)], math.log(4.0) + means)
        return terms

    return _fixed_size(as_orders(orders), curve, rate, log_terms)


def with_replacement_gaussian(
    orders: ArrayLike, mu: float, records: int, draws: int, most: int | None = None
) -> Floats:
    """Return the curve of a Gaussian release on m draws with replacement from n records.

    The mixture of the Gaussian curves at k mu over the number k of copies, by joint convexity alone: it shrinks like
    m/n, not like its square. mu is the replace-one sensitivity of one draw over the noise scale. More than `most`
    copies are left out: charge their probability, at most 2^-50, as a leak.

    Guarantee: never below the divergence for replace-one; with `most`, given that no more copies are drawn.
    """
    array, mu = as_orders(orders), non_negative("mu", mu)
    records, draws = whole("records", records), whole("draws", draws)
    if mu == 0.0:
        return np.zeros_like(array)
    times = np.arange(1.0, min(draws, most or draws) + 1.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        rest = (draws - times) * (math.log1p(-1.0 / records) if records > 1 else -math.inf)
        rest = np.where(times == draws, 0.0, rest)
        logs = special.gammaln(draws + 1.0) - special.gammaln(times + 1.0)
        logs = logs - special.gammaln(draws - times + 1.0) - times * math.log(records) + rest
        sizes = 3.0 * float(special.gammaln(draws + 1.0)) + times * math.log(records) + 1.0
        logs = np.where(np.isfinite(rest), logs + 2.0**-49 * (sizes - rest), -math.inf)
    squares = (times * mu) ** 2 if mu < 1e140 else np.full_like(times, math.inf)
    # At order 1 the curve is read at an order above it.
    read = np.maximum(array, 1.0 + 2.0**-20)
    values = []
    for order in read.ravel():
        with np.errstate(over="ignore"):
            exponents = 0.5 * order * (order - 1.0) * squares
        excess = log_sum(logs + log_expm1(exponents * (1.0 + ALLOWANCE)))
        values.append(log_one_plus(excess) / (order - 1.0) if excess < math.inf else math.inf)
    return raised(np.array(values).reshape(array.shape))


def _poisson_moment(order: int, values: Floats, rate: float) -> float:
    """Upper bound of the log-moment at an integer order, from the curve at 1 .. order."""
    chosen, log_factorial, weights = _log_choices(order, rate)
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    exponents = (chosen - 1.0) * values[1:]
    if not np.all(np.isfinite(exponents)):
        return math.inf
    weights = weights + (order - chosen) * log_rest
    sizes = 3.0 * log_factorial - chosen * log_rate - (order - chosen) * log_rest + exponents + 1.0
    weights = weights + 2.0**-48 * sizes
    # Probabilities add up to 1, so only what exceeds 1 is summed.
    forward = weights + log_expm1(exponents)
    tripled = np.where(chosen > 2.0, np.log(3.0) + weights + exponents, forward)
    with np.errstate(divide="ignore"):
        squares = float(log_expm1(np.asarray(values[1])))
    pearson = math.log(order * (order - 1.0) / 2.0) + 2.0 * log_rate - (order + 1.0) * log_rest
    pearson += squares + 2.0**-48 * (abs(pearson) + abs(squares) if squares > -math.inf else 1.0)
    mixture = log_rate + float(log_expm1(np.asarray(exponents[-1]))) + 2.0**-48 * (1.0 - log_rate)
    backward = min(pearson, mixture, log_sum(tripled))
    return log_one_plus(max(log_sum(forward), backward)) * (1.0 + ALLOWANCE) + UNDERFLOW


def _fixed_size(orders: Floats, curve: Curve, rate: float, log_terms: Curve) -> Floats:
    """Return the curve built from terms c_2, c_3, ..."""

    def moment(order: int, values: Floats) -> float:
        terms = log_terms(values)
        if np.any(np.isposinf(terms)):
            return math.inf
        chosen, log_factorial, weights = _log_choices(order, rate)
        sizes = 3.0 * log_factorial - chosen * math.log(rate) + 1.0
        excess = log_sum(weights + terms + 2.0**-48 * sizes)
        return log_one_plus(excess) * (1.0 + ALLOWANCE) + UNDERFLOW

    return at_most_base(orders, curve, rate, moment)


def _log_choices(order: int, rate: float) -> tuple[Floats, float, Floats]:
    """Return j = 2, 3, ..., the logarithm of order!, and those of the binomial coefficients times q^j."""
    chosen, log_factorial = np.arange(2.0, order + 1.0), float(special.gammaln(order + 1.0))
    gammas = special.gammaln(chosen + 1.0) + special.gammaln(order - chosen + 1.0)
    return chosen, log_factorial, log_factorial - gammas + chosen * math.log(rate)


def _generic_terms(values: Floats, log_gap: float) -> Floats:
    """Logarithms of c_2, c_3, ... from the curve at the orders 1, 2, 3, ..."""
    chosen = np.arange(2.0, len(values) + 1.0)
    exponents = (chosen - 1.0) * values[1:]
    terms = exponents + np.minimum(math.log(2.0), chosen * log_gap)
    if len(terms):
        terms[0] = min(terms[0], math.log(4.0) + float(log_expm1(np.asarray(values[1]))))
    return terms + 2.0**-48 * (1.0 + np.where(np.isfinite(terms), np.abs(terms), 0.0))


def _even_moments(mu: float) -> Floats:
    """Logarithms of E[(L - 1)^l] for even l, rounded up; infinite at odd l."""
    logs = np.full(_LARGEST_MOMENT + 1, math.inf)
    logs[0] = 0.0
    end = _LARGEST_MOMENT * mu + 0.5 * mu + _MOMENT_END
    points = np.arange(-_MOMENT_END, end + _STEP, _STEP)
    with np.errstate(divide="ignore"):
        distances = np.log(np.abs(np.expm1(mu * points - 0.5 * mu * mu)))
    density = -0.5 * points * points - 0.5 * math.log(2.0 * math.pi)
    fall = _MOMENT_END - _LARGEST_MOMENT / _MOMENT_END
    edges = math.log(-math.expm1(-fall * _STEP))
    for power in range(2, _LARGEST_MOMENT + 1, 2):
        terms = power * distances + density
        ends = np.array([terms[0] - edges, terms[-1] - edges])
        growth = 0.5 * power * (power - 1.0) * mu * mu
        # Twice the bound of (L + 1)^power in the strip of half-width 2 pi / step.
        missed = math.log(2.0) + power * math.log(2.0) + growth - 2.0 * (math.pi / _STEP) ** 2
        total = math.log(_STEP) + log_sum(np.concatenate([terms, ends]))
        logs[power] = log_sum(np.array([total, missed])) + ALLOWANCE * (1.0 + end * end + power)
    return logs


# Below it the curve is read at this order, which bounds it because curves grow with the order.
_SMALLEST_ORDER = 1.0 + 2.0**-10
# exp(-80) relative to the moment is what the trapezoidal rule may miss.
_STRIP_EXPONENT = 80.0
_END = 14.0
_LOG_SQRT_TWO_PI = 0.5 * math.log(2.0 * math.pi)


def poisson_gaussian(orders: ArrayLike, mu: float, sampling_rate: float) -> Floats:
    r"""Return the curve of a Poisson-sampled Gaussian release.

    .. math:: r(\alpha) = \frac{\log E[(1 - q + qL)^\alpha]}{\alpha - 1}, \; L = e^{\mu X - \mu^2/2}, \; X \sim N(0, 1)

    The moment minus 1 is summed from positive parts: binomially at integer orders, by the
    trapezoidal rule at fractional orders and mu up to 8, and by a series of Mills ratios beyond.

    Guarantee: never below the divergence in either direction, for add-remove and zero-out only. At most a relative 1e-8
    above the first one for mu up to 8, orders from 1.001 to 32 and integers to 2^15, wherever the curve is above 1e-20;
    at most 1e-4 for larger mu and rates from 1e-6. The plain Gaussian curve at rate 1, zero at rate 0, and never above
    the plain curve.
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
    if order > 32.0:
        # Between integers, because the logarithm of a moment is convex in the order.
        part = order - lower
        below, above = _at_integer(lower, mu, rate), _at_integer(lower + 1, mu, rate)
        return (1.0 - part) * below + part * above
    if mu <= 8.0:
        return _by_quadrature(order, mu, rate)
    return _by_series(order, mu, rate)


def _at_integer(order: int, mu: float, rate: float) -> float:
    if order > 2**15:
        # The unsampled curve is used instead, which is an upper bound.
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
    number = math.ceil(order) + 256
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
