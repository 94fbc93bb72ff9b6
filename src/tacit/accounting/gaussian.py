r"""The exact privacy curve of a Gaussian release, rounded to the safe side.

With :math:`\mu = \text{sensitivity} / \text{noise scale}`, :math:`u = \varepsilon/\mu - \mu/2` and
the Mills ratio R, the curve is :math:`\delta_G = \varphi(u)\,[R(u) - R(u + \mu)]`
(Balle and Wang 2018, Theorem 8). Error bounds: ``proofs/accounting/gaussian.md``.
"""

import math

import numpy as np
from scipy import special

from tacit.accounting.rounding import non_negative, probability

# Relative error allowed to one special function with its rounded argument, and to a short chain
# of float operations. The largest measured error of erfcx is 8 units of 2^-53; this is 64.
_ALLOWANCE = 2.0**-47
# Relative error of u: one division, one subtraction, one addition of the error itself.
_ROUNDING = 2.0**-51
# exp(-39^2 / 2) is below the smallest float, which is then the upper bound.
_LARGEST_U = 39.0
_SMALLEST = math.ulp(0.0)
_SQRT_HALF = math.sqrt(0.5)
_SQRT_TWO_PI = math.sqrt(2.0 * math.pi)
# Ten Gauss nodes on intervals of length at most 1 leave a relative error below 2^-55.
_LONGEST_QUADRATURE = 1.0
_LEGENDRE = np.polynomial.legendre.leggauss(10)
_NODES, _WEIGHTS = 0.5 + 0.5 * _LEGENDRE[0], 0.5 * _LEGENDRE[1]
# What `mu` gives away so that `epsilon` of its answer cannot land above through rounding noise.
_MARGIN = 2.0**-40
_MOST_STEPS = 40


def delta(epsilon: float, mu: float) -> float:
    r"""Return the delta of a Gaussian release at epsilon, rounded up.

    .. math:: \delta_G(\varepsilon) = \Phi(-\varepsilon/\mu + \mu/2) - e^{\varepsilon} \Phi(-\varepsilon/\mu - \mu/2)

    Guarantee: never below the exact value. At most 1e-9 above it, relatively, wherever the exact value is at least
    1e-300 and mu at most 1e3; hence monotone in both arguments up to that factor. No overflow, NaN or warning for any
    non-negative arguments, infinite ones included. At infinite epsilon nothing is promised and delta is 0.
    """
    return _curve(non_negative("epsilon", epsilon), non_negative("mu", mu))[0]


def epsilon(mu: float, delta: float) -> float:
    """Return the smallest safe epsilon of a Gaussian release at delta, rounded up.

    Guarantee: ``delta(epsilon(mu, d), mu) <= d`` in floating point, so the answer is never too small. 0 if d is at
    least the total variation distance ``delta(0, mu)``. ``epsilon(mu(e, d), d) <= e``. Infinite at d = 0, where nothing
    is promised.
    """
    mu, delta = non_negative("mu", mu), probability("delta", delta)
    if _curve(0.0, mu)[0] <= delta:
        return 0.0
    if delta == 0.0 or math.isinf(mu):
        return math.inf
    candidate = max(mu * (_quantile(delta) + 0.5 * mu), 0.0)
    for _ in range(_MOST_STEPS):
        value, density = _curve(candidate, mu)
        slope = density * _mills(candidate / mu + 0.5 * mu)
        if slope <= 0.0:
            break
        excess = math.log(value) - math.log(delta)
        step = excess * value / slope
        candidate = max(candidate + step, 0.0)
        if abs(excess) <= _ROUNDING or abs(step) <= _ROUNDING * candidate:
            break
    candidate = max(candidate, 1e-300)
    growth = 0.5 * _ROUNDING
    while _curve(candidate, mu)[0] > delta:
        candidate *= 1.0 + growth
        growth *= 2.0
    return candidate


