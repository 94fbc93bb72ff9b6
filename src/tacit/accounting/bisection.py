"""Bisection of a monotone condition between two numbers."""

from __future__ import annotations

from collections.abc import Callable


def bisect(
    low: float, high: float, holds: Callable[[float], bool], accuracy: float
) -> tuple[float, float]:
    """Return ends of a bracket, relatively `accuracy` wide, around the number where `holds` begins.

    Guarantee
    ---------
    - The upper end is `high` or a number at which the condition was seen to hold; the lower end is
      `low` or a number at which it was seen not to hold.
    """
    while high - low > accuracy * high:
        middle = 0.5 * (low + high)
        if holds(middle):
            high = middle
        else:
            low = middle
    return low, high
