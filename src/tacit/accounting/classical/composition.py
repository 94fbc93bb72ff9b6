r"""Basic and advanced composition of (epsilon, delta) guarantees, rounded up.

The mechanisms may be chosen adaptively; all guarantees are for one and the same relation.

References
----------
Dwork, Rothblum and Vadhan (2010), "Boosting and differential privacy", Theorem III.3.
Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy", Theorem 3.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tacit.accounting.renyi._arguments import ALLOWANCE, count, non_negative, probability
from tacit.errors import BudgetError


def basic(epsilons: Sequence[float], deltas: Sequence[float]) -> tuple[float, float]:
    r"""Return the sum of guarantees, :math:`(\sum\varepsilon_i, 1 - \prod(1 - \delta_i))`.

    Guarantee
    ---------
    - Never below the exact sum; delta is never above the sum of the deltas.

    Examples
    --------
    >>> basic([0.25, 0.5], [0.0, 0.0])
    (0.75, 0.0)
    """
    _paired(epsilons, deltas)
    return _sum_up(epsilons), _joint_delta(deltas, 0.0)


def advanced(epsilon: float, delta: float, times: int, slack_delta: float) -> tuple[float, float]:
    r"""Return k-fold advanced composition of one (epsilon, delta) guarantee.

    .. math:: \varepsilon' = \min\Bigl\{k\varepsilon,\ k\varepsilon\tanh(\varepsilon/2)
        + \varepsilon\sqrt{2k\log(1/\delta')}\Bigr\}, \qquad
        1 - (1 - \delta)^k (1 - \delta')

    Guarantee
    ---------
    - Equal to `advanced_heterogeneous` of k equal parts, and never above basic composition in
      epsilon.

    Parameters
    ----------
    epsilon, delta
        Of each mechanism.
    times
        Number of mechanisms k.
    slack_delta
        The additional delta' in (0, 1).

    Examples
    --------
    >>> epsilon, delta = advanced(0.1, 0.0, 100, 1e-6)
    >>> round(epsilon, 4), round(delta, 8)
    (5.7561, 1e-06)
    """
    epsilon, times = non_negative("epsilon", epsilon), count("times", times)
    delta, slack = probability("delta", delta), _slack(slack_delta)
    if epsilon == 0.0:
        return 0.0, _power_delta(delta, times, 0.0)
    mean = times * epsilon * math.tanh(0.5 * epsilon)
    spread = epsilon * math.sqrt(2.0 * times * -math.log(slack))
    total, whole = (mean + spread) * (1.0 + ALLOWANCE), times * epsilon * (1.0 + ALLOWANCE)
    # The sum needs no slack, but the pair is stated with it so that epsilon alone decides.
    return min(total, whole), _power_delta(delta, times, slack)


def advanced_heterogeneous(
    epsilons: Sequence[float], deltas: Sequence[float], slack_delta: float
) -> tuple[float, float]:
    r"""Return advanced composition of different guarantees.

    .. math:: \varepsilon' = \min\Bigl\{\sum\varepsilon_i,\ \sum\varepsilon_i\tanh(\varepsilon_i/2)
        + \sqrt{2\log(1/\delta') \textstyle\sum\varepsilon_i^2}\Bigr\}, \qquad
        1 - (1 - \delta')\prod(1 - \delta_i)

    The logarithm in the second term and the factor tanh in the first are what shipped formulas
    have left out or got wrong: both are checked against a table.

    Guarantee
    ---------
    - Never below the exact expression, nor above it by more than a relative 1e-12.

    Examples
    --------
    >>> epsilon, delta = advanced_heterogeneous([0.1] * 100, [0.0] * 100, 1e-6)
    >>> round(epsilon, 4)
    5.7561
    """
    _paired(epsilons, deltas)
    slack = _slack(slack_delta)
    mean = _sum_up([part * math.tanh(0.5 * part) for part in epsilons])
    squares = _sum_up([part * part for part in epsilons])
    spread = math.sqrt(2.0 * -math.log(slack) * squares)
    total = (mean + spread) * (1.0 + ALLOWANCE)
    return min(total, _sum_up(epsilons)), _joint_delta(deltas, slack)


def even_split(epsilon: float, delta: float, parts: int) -> tuple[float, float]:
    r"""Return the share of each of k parts under basic composition, for comparison.

    Guarantee
    ---------
    - `basic` composition of k shares stays within epsilon and delta.

    Examples
    --------
    >>> share = even_split(1.0, 1e-6, 10)
    >>> basic([share[0]] * 10, [share[1]] * 10)[0] <= 1.0
    True
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    parts = count("parts", parts)
    return epsilon / parts * (1.0 - ALLOWANCE), delta / parts * (1.0 - ALLOWANCE)


def advanced_split(epsilon: float, delta: float, parts: int) -> tuple[float, float]:
    r"""Return the share of each of k parts under advanced composition, for comparison.

    Half of delta is the slack and half is divided; the share of epsilon is the largest one whose
    advanced composition stays within epsilon. Gaussian releases composed exactly are far better.

    Guarantee
    ---------
    - `advanced` composition of k shares at slack delta/2 stays within epsilon and delta.

    Examples
    --------
    >>> share, _ = advanced_split(1.0, 1e-6, 100)
    >>> advanced(share, 0.0, 100, 5e-7)[0] <= 1.0
    True
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    parts, slack = count("parts", parts), _slack(0.5 * delta)
    low, high = epsilon / parts * (1.0 - 2.0 * ALLOWANCE), epsilon
    if advanced(high, 0.0, parts, slack)[0] <= epsilon:
        low = high
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if advanced(middle, 0.0, parts, slack)[0] <= epsilon:
            low = middle
        else:
            high = middle
    return low, slack / parts * (1.0 - ALLOWANCE)


def _sum_up(parts: Sequence[float]) -> float:
    """Sum of non-negative numbers, rounded up."""
    total = math.fsum(parts)
    # fsum rounds the exact sum once, so its sign tells on which side the total lies.
    below = not math.isinf(total) and math.fsum([*parts, -total]) > 0.0
    return math.nextafter(total, math.inf) if below else total


def _joint_delta(deltas: Sequence[float], slack: float) -> float:
    """1 - (1 - slack) prod(1 - delta_i), rounded up."""
    parts = [*deltas, slack]
    if any(part >= 1.0 for part in parts):
        return 1.0
    logarithm = math.fsum(math.log1p(-part) for part in parts)
    return _delta_up(logarithm, _sum_up(parts))


def _power_delta(delta: float, times: int, slack: float) -> float:
    if max(delta, slack) >= 1.0:
        return 1.0
    whole = (times * delta + slack) * (1.0 + ALLOWANCE)
    return _delta_up(times * math.log1p(-delta) + math.log1p(-slack), whole)


def _delta_up(logarithm: float, largest: float) -> float:
    # Denormal deltas keep few digits, so the sum is taken where the product says nothing.
    value = -math.expm1(logarithm) * (1.0 + ALLOWANCE) + math.ulp(0.0)
    return min(value, largest, 1.0)


def _paired(epsilons: Sequence[float], deltas: Sequence[float]) -> None:
    if len(epsilons) != len(deltas):
        raise BudgetError("there are not as many deltas as epsilons; expected one for each")
    for part in epsilons:
        non_negative("epsilon", part)
    for part in deltas:
        probability("delta", part)


def _slack(value: float) -> float:
    number = float(value)
    if not 0.0 < number < 1.0:
        raise BudgetError(f"slack_delta is {number!r}; expected a number above 0 and below 1")
    return number
