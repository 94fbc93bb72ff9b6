r"""The profile of one pair used once, in closed form and without a grid.

.. math:: \delta(\varepsilon) = P[Y > \varepsilon] - e^{\varepsilon} Q[Y > \varepsilon]

Proofs: ``proofs/accounting/pld/closed_form.md``.
"""

from __future__ import annotations

import math

import numpy as np

from tacit.accounting.bisection import bisect
from tacit.accounting.pld.errors import GridTooLong
from tacit.accounting.pld.grid import LARGEST_LOSS
from tacit.accounting.pld.pairs.pair import UNIT, Direction, Pair, tail_error

_ACCURACY = 1e-9


def profile(pair: Pair, direction: Direction, epsilon: float) -> tuple[float, float]:
    """Return lower and upper bounds of delta at epsilon for one use of a pair with known slopes.

    Guarantee
    ---------
    - The exact value lies in between, floating-point round-off included.
    """
    if abs(epsilon) > LARGEST_LOSS:
        raise GridTooLong(f"epsilon {epsilon!r} is beyond {LARGEST_LOSS:.0f}; use Rényi accounting")
    tails_p, tails_q = pair.smooth(direction, np.array([epsilon]))
    power = math.exp(epsilon)
    above_p, above_q = float(tails_p[0]), power * float(tails_q[0])
    error = float(tail_error(tails_p)[0]) + power * float(tail_error(tails_q)[0])
    error += 8.0 * UNIT * (above_p + above_q)
    shift = pair.loss_error(abs(epsilon))
    losses, masses = pair.atoms(direction)
    gaps = np.maximum(losses - epsilon, 0.0)
    atoms = float((masses * -np.expm1(-gaps)).sum())
    infinite = pair.infinite(direction)
    error += 32.0 * UNIT * (atoms + infinite) + 2.0 * shift * float(masses[gaps > 0.0].sum())
    value = above_p - above_q + atoms + infinite
    return max(value - error, 0.0), min(value + error + 2.0 * shift * above_p, 1.0)


def epsilon_of(pair: Pair, direction: Direction, delta: float) -> tuple[float, float]:
    """Return lower and upper bounds of epsilon at delta for one use of a pair with known slopes.

    Guarantee
    ---------
    - ``profile`` at the upper bound is at most delta, at the lower bound at least delta or the
      bound is 0.
    """
    if pair.infinite(direction) > delta:
        return math.inf, math.inf
    return _crossing(pair, direction, delta, 0), _crossing(pair, direction, delta, 1)


def _crossing(pair: Pair, direction: Direction, delta: float, side: int) -> float:
    """Bisect one side of the profile, returning the end of the bracket on that side."""
    if profile(pair, direction, 0.0)[side] <= delta:
        return 0.0
    low, high = 0.0, 1e-12
    while profile(pair, direction, high)[side] > delta:
        if high >= LARGEST_LOSS:
            raise GridTooLong(f"epsilon is beyond {LARGEST_LOSS:.0f}; use Rényi accounting")
        low, high = high, min(4.0 * high, LARGEST_LOSS)

    def holds(epsilon: float) -> bool:
        return not profile(pair, direction, epsilon)[side] > delta

    return bisect(low, high, holds, _ACCURACY)[side]
