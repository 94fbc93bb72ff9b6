"""Textbook formulas for comparison only: nothing in the library calls them.

The library calibrates with the exact curve, `tacit.accounting.gaussian.mu`, which needs less noise
and holds for every epsilon, and composes Gaussian releases exactly.
"""

from __future__ import annotations

import math

from tacit.accounting.arguments import non_negative, probability
from tacit.accounting.rounding import ALLOWANCE
from tacit.errors import BudgetError
from tacit.validate import whole


def classical_gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    r"""Return the textbook noise scale of the Gaussian mechanism, valid for epsilon below 1 only.

    .. math:: \sigma = \frac{\Delta}{\varepsilon}\sqrt{2\log(1.25/\delta)}, \qquad
        0 < \varepsilon < 1

    Guarantee
    ---------
    - Refused for epsilon of 1 and above, where the formula is no theorem and from some epsilon on
      false.
    - Rounded up, and always above the exact scale.

    Reference: Dwork and Roth (2014), Theorem A.1.

    Examples
    --------
    >>> round(classical_gaussian_sigma(0.5, 1e-5), 4)
    9.6896
    """
    epsilon, delta = float(epsilon), float(delta)
    if not 0.0 < epsilon < 1.0:
        raise BudgetError(
            f"epsilon is {epsilon!r}; the textbook formula holds above 0 and below 1 only. "
            "Use the exact curve: tacit.accounting.gaussian.mu(epsilon, delta)"
        )
    if not 0.0 < delta < 1.0:
        raise BudgetError(f"delta is {delta!r}; expected a number above 0 and below 1")
    scale = non_negative("sensitivity", sensitivity) / epsilon
    return scale * math.sqrt(2.0 * (math.log(1.25) - math.log(delta))) * (1.0 + ALLOWANCE)


def even_split(epsilon: float, delta: float, parts: int) -> tuple[float, float]:
    """Return the share (epsilon / k, delta / k) of each of k releases under basic composition.

    Guarantee
    ---------
    - k shares add up to at most epsilon and delta.
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    parts = whole("parts", parts)
    return epsilon / parts * (1.0 - ALLOWANCE), delta / parts * (1.0 - ALLOWANCE)
