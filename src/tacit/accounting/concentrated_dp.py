r"""Concentrated privacy of events: one number rho, or a pair (rho, omega).

A release is rho-zCDP if its Rényi curve is at most :math:`\rho\alpha` at every order, and
(rho, omega)-tCDP if it is at orders below omega. Rhos add up; omega is the least.
Proof: ``proofs/accounting/concentrated_dp.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tacit.accounting.composition import EventCounts
from tacit.accounting.renyi import conversion
from tacit.accounting.renyi_curves import curve_of, joint_leak, own_pair, without_leak
from tacit.accounting.rounding import float_up
from tacit.privacy.event import BoundedRange, DiscreteGaussian, Event, Gaussian
from tacit.privacy.relation import Relation

# Where truncated curves are read; a bound between two orders is that of the upper one.
_ORDERS = np.concatenate([1.0 + np.geomspace(0.01, 0.9, 24), np.geomspace(2.0, 512.0, 160)])
# Every omega gives a valid answer, so a coarse search is refined around its minimum only.
_FIRST_OMEGA, _STRIDE = 16, 8
_SLACK = 2.0**-40


@dataclass(frozen=True, slots=True)
class Concentrated:
    """A number rho of concentrated privacy that holds unless a leak happens.

    Guarantee: with probability at least 1 - leak the release is one of rho-zCDP; rho is exact or rounded up.
    """

    rho: Fraction
    leak: float = 0.0


def concentrated(event: Event, relation: Relation | None) -> Concentrated | None:
    r"""Return the rho of one counted release, or None if it has none.

    Guarantee: :math:`\mu^2/2` for Gaussian and discrete Gaussian noise and :math:`\eta^2/8` for bounded range are
    exact; what is pure has :math:`\varepsilon\tanh(\varepsilon/2)`, never the smaller :math:`\varepsilon^2/8`.
    """
    match event:
        case Gaussian() | DiscreteGaussian():
            return Concentrated(event.mu_squared / 2)
        case BoundedRange():
            return Concentrated(Fraction(event.eta) ** 2 / 8)
        case _:
            pair = own_pair(event, relation)
            if pair is None or math.isinf(pair[0]):
                return None
            return Concentrated(Fraction(conversion.pure_to_zcdp(pair[0])), pair[1])


def total_concentrated(counts: EventCounts, relation: Relation | None) -> Concentrated | None:
    """Return the rho of everything together, or None if one release has none.

    Guarantee: k times a release costs k times its rho, exactly.
    """
    rho, leaks = Fraction(0), []
    for event, times in counts:
        found = concentrated(event, relation)
        if found is None:
            return None
        rho += times * found.rho
        leaks.append((found.leak, times))
    return Concentrated(rho, joint_leak(leaks))


def truncated_epsilon(counts: EventCounts, relation: Relation | None, delta: float) -> float | None:
    r"""Return an epsilon at delta by truncated concentrated privacy, the best over omega.

    A release without a rho gets, for each omega, the least rho that its Rényi curve allows: :math:`\rho(\omega) =
    \sup_{\alpha < \omega} r(\alpha)/\alpha`.

    Guarantee: never below the epsilon of the summed Rényi curves; the zCDP answer where every release has a rho.
    """
    plain, curves = [], []
    for event, times in counts:
        if concentrated(event, relation) is not None:
            plain.append((event, times))
            continue
        curve = curve_of(event, relation)
        if curve is None or curve.leak > 0.0:
            return None
        curves.append((curve.curve, times))
    base = total_concentrated(tuple(plain), relation)
    if base is None:
        return None
    if not counts:
        return 0.0
    rest = without_leak(delta, base.leak)
    if rest <= 0.0:
        return math.inf
    if not curves:
        return conversion.zcdp_to_epsilon(float_up(base.rho), rest)
    starts = np.concatenate([[1.0], _ORDERS[:-1]])
    rhos = np.full_like(_ORDERS, float_up(base.rho))
    for curve_at, times in curves:
        # On a cell the curve is at most its value at the end, the order at least the start.
        ratios = np.asarray(curve_at(_ORDERS), dtype=np.float64) / starts
        rhos = rhos + times * np.maximum.accumulate(ratios)
    rhos = rhos * (1.0 + _SLACK)

    def at(index: int) -> float:
        rho, omega = float(rhos[index]), float(_ORDERS[index])
        return conversion.tcdp_to_epsilon(rho, omega, rest) if math.isfinite(rho) else math.inf

    coarse = min(range(_FIRST_OMEGA, len(_ORDERS), _STRIDE), key=at)
    near = range(max(coarse - _STRIDE, _FIRST_OMEGA), min(coarse + _STRIDE, len(_ORDERS)), 2)
    return min(at(index) for index in (coarse, *near))
