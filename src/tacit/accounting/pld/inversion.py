"""Epsilon at delta from a composed law: a root on the safe side."""

from __future__ import annotations

import math

from tacit.accounting.pld._signals import BelowRoundOff
from tacit.accounting.pld.transform import Transform

# Relative accuracy of the root: far below the width of a bracket.
_ACCURACY = 1e-7
_MOST_STEPS = 60


def epsilon_at(law: Transform, delta: float, guess: float) -> float:
    """Return epsilon at delta: for an upper law rounded up, for a lower law rounded down.

    Guarantee
    ---------
    - Upper: ``law.delta(result) <= delta``. Lower: ``law.delta(result) >= delta`` or 0.
    - Infinite if the mass at infinity is above delta.

    Parameters
    ----------
    law
        A composed law.
    delta
        In (0, 1).
    guess
        Where the root is expected.

    Raises
    ------
    BelowRoundOff
        If delta is below the round-off of an upper law everywhere in its window.
    """
    upper = law.bound == "upper"
    if law.delta(0.0) <= delta:
        return 0.0
    if law.infinite > delta:
        return math.inf
    above, below = 0.0, max(law.top + law.loss_error, 0.0)
    if law.delta(below) > delta:
        # Only the mass outside the window and round-off are left here.
        if upper:
            raise BelowRoundOff(
                f"delta {delta!r} is below the round-off of the transform; use Rényi accounting"
            )
        return below
    trial = guess if above < guess < below else 0.5 * below
    logarithm = math.log(delta)
    previous: tuple[float, float] | None = None
    for _ in range(_MOST_STEPS):
        value = law.delta(trial)
        if value > delta:
            above = trial
        else:
            below = trial
        if below - above <= _ACCURACY * below:
            break
        trial, previous = _next_trial(trial, value, previous, logarithm, (above, below))
    return below if upper else above


def _next_trial(
    trial: float,
    value: float,
    previous: tuple[float, float] | None,
    target: float,
    bracket: tuple[float, float],
) -> tuple[float, tuple[float, float] | None]:
    """One secant step on the logarithm of delta, a little past the root, or a bisection."""
    above, below = bracket
    middle = 0.5 * (above + below)
    if value <= 0.0:
        return middle, None
    point = (trial, math.log(value) - target)
    slope = -1.0 / max(trial, 1e-300)
    if previous is not None and previous[0] != trial:
        slope = (point[1] - previous[1]) / (trial - previous[0])
    if not slope < 0.0:
        return middle, None
    root = trial - point[1] / slope
    # Past the root by less than the accuracy, so that the bracket closes from both sides.
    root += math.copysign(0.3 * _ACCURACY * below, point[1])
    if not above < root < below:
        return middle, point
    return root, point
