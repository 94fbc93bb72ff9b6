r"""The optimal composition of k equal (epsilon, delta) guarantees.

Leaky randomised response is the worst mechanism with a given epsilon and delta. Its k-fold
composition has

.. math:: \delta_k(\varepsilon') = 1 - (1 - \delta)^k (1 - h(\varepsilon')), \qquad
    h(\varepsilon') = \sum_{l:\ (k - 2l)\varepsilon > \varepsilon'} \binom{k}{l} p^l (1 - p)^{k - l}
    \bigl(1 - e^{\varepsilon' - (k - 2l)\varepsilon}\bigr), \quad p = \frac{1}{1 + e^{\varepsilon}}.

Different guarantees compose optimally through their loss distributions, not here.

Reference: Kairouz, Oh and Viswanath (2015), Theorem 3.3.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from tacit.accounting.arguments import Floats, non_negative, probability
from tacit.accounting.bisection import bisect
from tacit.accounting.renyi.log_moments import log_sum
from tacit.accounting.rounding import ALLOWANCE
from tacit.errors import SettingError
from tacit.validate import whole

_LARGEST_COUNT = 10**7


def optimal_delta(epsilon: float, delta: float, times: int, target: float) -> float:
    """Return the delta at epsilon `target` of k mechanisms with (epsilon, delta) each.

    Guarantee
    ---------
    - Never below the optimal composition; above it by at most a relative 1e-6 for k to 1e6.
    - delta' of one mechanism at its own epsilon is its own delta.
    - Falls with `target`, grows with k, which is at most 10^7.
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    times, target = _count(times), non_negative("target", target)
    return _total(_response_delta(epsilon, times, target), delta, times)


def optimal_epsilon(epsilon: float, delta: float, times: int, target: float) -> float:
    r"""Return the epsilon at delta `target` of k mechanisms with (epsilon, delta) each.

    Guarantee
    ---------
    - ``optimal_delta(e, d, k, optimal_epsilon(e, d, k, target)) <= target``.
    - Never above basic composition, k epsilon; infinite where `target` is below
      :math:`1 - (1 - \delta)^k`.
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    times, target = _count(times), probability("target", target)
    if _total(0.0, delta, times) > target:
        return math.inf
    if math.isinf(epsilon):
        return 0.0 if target >= 1.0 else math.inf
    if optimal_delta(epsilon, delta, times, 0.0) <= target:
        return 0.0

    def fits(trial: float) -> bool:
        return optimal_delta(epsilon, delta, times, trial) <= target

    return bisect(0.0, times * epsilon * (1.0 + ALLOWANCE), fits, 1e-10)[1]


def _response_delta(epsilon: float, times: int, target: float) -> float:
    """The delta of k-fold randomised response without leak, rounded up."""
    if epsilon == 0.0 or math.isinf(target):
        return 0.0
    if math.isinf(epsilon):
        return 1.0
    rate = math.exp(-epsilon) / (1.0 + math.exp(-epsilon))
    centre = times * rate
    # Chernoff: outside this window less than twice exp(-745) of the mass.
    first = max(0, math.floor(centre - 45.0 * math.sqrt(centre) - 1.0))
    last = min(times, math.ceil(centre + 600.0 + 40.0 * math.sqrt(centre)))
    index = np.arange(float(first), float(last) + 1.0)
    losses = (times - 2.0 * index) * epsilon
    # A loss and the target may each be off by a rounding where they nearly cancel.
    gaps = losses - target + 2.0**-51 * (np.abs(losses) + target)
    with np.errstate(divide="ignore"):
        logs = _log_weights(index, times, epsilon) + np.log(-np.expm1(-np.maximum(gaps, 0.0)))
    value = math.exp(min(log_sum(logs), 0.0))
    return min(value * (1.0 + ALLOWANCE) + 8.0 * math.ulp(0.0), 1.0)


def _log_weights(index: Floats, times: int, epsilon: float) -> Floats:
    """Logarithms of the binomial probabilities, rounded up."""
    log_factorial = float(special.gammaln(times + 1.0))
    logs = log_factorial - special.gammaln(index + 1.0) - special.gammaln(times - index + 1.0)
    logs = logs - index * epsilon - times * math.log1p(math.exp(-epsilon))
    return np.asarray(
        logs + 2.0**-50 * (3.0 * log_factorial + index * epsilon + times), dtype=np.float64
    )


def _total(response: float, delta: float, times: int) -> float:
    """1 - (1 - delta)^k (1 - response), rounded up."""
    if max(response, delta) >= 1.0:
        return 1.0
    if delta == 0.0:
        return response
    logarithm = times * math.log1p(-delta) + math.log1p(-response)
    most = (times * delta + response) * (1.0 + ALLOWANCE)
    return min(-math.expm1(logarithm) * (1.0 + ALLOWANCE) + math.ulp(0.0), most, 1.0)


def _count(times: int) -> int:
    number = whole("times", times)
    if number > _LARGEST_COUNT:
        raise SettingError(
            f"times is {number}; expected at most {_LARGEST_COUNT}. Compose by mu or rho instead"
        )
    return number
