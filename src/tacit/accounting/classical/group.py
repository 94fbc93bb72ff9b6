r"""Guarantees for groups of records, from guarantees for one record.

References
----------
Vadhan (2017), "The complexity of differential privacy", Lemma 2.2.
Dong, Roth and Su (2022), "Gaussian differential privacy", Theorem 2.14.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tacit.accounting.renyi._arguments import ALLOWANCE, count, non_negative, probability

_LARGEST_EXPONENT = 709.0


def group_approximate(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    r"""Return the guarantee of k records from an (epsilon, delta) guarantee of one.

    .. math:: \Bigl(k\varepsilon,\ \frac{e^{k\varepsilon} - 1}{e^{\varepsilon} - 1}\,\delta\Bigr)

    From add-remove to replace-one it is the case k = 2: :math:`(2\varepsilon, (1 +
    e^{\varepsilon})\delta)`.

    Guarantee
    ---------
    - Rounded up; delta is at most 1.

    Examples
    --------
    >>> epsilon, delta = group_approximate(0.5, 1e-6, 2)
    >>> round(epsilon, 6), round(delta, 12)
    (1.0, 2.648721e-06)
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    size = count("size", size)
    return _times(size, epsilon), _weighted(size, epsilon, delta)


def group_gaussian(mu: float, size: int) -> float:
    r"""Return the mu of k records, :math:`k\mu`, rounded up.

    Guarantee
    ---------
    - Attained by the Gaussian mechanism.

    Examples
    --------
    >>> round(group_gaussian(0.1, 3), 9)
    0.3
    """
    return _times(count("size", size), non_negative("mu", mu))


def group_profile(profile: Callable[[float], float], size: int, epsilon: float) -> float:
    r"""Return the delta of k records at epsilon, from the profile delta(.) of one.

    .. math:: \delta_k(\varepsilon) \le \frac{e^{\varepsilon} - 1}{e^{\varepsilon/k} - 1}\,
        \delta(\varepsilon/k)

    Guarantee
    ---------
    - Never below the true delta of the group if the profile is never below that of one record.

    Parameters
    ----------
    profile
        Non-increasing upper bound of delta at each epsilon.
    size
        Number of records k.
    epsilon
        At least 0.

    Examples
    --------
    >>> group_profile(lambda epsilon: 1e-6, size=1, epsilon=2.0) < 1.001e-6
    True
    """
    epsilon, size = non_negative("epsilon", epsilon), count("size", size)
    if math.isinf(epsilon):
        return 0.0
    share = epsilon / size * (1.0 - 2.0**-52)
    return _weighted(size, share * (1.0 + 2.0**-50), probability("delta", profile(share)))


def _times(size: int, amount: float) -> float:
    return amount if size == 1 else size * amount * (1.0 + 2.0**-52)


def _weighted(size: int, epsilon: float, delta: float) -> float:
    """Delta (1 + e^epsilon + ... + e^((k - 1) epsilon)), rounded up and cut at 1."""
    if delta == 0.0:
        return 0.0
    if size == 1:
        return delta
    exponent = size * epsilon
    if exponent > _LARGEST_EXPONENT:
        # The largest of k terms in logarithms: the product with delta may still be small.
        logarithm = math.log(size) + (size - 1) * epsilon + math.log(delta)
        return math.exp(logarithm) * (1.0 + 1e-9) if logarithm < -1e-6 else 1.0
    weight = math.expm1(exponent) / math.expm1(epsilon) if epsilon > 0.0 else float(size)
    return min(weight * delta * (1.0 + ALLOWANCE) + math.ulp(0.0), 1.0)
