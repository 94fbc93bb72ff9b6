"""Moments in logarithms: sums of exponentials, and curves from moments at integer orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tacit.accounting.arguments import Floats
from tacit.accounting.renyi.curve import Curve
from tacit.accounting.rounding import raised

# A bound of the log-moment at an integer order, from the base curve at the orders 1 .. order.
MomentBound: TypeAlias = Callable[[int, Floats], float]

# Above it the curve without amplification is used.
LARGEST_ORDER = 1024


def log_expm1(exponents: Floats) -> Floats:
    """Logarithm of exp(t) - 1 for t >= 0, minus infinity at 0."""
    with np.errstate(divide="ignore"):
        small = np.log(np.expm1(np.minimum(exponents, 1.0)))
        large = exponents + np.log1p(-np.exp(-np.maximum(exponents, 0.5)))
    return np.where(exponents < 1.0, small, large)


def log_one_plus(logarithm: float) -> float:
    """Logarithm of 1 + exp(t), accurate for both signs of t."""
    if logarithm > 0.0:
        return logarithm + math.log1p(math.exp(-logarithm))
    return math.log1p(math.exp(logarithm))


def log_sum(logarithms: Floats) -> float:
    """Logarithm of a sum of exponentials, minus infinity for an empty sum."""
    top = float(np.max(logarithms, initial=-math.inf))
    if math.isinf(top):
        return top
    return top + math.log(float(np.sum(np.exp(logarithms - top))))


def log_moments_at(orders: Floats, moment: MomentBound, curve: Curve) -> dict[int, float]:
    """Bound the logarithm of the moment at every integer order next to the given ones."""
    lower = np.floor(orders[orders <= LARGEST_ORDER]).astype(int)
    needed = sorted({int(order) for order in lower} | {int(order) + 1 for order in lower})
    needed = [order for order in needed if 2 <= order <= LARGEST_ORDER]
    if not needed:
        return {1: 0.0}
    values = np.asarray(curve(np.arange(1.0, needed[-1] + 1.0)), dtype=np.float64)
    return {1: 0.0} | {order: moment(order, values[:order]) for order in needed}


def interpolated(orders: Floats, moments: dict[int, float]) -> Floats:
    """Return the curve whose log-moment is the chord between integers, infinite where unknown."""

    def at(order: float) -> float:
        lower = math.floor(order)
        if lower not in moments:
            return math.inf
        part = order - lower
        if part == 0.0 and lower > 1:
            return moments[lower] / (order - 1.0)
        above = moments.get(lower + 1, math.inf)
        if lower == 1:
            return above
        return ((1.0 - part) * moments[lower] + part * above) / (order - 1.0)

    return raised(np.array([at(float(order)) for order in orders.ravel()]).reshape(orders.shape))
