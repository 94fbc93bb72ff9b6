r"""Rényi curves on a fixed-size sample without replacement, for replace-one.

The sample is a uniformly random subset of m = qn records, n public, and the base curve holds for
replace-one on tables of m records (for sums of contributions bounded by C: sensitivity 2C).

References
----------
Wang, Balle and Kasiviswanathan (2019), "Subsampled Rényi differential privacy and analytical
moments accountant", Theorems 9 and 27. Error bounds and a restatement:
``proofs/accounting/renyi/fixed_size.md``.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.accounting.renyi._arguments import (
    ALLOWANCE,
    UNDERFLOW,
    Floats,
    as_orders,
    log_expm1,
    log_one_plus,
    log_sum,
    non_negative,
    probability,
)
from tacit.accounting.renyi.amplification import interpolated, log_moments_at
from tacit.accounting.renyi.curve import Curve
from tacit.accounting.renyi.noise import gaussian

_LARGEST_MOMENT = 64
_LARGEST_MU = 2.0
_STEP = 0.1
_REACH = 24.0


def without_replacement(
    orders: ArrayLike, curve: Curve, sampling_rate: float, pure_epsilon: float = math.inf
) -> Floats:
    r"""Return the curve of any mechanism on a sample without replacement.

    .. math:: A_\alpha = 1 + \sum_{j=2}^{\alpha} \binom{\alpha}{j} q^j c_j, \quad
        c_2 = \min\{4(e^{r(2)} - 1),\ e^{r(2)} \min(2, (e^{\varepsilon} - 1)^2)\}, \quad
        c_j = e^{(j - 1) r(j)} \min(2, (e^{\varepsilon} - 1)^j)

    Guarantee
    ---------
    - Never below the divergence for replace-one, given a base curve for replace-one.
    - Never above the base curve; equal to it at rate 1, zero at rate 0.

    Parameters
    ----------
    orders
        At least 1; between integers the logarithm of the moment is interpolated.
    curve
        The base curve under replace-one.
    sampling_rate
        The public ratio q = m/n.
    pure_epsilon
        A pure epsilon of the base mechanism if it has one.

    Examples
    --------
    >>> from tacit.accounting.renyi.bounded_loss import pure
    >>> base = partial(pure, epsilon=0.5)
    >>> bool(without_replacement(2.0, base, 0.01, pure_epsilon=0.5) < 0.001 * base(2.0))
    True
    """
    rate = probability("sampling_rate", sampling_rate)
    bound = non_negative("pure_epsilon", pure_epsilon)
    log_gap = float(log_expm1(np.asarray(bound))) if bound < math.inf else math.inf

    def log_terms(values: Floats) -> Floats:
        return _generic_terms(values, log_gap)

    return _amplified(as_orders(orders), curve, rate, log_terms)


def without_replacement_gaussian(orders: ArrayLike, mu: float, sampling_rate: float) -> Floats:
    r"""Return the curve of a Gaussian release on a sample without replacement.

    As `without_replacement`, with
    :math:`c_j = \min\{2 e^{j(j-1)\mu^2/2},\ 4\sqrt{B_{2\lfloor j/2\rfloor}B_{2\lceil j/2\rceil}}\}`
    from j = 3 on, where :math:`B_l = E[(L - 1)^l]` and :math:`L = e^{\mu X - \mu^2/2}`.

    Guarantee
    ---------
    - Never below the divergence for replace-one when mu counts the replace-one sensitivity.
    - Never above `without_replacement` of the Gaussian curve.

    Parameters
    ----------
    orders, sampling_rate
        As in `without_replacement`.
    mu
        Replace-one sensitivity (2C for a sum of contributions bounded by C) over noise scale.

    Examples
    --------
    >>> round(float(without_replacement_gaussian(2.0, mu=1.0, sampling_rate=0.01)), 6)
    0.000544
    """
    rate, mu = probability("sampling_rate", sampling_rate), non_negative("mu", mu)
    curve = partial(gaussian, mu=mu)
    moments = (
        _even_moments(mu) if 0.0 < mu <= _LARGEST_MU else np.full(_LARGEST_MOMENT + 1, math.inf)
    )

    def log_terms(values: Floats) -> Floats:
        terms = _generic_terms(values, math.inf)
        index = np.arange(3, min(len(values), _LARGEST_MOMENT - 1) + 1)
        means = 0.5 * (moments[2 * (index // 2)] + moments[2 * ((index + 1) // 2)])
        terms[1 : 1 + len(index)] = np.minimum(terms[1 : 1 + len(index)], math.log(4.0) + means)
        return terms

    return _amplified(as_orders(orders), curve, rate, log_terms)


def _amplified(orders: Floats, curve: Curve, rate: float, log_terms: Curve) -> Floats:
    """Return the lesser of the base curve and the one built from terms c_2, c_3, ..."""
    base = np.asarray(curve(orders), dtype=np.float64)
    if rate in {0.0, 1.0}:
        return np.zeros_like(orders) if rate == 0.0 else base

    def moment(order: int, values: Floats) -> float:
        chosen = np.arange(2.0, order + 1.0)
        terms = log_terms(values)
        if np.any(np.isposinf(terms)):
            return math.inf
        whole = float(special.gammaln(order + 1.0))
        gammas = special.gammaln(chosen + 1.0) + special.gammaln(order - chosen + 1.0)
        logs = whole - gammas + chosen * math.log(rate) + terms
        sizes = 3.0 * whole - chosen * math.log(rate) + 1.0
        excess = log_sum(logs + 2.0**-48 * sizes)
        return log_one_plus(excess) * (1.0 + ALLOWANCE) + UNDERFLOW

    return np.minimum(base, interpolated(orders, log_moments_at(orders, moment, curve)))


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
    end = _LARGEST_MOMENT * mu + 0.5 * mu + _REACH
    points = np.arange(-_REACH, end + _STEP, _STEP)
    with np.errstate(divide="ignore"):
        distances = np.log(np.abs(np.expm1(mu * points - 0.5 * mu * mu)))
    density = -0.5 * points * points - 0.5 * math.log(2.0 * math.pi)
    fall = _REACH - _LARGEST_MOMENT / _REACH
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
