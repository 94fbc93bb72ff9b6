r"""Rényi curves of any mechanism on a Poisson sample, and of draws with replacement.

`poisson` holds for add-remove and zero-out, given a base curve under the same relation;
`with_replacement_gaussian` for replace-one. Amplification counts once for each fresh sample: a
sample that is used for several releases is one mechanism, whose base curve is the sum of theirs.

References
----------
Zhu and Wang (2019), "Poisson subsampled Rényi differential privacy", Theorem 5.
Proofs: ``proofs/accounting/renyi/amplification.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.accounting.renyi._arguments import (
    ALLOWANCE,
    UNDERFLOW,
    Floats,
    as_orders,
    count,
    log_expm1,
    log_one_plus,
    log_sum,
    non_negative,
    probability,
    raised,
)
from tacit.accounting.renyi.curve import Curve

# A bound of the log-moment at an integer order, from the base curve at the orders 1 .. order.
MomentBound: TypeAlias = Callable[[int, Floats], float]
# Above it the curve without amplification is used.
LARGEST_ORDER = 1024


def poisson(orders: ArrayLike, curve: Curve, sampling_rate: float) -> Floats:
    r"""Return the curve of a mechanism on a Poisson sample of rate q.

    At integer orders the mixture against the base costs

    .. math:: A_1 = \sum_{j=0}^{\alpha} \binom{\alpha}{j} (1 - q)^{\alpha - j} q^j
        e^{(j - 1) r(j)},

    and the base against the mixture at most the least of
    :math:`1 + \binom{\alpha}{2} q^2 (1 - q)^{-\alpha - 1} (e^{r(2)} - 1)`,
    :math:`1 - q + q e^{(\alpha - 1) r(\alpha)}`, and :math:`A_1` with the terms from j = 3 on
    counted three times.

    Guarantee
    ---------
    - Never below the divergence in either direction for add-remove and zero-out, whatever the
      mechanism with the given curve.
    - Never above the base curve; equal to it at rate 1, zero at rate 0.

    Parameters
    ----------
    orders
        At least 1; between integers the logarithm of the moment is interpolated.
    curve
        The base curve under add-remove, valid in both directions.
    sampling_rate
        Probability q of each record, in [0, 1].

    Examples
    --------
    >>> from functools import partial
    >>> from tacit.accounting.renyi.noise import laplace
    >>> value = poisson(2.0, partial(laplace, epsilon=1.0), sampling_rate=0.1)
    >>> bool(value < 0.1 * laplace(2.0, epsilon=1.0))
    True
    """
    array, rate = as_orders(orders), probability("sampling_rate", sampling_rate)
    if rate == 0.0:
        return np.zeros_like(array)
    base = np.asarray(curve(array), dtype=np.float64)
    if rate == 1.0:
        return base
    moments = log_moments_at(
        array, lambda order, values: _poisson_moment(order, values, rate), curve
    )
    return np.minimum(base, interpolated(array, moments))


def with_replacement_gaussian(
    orders: ArrayLike, mu: float, records: int, draws: int, most: int | None = None
) -> Floats:
    r"""Return the curve of a Gaussian release on records drawn with replacement, replace-one.

    .. math:: r(\alpha) = \frac{1}{\alpha - 1} \log \sum_{k=0}^{m} \binom{m}{k} n^{-k}
        (1 - 1/n)^{m - k} e^{\alpha(\alpha - 1) k^2 \mu^2 / 2}

    A record drawn k times moves the sum by k times its share. This follows from joint convexity
    alone and shrinks like m/n, not like its square: `tacit.accounting.classical.subsampling` has
    the bound on (epsilon, delta).

    Guarantee
    ---------
    - Never below the divergence for replace-one; with `most`, given that no more copies are drawn.

    Parameters
    ----------
    orders
        At least 1.
    mu
        Replace-one sensitivity of one drawn record's contribution over noise scale.
    records, draws
        Public numbers of records n and of draws m.
    most
        Copies beyond this number are left out: their probability, at most 2^-50, is to be charged
        as a leak.

    Examples
    --------
    >>> value = with_replacement_gaussian(2.0, mu=0.1, records=1000, draws=10)
    >>> bool(value < 0.0002)
    True
    """
    array, mu = as_orders(orders), non_negative("mu", mu)
    records, draws = count("records", records), count("draws", draws)
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


def log_moments_at(orders: Floats, moment: MomentBound, curve: Curve) -> dict[int, float]:
    """Bound the logarithm of the moment at every integer order next to the given ones."""
    lower = np.floor(orders[orders <= LARGEST_ORDER]).astype(int)
    needed = sorted({int(order) for order in lower} | {int(order) + 1 for order in lower})
    needed = [order for order in needed if 2 <= order <= LARGEST_ORDER]
    if not needed:
        return {1: 0.0}
    values = np.asarray(curve(np.arange(1.0, needed[-1] + 1.0)), dtype=np.float64)
    return {1: 0.0} | {order: moment(order, values[:order]) for order in needed}


def interpolated(orders: Floats, moments: dict[int, float]) -> Floats:
    """Return the curve whose log-moment is the chord between integers, infinite where unknown."""

    def at(order: float) -> float:
        lower = math.floor(order)
        if lower not in moments:
            return math.inf
        part = order - lower
        if part == 0.0 and lower > 1:
            return moments[lower] / (order - 1.0)
        above = moments.get(lower + 1, math.inf)
        if lower == 1:
            return above
        return ((1.0 - part) * moments[lower] + part * above) / (order - 1.0)

    return raised(np.array([at(float(order)) for order in orders.ravel()]).reshape(orders.shape))


def _poisson_moment(order: int, values: Floats, rate: float) -> float:
    """Upper bound of the log-moment at an integer order, from the curve at 1 .. order."""
    chosen = np.arange(2.0, order + 1.0)
    log_rate, log_rest = math.log(rate), math.log1p(-rate)
    whole = float(special.gammaln(order + 1.0))
    gammas = special.gammaln(chosen + 1.0) + special.gammaln(order - chosen + 1.0)
    exponents = (chosen - 1.0) * values[1:]
    if not np.all(np.isfinite(exponents)):
        return math.inf
    weights = whole - gammas + chosen * log_rate + (order - chosen) * log_rest
    sizes = 3.0 * whole - chosen * log_rate - (order - chosen) * log_rest + exponents + 1.0
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
