"""Epsilon at delta from a composed law: a root on the safe side."""

from __future__ import annotations

import math

from tacit.accounting.pld._signals import BelowRoundOff
from tacit.accounting.pld.transform import Transform

# Relative accuracy of the root: far below the width of a bracket.
_ACCURACY = 1e-7
_MOST_STEPS = 60
# Parts of the guess at which a lower law is tried.
_SHARES = (0.98, 0.9, 0.75, 0.5, 0.25, 0.1)


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
    if law.infinite > delta:
        return math.inf
    upper = law.bound == "upper"
    below = max(law.top + 2.0 * law.loss_error, 0.0)
    above = 0.0 if upper else _largest_certain(law, delta, guess)
    if law.delta(above) <= delta:
        return 0.0 if upper else above
    if law.delta(below) > delta:
        # Only the mass outside the window and round-off are left here.
        if upper:
            raise BelowRoundOff(
                f"delta {delta!r} is below the round-off of the transform; use Rényi accounting"
            )
        return below
    return _between(law, delta, guess, (above, below))


def _largest_certain(law: Transform, delta: float, guess: float) -> float:
    """Return an epsilon at which a lower law is still above delta, or 0.

    Far below the guess the doubt of a tilted law is larger than its value, so 0 may not do.
    """
    for share in _SHARES:
        if law.delta(share * guess) >= delta:
            return share * guess
    return 0.0


def _between(law: Transform, delta: float, guess: float, bracket: tuple[float, float]) -> float:
    """Close a bracket by Newton steps that end a little beyond the root, on the safe side."""
    above, below = bracket
    upper, trial = law.bound == "upper", guess
    side = 1.0 + _ACCURACY if upper else 1.0 - _ACCURACY
    for _ in range(_MOST_STEPS):
        if not above < trial < below:
            trial = 0.5 * (above + below)
        value, slope = law.delta_and_slope(trial)
        above, below = (trial, below) if value > delta else (above, trial)
        if below - above <= _ACCURACY * below:
            break
        following = _newton(trial, value, slope, delta)
        if abs(following - trial) < _ACCURACY * trial:
            safe = law.delta(trial * side)
            if (safe <= delta) if upper else (safe >= delta):
                return trial * side
        trial = following
    return below if upper else above


def _newton(trial: float, value: float, slope: float, delta: float) -> float:
    """One Newton step on the logarithm of delta; outside of every bracket if it has none."""
    if value <= 0.0 or slope >= 0.0:
        return -1.0
    return trial + math.log(value / delta) * value / -slope