def mu(epsilon: float, delta: float) -> float:
    """Return the largest safe mu for a budget of epsilon and delta, rounded down.

    Guarantee: ``delta(e, mu(e, d)) <= d`` and ``epsilon(mu(e, d), d) <= e`` in floating point. At most a relative 1e-9
    below the exact value, for e in [1e-4, 1e3] and d in [1e-30, 0.99].
    """
    budget, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    if math.isinf(budget) or delta >= 1.0:
        return math.inf
    if delta == 0.0:
        return 0.0
    candidate = _largest_mu(budget, delta)
    margin = _MARGIN
    while True:
        candidate *= 1.0 - margin
        if _curve(budget, candidate)[0] <= delta and _smallest_epsilon(candidate, delta) <= budget:
            return candidate
        margin = min(2.0 * margin, 0.5)


# The public functions shadow each other's names as arguments, as the mathematics does.
_smallest_epsilon = epsilon


def _largest_mu(epsilon: float, delta: float) -> float:
    """Solve the curve for mu, to the accuracy of the curve but on neither side for certain."""
    quantile = _quantile(delta)
    root = math.hypot(quantile, math.sqrt(2.0) * math.sqrt(epsilon))
    # Both starts are safe: the curve is at most Phi(-u) and at most mu / sqrt(2 pi).
    first = 2.0 * (epsilon / (quantile + root)) if quantile > 0.0 else root - quantile
    candidate = max(first, delta * _SQRT_TWO_PI)
    safe, unsafe = 0.0, math.inf
    for _ in range(_MOST_STEPS):
        value, density = _curve(epsilon, candidate)
        if value <= delta:
            safe = max(safe, candidate)
        else:
            unsafe = min(unsafe, candidate)
        excess = math.log(value) - math.log(delta)
        slope = density * candidate / value
        if abs(excess) <= _ROUNDING or slope <= 0.0:
            break
        step = -excess / slope
        following = candidate * math.exp(min(step, 1.0)) if step > -1.0 else 0.5 * candidate
        if not safe < following < unsafe:
            following = 0.5 * (safe + unsafe) if math.isfinite(unsafe) else 2.0 * candidate
        if abs(following - candidate) <= _ROUNDING * candidate:
            break
        candidate = following
    return candidate


def _curve(epsilon: float, mu: float) -> tuple[float, float]:
    """Return an upper bound of the curve, and the density at u that its derivatives need."""
    if mu == 0.0 or math.isinf(epsilon):
        return 0.0, 0.0
    if math.isinf(mu):
        return 1.0, 0.0
    ratio, half = epsilon / mu, 0.5 * mu
    if math.isinf(ratio):
        return _SMALLEST, 0.0
    # The curve falls as u grows with mu fixed, so a u that is too small is safe.
    u = (ratio - half) - _ROUNDING * (ratio + half)
    if u > _LARGEST_U:
        return _SMALLEST, 0.0
    if u < -_LARGEST_U:
        return 1.0, 0.0
    exponent = 0.5 * u * u
    density = math.exp(-exponent) / _SQRT_TWO_PI
    slack = _ALLOWANCE + _ROUNDING * exponent
    if mu <= _LONGEST_QUADRATURE:
        # The difference of Mills ratios as the integral of -R'(t) = 1 - t R(t): no cancellation.
        points = u + mu * _NODES
        ratios = math.sqrt(0.5 * math.pi) * special.erfcx(_SQRT_HALF * points)
        mean = float(_WEIGHTS @ (1.0 - points * ratios))
        value = density * (mu * (mean + _ALLOWANCE))
    elif u >= 0.0:
        above, below = _mills(u), _mills(u + mu)
        value = density * (above - below + _ALLOWANCE * (above + below))
    else:
        tail = 0.5 * math.erfc(_SQRT_HALF * u)
        value = tail - density * _mills(u + mu) * (1.0 - slack)
    return min(value * (1.0 + slack) + 4.0 * _SMALLEST, 1.0), density


def _mills(point: float) -> float:
    """Mills ratio of the normal distribution, Phi(-t) / phi(t)."""
    return math.sqrt(0.5 * math.pi) * float(special.erfcx(_SQRT_HALF * point))


def _quantile(delta: float) -> float:
    """Return about the u with Phi(-u) = delta, at which the curve is at most delta."""
    # Below 1e-300 the density is denormal and useless to Newton; the end of the range is safe.
    return float(-special.ndtri(delta)) if delta >= 1e-300 else _LARGEST_U + 0.5
