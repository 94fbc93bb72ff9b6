r"""Rényi curves of objective perturbation with Gaussian noise.

The minimiser of ``sum of losses + l2/2 |theta|^2 + noise . theta`` has privacy loss at most
:math:`Y = c + \max(0, V)` with :math:`V \sim N(\mu^2/2, \mu^2)` if the derivative of the loss has
one sign given the record, and at most :math:`Y = c + \mu^2/2 + |A|` with :math:`A \sim N(0, \mu^2)`
if it has two. Here c, `determinant`, bounds the logarithm of the determinant ratio, for example
log(1 + beta/l2), and mu is gradient sensitivity over noise scale under the relation of the
guarantee. Objective perturbation is **not** mu-GDP: never add its mu to other squares.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from tacit.accounting.arguments import Floats, as_orders, non_negative
from tacit.accounting.renyi.log_moments import log_one_plus
from tacit.accounting.rounding import ALLOWANCE, raised

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
# Sixteen nodes on a width of 1 of the normal density err by less than 2^-60 relatively.
_LONGEST_QUADRATURE = 1.0


def one_signed_objective(orders: ArrayLike, determinant: float, mu: float) -> Floats:
    r"""Return the curve of objective perturbation for losses with a one-signed derivative.

    .. math:: r(\alpha) = c + \frac{1}{\alpha - 1} \log\left[ \Phi(-\mu/2)
        + e^{\alpha(\alpha - 1)\mu^2/2}\, \Phi(\mu(\alpha - \tfrac12)) \right]

    Guarantee
    ---------
    - The Rényi divergence of the dominating loss c + max(0, V), rounded up, in both directions.
    - Between c + the Gaussian curve and c + the Gaussian curve + log(2)/(alpha - 1).
    """
    array = as_orders(orders)
    determinant, mu = non_negative("determinant", determinant), non_negative("mu", mu)
    flat = np.array([_one_signed(float(order), mu) for order in array.ravel()])
    return raised(determinant + flat.reshape(array.shape))


def two_signed_objective(orders: ArrayLike, determinant: float, mu: float) -> Floats:
    r"""Return the curve of objective perturbation for losses with a two-signed derivative.

    .. math:: r(\alpha) = c + \alpha\mu^2/2 + \frac{\log(2\Phi((\alpha - 1)\mu))}{\alpha - 1}

    Guarantee
    ---------
    - The Rényi divergence of the dominating loss c + mu^2/2 + |A|, rounded up.
    - Never below the one-signed curve.

    Reference: Redberg, Koskela and Wang (2023), Theorem 3.2, with a tighter c.
    """
    array = as_orders(orders)
    determinant, mu = non_negative("determinant", determinant), non_negative("mu", mu)
    if math.isinf(mu):
        return np.full_like(array, math.inf)
    excess = array - 1.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # log(2 Phi(x)) = log1p(erf(x / sqrt 2)) keeps its digits near 0.
        fold = np.log1p(special.erf(excess * mu * math.sqrt(0.5))) / excess
        fold = np.where(excess > 0.0, fold, mu * math.sqrt(2.0 / math.pi))
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
