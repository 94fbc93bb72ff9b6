r"""Rényi curves as values: their orders, sums, groups and moments; all values are rounded up.

A curve is a function from an array of orders :math:`\alpha \ge 1` to upper bounds of :math:`D_\alpha(M(D) \| M(D'))`
over all neighbours in both directions; at order 1 of the Kullback-Leibler divergence. Functions of this package become
curves by `functools.partial`. Proofs and references: ``proofs/accounting/renyi/curve.md``.
"""

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from tacit.accounting.rounding import ALLOWANCE, Floats, as_orders, raised
from tacit.validate import whole

Curve: TypeAlias = Callable[[Floats], Floats]

# With a curve rho * order the best order is near 1 + sqrt(log(1/delta)/rho). These ends serve
# rho from 1e-14 to 1e11 at any delta from 1e-20 to 0.1.
_CLOSEST_TO_ONE = 1e-5
_LARGEST = 1e8
# A bound of the log-moment at an integer order, from the base curve at the orders 1 .. order.
MomentBound: TypeAlias = Callable[[int, Floats], float]
# Above it the curve without amplification is used.
LARGEST_ORDER = 1024


def default_orders() -> Floats:
    r"""Return the default orders: dense near 1, halves to 6, integers to 64, then 20% apart.

    Every order gives a valid guarantee; the choice only changes how tight a number is.

    Guarantee: increasing, above 1, with all integers to 64 and only integers from 6 on, the cheap and exact orders of
    subsampled mechanisms. For :math:`\rho\alpha`, rho from 1e-11 to 1e9, the grid alone is within 2% of the best order.
    """
    near_one = 1.0 + np.geomspace(_CLOSEST_TO_ONE, 0.93, 60)
    halves = np.arange(2.0, 6.0, 0.5)
    integers = np.arange(6.0, 65.0)
    steps = int(np.log(_LARGEST / 64.0) / np.log(1.2))
    large = np.floor(64.0 * 1.2 ** np.arange(1.0, steps + 1.0))
    return np.concatenate([near_one, halves, integers, large])


def add(curves: Iterable[Curve]) -> Curve:
    """Return the sum of curves, that of an adaptive composition: never below the exact one, any order up to 2^-46."""
    parts = tuple(curves)

    def total(orders: Floats) -> Floats:
        array = as_orders(orders)
        values = [np.asarray(part(array), dtype=np.float64) for part in parts]
        zero = np.zeros_like(array)
        # Addition errs by at most one rounding per part.
        slack = ALLOWANCE + len(parts) * 2.0**-52
        summed = np.asarray(sum(values, start=zero), dtype=np.float64)
        return np.where(summed > 0.0, raised(summed, slack), zero)

    return total


def repeat(curve: Curve, times: int) -> Curve:
    """Return the curve of k adaptive runs: k times that of one run, also for large k (never a single run)."""
    runs = whole("times", times)

    def total(orders: Floats) -> Floats:
        values = np.asarray(curve(as_orders(orders)), dtype=np.float64)
        with np.errstate(over="ignore"):
            return np.where(values > 0.0, raised(runs * values), 0.0)

    return total


def group(curve: Curve, size: int) -> Curve:
    r"""Return a curve for tables k records apart, Σ kα/(kα - i) r(kα - i) over i < k, from that of one neighbour step.

    Guarantee: a group of one costs what one record costs. Exact for the Gaussian curve: :math:`\alpha (k\mu)^2/2`.
    """
    steps = whole("size", size)

    def of_group(orders: Floats) -> Floats:
        array = as_orders(orders)
        total = np.zeros_like(array)
        for step in range(steps):
            inner = steps * array - step
            # An inner order may have been rounded down unless all is integer; curves grow with it.
            exact = (steps == 1) | ((array == np.floor(array)) & (inner < 2.0**53))
            above = np.where(exact, inner, np.nextafter(inner, np.inf))
            total = total + steps * array / inner * np.asarray(curve(above), dtype=np.float64)
        return np.where(total > 0.0, raised(total, ALLOWANCE + steps * 2.0**-52), 0.0)

    return of_group


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


def at_most_base(orders: Floats, curve: Curve, rate: float, moment: MomentBound) -> Floats:
    """Return the lesser of the base curve and the one with these moments; zero at rate 0."""
    base = np.asarray(curve(orders), dtype=np.float64)
    if rate in {0.0, 1.0}:
        return np.zeros_like(orders) if rate == 0.0 else base
    return np.minimum(base, interpolated(orders, log_moments_at(orders, moment, curve)))
