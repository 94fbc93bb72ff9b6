"""What a guarantee means: how often an attacker detects a person, and what a group is promised.

Proof: ``proofs/accounting/interpretation.md``.
"""

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from tacit.accounting import classical
from tacit.accounting.classical import TradeOff, power_at
from tacit.accounting.composition import Composition
from tacit.accounting.event_curves import total_curve
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi import curve as curves
from tacit.accounting.rounding import ALLOWANCE, non_negative, probability
from tacit.privacy.budget import Guarantee
from tacit.validate import whole

# Epsilons at which a profile is read, as fractions of epsilon at the smallest delta of interest.
_FRACTIONS = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.75, 1.0)
_SMALLEST_DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class Reading:
    """What an attacker can do against a release, at one rate of false alarms.

    Guarantee: no test with at most this rate of false alarms detects a person more often. As text, the rate of
    detections is rounded up and that of false alarms down.

    Examples
    --------
    >>> print(Reading(0.05, 0.1359142))
    at 5% false alarms an attacker detects a person at most 13.6% of the time
    """

    false_alarm: float
    detection: float

    def __str__(self) -> str:
        alarm = _percent(self.false_alarm, ROUND_FLOOR)
        found = _percent(self.detection, ROUND_CEILING)
        return f"at {alarm} false alarms an attacker detects a person at most {found} of the time"


def trade_off(of: Composition | Guarantee) -> TradeOff:
    """Return the trade-off between false alarms and misses that a guarantee enforces.

    Guarantee: exact for Gaussian releases; otherwise the best of several (epsilon, delta) that all hold.

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
    pairs = [(share * largest, of.delta(share * largest)) for share in _FRACTIONS]
    return classical.Profile(tuple(pairs))


def reading(of: Composition | Guarantee, *, false_alarm: float = 0.05) -> Reading:
    """Return the most that an attacker detects at a rate of false alarms.

    Guarantee: never below the power of any test against the release.

    Examples
    --------
    >>> from fractions import Fraction
    >>> print(reading(Composition(Fraction(1, 4))))
    at 5% false alarms an attacker detects a person at most 12.7% of the time
    """
    rate = probability("false_alarm", false_alarm)
    return Reading(rate, power_at(rate, trade_off(of)))


def group_epsilon(composition: Composition, size: int, *, delta: float) -> float:
    r"""Return an epsilon at delta that protects a group of `size` records together.

    :math:`k\mu` for Gaussian releases, else the lesser of a group's Rényi curve and its pair.

    Guarantee: a group of one is protected as one record is. Never below the true epsilon of the group.

    Examples
    --------
    >>> from fractions import Fraction
    >>> three = group_epsilon(Composition(Fraction(1, 9)), 3, delta=1e-5)
    >>> round(three, 3)
    4.377
    """
    # Deferred: all accountants are loaded with it.
    from tacit.accounting.accountants import required_delta

    size, target = whole("size", size), required_delta(delta)
    if composition.square is not None:
        return Composition(composition.square * size * size).epsilon(target)
    if size == 1:
        return composition.epsilon(target)
    curve, least = total_curve(composition.counts, composition.relation), math.inf
    if curve is not None and curve.leak == 0.0:
        least = conversion.epsilon(curves.group(curve.curve, size), target)
    # The pair of a group from a pair of one record, at the largest delta that fits.
    share = target / size
    for _ in range(60):
        epsilon = composition.epsilon(share)
        if math.isinf(epsilon):
            break
        found = group_approximate(epsilon, share, size)
        if found[1] <= target:
            return min(found[0], least)
        share = min(0.5 * share, 0.9 * share * target / found[1]) * (1.0 - 2.0**-50)
    return least


def group_approximate(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """Return (kε, δ (e^(kε) - 1) / (e^ε - 1)) of k records, rounded up; k = 2 leads from add-remove to replace-one."""
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    size = whole("size", size)
    if size == 1:
        return epsilon, delta
    total, exponent = size * epsilon * (1.0 + 2.0**-52), size * epsilon
    if delta == 0.0:
        return total, 0.0
    if exponent > 709.0:
        # The largest of k terms in logarithms: the product with delta may still be small.
        logarithm = math.log(size) + (size - 1) * epsilon + math.log(delta)
        return total, math.exp(logarithm) * (1.0 + 1e-9) if logarithm < -1e-6 else 1.0
    weight = math.expm1(exponent) / math.expm1(epsilon) if epsilon > 0.0 else float(size)
    return total, min(weight * delta * (1.0 + ALLOWANCE) + math.ulp(0.0), 1.0)


def _percent(rate: float, rounding: str) -> str:
    digits = Context(prec=3, rounding=rounding)
    return f"{float(digits.create_decimal(Decimal(repr(float(rate))) * 100)):.3g}%"
