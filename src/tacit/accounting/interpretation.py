"""What a guarantee means: how often an attacker detects a person, and what a group is promised.

Proof: ``proofs/accounting/interpretation.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np

from tacit.accounting import classical, renyi
from tacit.accounting.accountants import required_delta
from tacit.accounting.classical import TradeOff, power_at
from tacit.accounting.composition import Composition
from tacit.accounting.concentrated_dp import without_leak
from tacit.accounting.renyi_curves import total_curve
from tacit.errors import BudgetError, SettingError
from tacit.privacy.budget import Guarantee

# Epsilons at which a profile is read, as parts of the epsilon at the smallest delta of interest.
_PARTS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.75, 1.0)
_SMALLEST_DELTA = 1e-6
_DOWN = 1.0 - 2.0**-50


@dataclass(frozen=True, slots=True)
class Reading:
    """What an attacker can do against a release, at one rate of false alarms.

    Guarantee
    ---------
    - No test with at most this rate of false alarms detects a person more often.
    - Read aloud, the rate of detections is rounded up and that of false alarms down.

    Parameters
    ----------
    false_alarm
        How often the attacker accuses someone who is not in the table.
    detection
        The most that someone in the table is detected, at least `false_alarm`.

    Examples
    --------
    >>> print(Reading(0.05, 0.1359142))
    at 5% false alarms an attacker detects a person at most 13.6% of the time
    """

    false_alarm: float
    detection: float

    def __str__(self) -> str:
        """Say it in a sentence."""
        alarm = _percent(self.false_alarm, ROUND_FLOOR)
        found = _percent(self.detection, ROUND_CEILING)
        return f"at {alarm} false alarms an attacker detects a person at most {found} of the time"


def trade_off(of: Composition | Guarantee) -> TradeOff:
    """Return the trade-off between false alarms and misses that a guarantee enforces.

    Guarantee
    ---------
    - Exact for Gaussian releases; otherwise the best of several pairs (epsilon, delta), each of
      which holds.

    Examples
    --------
    >>> from fractions import Fraction
    >>> round(trade_off(Composition(Fraction(1))).misses_at(0.05), 4)
    0.7405
    """
    if isinstance(of, Guarantee):
        if of.mu is not None:
            return classical.Gaussian(of.mu)
        return classical.Approximate(of.epsilon, 1.0 if of.infinite else of.delta)
    mu = of.mu
    if mu is not None:
        return classical.Gaussian(mu)
    largest = of.epsilon(_SMALLEST_DELTA)
    if math.isinf(largest):
        return classical.Approximate(1.0, of.delta(1.0))
    pairs = [(part * largest, of.delta(part * largest)) for part in _PARTS]
    return classical.Profile(tuple(pairs))


def reading(of: Composition | Guarantee, *, false_alarm: float = 0.05) -> Reading:
    """Return the most that an attacker detects at a rate of false alarms.

    Guarantee
    ---------
    - Never below the power of any test against the release.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(reading(Composition(Fraction(1, 4))))
    at 5% false alarms an attacker detects a person at most 12.7% of the time
    """
    rate = float(false_alarm)
    if not 0.0 <= rate <= 1.0:
        raise BudgetError(f"false_alarm is {false_alarm!r}; expected a rate from 0 to 1")
    return Reading(rate, power_at(rate, trade_off(of)))


def group_epsilon(composition: Composition, size: int, *, delta: float) -> float:
    r"""Return an epsilon at delta that protects a group of records together.

    :math:`k\mu` for Gaussian releases; otherwise the lesser of the Rényi curve of a group and of
    :math:`(k\varepsilon, \delta (e^{k\varepsilon} - 1)/(e^{\varepsilon} - 1))`.

    Guarantee
    ---------
    - A group of one is protected as one record is.
    - Never below the true epsilon of the group.

    Parameters
    ----------
    composition
        What one record is promised.
    size
        Number of neighbour steps, at least 1.
    delta
        For the group, in [0, 1).

    Examples
    --------
    >>> from fractions import Fraction
    >>> three = group_epsilon(Composition(Fraction(1, 9)), 3, delta=1e-5)
    >>> round(three, 3)
    4.377
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise SettingError(f"size is {size!r}; expected an integer of at least 1")
    target = required_delta(delta)
    if composition.square is not None:
        return Composition(composition.square * size * size).epsilon(target)
    if size == 1:
        return composition.epsilon(target)
    candidates = [_by_lemma(composition, size, target)]
    curve = total_curve(composition.counted, composition.relation)
    if curve is not None and curve.leak == 0.0:
        rest = without_leak(target, curve.leak)
        candidates.append(renyi.epsilon(renyi.group(curve.curve, size), rest))
    return min(candidates)


def _by_lemma(composition: Composition, size: int, delta: float) -> float:
    """The pair of a group from a pair of one record, at the largest delta that fits."""
    share = delta / size
    for _ in range(60):
        epsilon = composition.epsilon(share)
        if math.isinf(epsilon):
            return math.inf
        found = classical.group_approximate(epsilon, share, size)
        if found[1] <= delta:
            return found[0]
        share = min(0.5 * share, 0.9 * share * delta / found[1]) * _DOWN
    return math.inf


def _percent(rate: float, rounding: str) -> str:
    digits = Context(prec=3, rounding=rounding)
    return f"{float(digits.create_decimal(Decimal(repr(float(rate))) * 100)):.3g}%"


def curve_points(of: Composition | Guarantee, points: int = 101) -> tuple[tuple[float, float], ...]:
    """Return points (false alarms, misses) of the trade-off, for a picture.

    Guarantee
    ---------
    - Rounded to the safe side: misses are never above the true ones.

    Examples
    --------
    >>> from fractions import Fraction
    >>> curve_points(Composition(Fraction(0)), 3)[0][0]
    0.0
    """
    known = trade_off(of)
    return tuple((float(rate), known.misses_at(float(rate))) for rate in np.linspace(0, 1, points))
