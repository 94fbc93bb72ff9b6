r"""Rényi curves of pure privacy and of bounded range.

Permute-and-flip is epsilon-private but **not** epsilon-bounded-range: use `pure` for it, never
`bounded_range`. The exponential mechanism and report-noisy-max with Gumbel noise are
bounded-range.

References
----------
Bun and Steinke (2016), "Concentrated differential privacy", Proposition 3.3.
Dong, Durfee and Rogers (2020), "Optimal differential privacy composition for exponential
mechanisms", Lemma 3.2. Cesar and Rogers (2021), "Bounding, concentrating, and truncating",
Lemma 3.4.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tacit.accounting.renyi._arguments import ALLOWANCE, Floats, as_orders, non_negative, raised

# Above this product of order and epsilon the hyperbolic form could overflow.
_HYPERBOLIC_UP_TO = 30.0
_SMALLEST_ORDER = 1.0 + 2.0**-14


def pure(orders: ArrayLike, epsilon: float) -> Floats:
    r"""Return the best curve that every epsilon-private mechanism has.

    .. math:: r(\alpha) = \varepsilon - \frac{1}{\alpha - 1}
        \log\frac{1 + e^{-\varepsilon}}{1 + e^{-(2\alpha - 1)\varepsilon}}

    Guarantee
    ---------
    - Attained by randomised response, so no better curve exists; never above epsilon.
    - At order 1 it is :math:`\varepsilon\tanh(\varepsilon/2)`, and it never exceeds
      :math:`\alpha\varepsilon\tanh(\varepsilon/2)`.

    Examples
    --------
    >>> round(float(pure(2.0, epsilon=1.0)), 6)
    0.735326
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

    A mechanism has range eta if its privacy loss lies in an interval of length eta for each pair of
    neighbours. With :math:`c = (e^{\alpha\eta} - 1)/(e^{\eta} - 1)` and
    :math:`a = c(\alpha - 1)/(\alpha(c - 1))`,

    .. math:: r(\alpha) = \log a + \frac{\log(c/\alpha)}{\alpha - 1}
        \le \min(\alpha\eta^2/8,\ \eta).

    The exponential mechanism :math:`\propto \exp(\eta\, u/(2\Delta))` has range eta (half of that
    for scores that only move one way).

    Guarantee
    ---------
    - Attained by a two-point mechanism, so no better curve exists; never above
      :math:`\alpha\eta^2/8`, the curve of :math:`\eta^2/8`-zCDP.
    - Not for permute-and-flip, which has no such range.

    Examples
    --------
    >>> round(float(bounded_range(2.0, eta=1.0)), 6)
    0.240229
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
