r"""From a Rényi curve, or a rho of concentrated privacy, to epsilon and delta, rounded up.

At every order :math:`\alpha > 1` a curve r gives :math:`(\varepsilon, \delta)`-privacy for

.. math:: \varepsilon = r(\alpha) + \log\frac{\alpha - 1}{\alpha}
    - \frac{\log\delta + \log\alpha}{\alpha - 1}.

Privacy with (epsilon, delta), delta > 0, implies no rho, and rho-zCDP implies no mu.
Proofs and references: ``proofs/accounting/renyi/conversion.md``.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from tacit.accounting.renyi.curve import Curve, default_orders
from tacit.accounting.renyi.mechanism_curves import tcdp, zcdp
from tacit.accounting.rounding import ALLOWANCE, UNDERFLOW, Floats, above_one, as_orders, non_negative, probability
from tacit.errors import SettingError

# Ten roundings of quantities no larger than the sizes that are added up.
_SLACK = 2.0**-48


def epsilon(curve: Curve, delta: float, orders: ArrayLike | None = None) -> float:
    """Return an epsilon at delta: the best over a grid of orders, refined around its minimum.

    Guarantee: never below the true epsilon of a mechanism with this curve, whatever the orders; never NaN or negative.
    0 from the Bretagnolle-Huber bound on; infinite at delta 0 unless the curve vanishes. It falls as delta grows, up to
    the precision of the search.
    """
    delta, grid = probability("delta", delta), _grid(orders)
    smallest = _search(lambda array: _epsilons(array, _values(curve, array), delta), grid)
    return max(smallest, 0.0)


def delta(curve: Curve, epsilon: float, orders: ArrayLike | None = None) -> float:
    """Return a delta at epsilon: the best over a grid of orders, refined around its minimum.

    Guarantee: never below the true delta of a mechanism with this curve, and at most 1. ``epsilon(curve, delta(curve,
    e)) <= e`` up to a relative 1e-6 where delta is below 0.1.
    """
    bound, grid = non_negative("epsilon", epsilon), _grid(orders)
    if math.isinf(bound):
        return 0.0
    smallest = _search(lambda array: _log_deltas(array, _values(curve, array), bound), grid)
    return _exponential_up(smallest)


def epsilon_from_values(orders: ArrayLike, values: ArrayLike, delta: float) -> float:
    """Return an epsilon at delta from values of a curve, never below `epsilon` of any curve with these values."""
    array, bounds = _paired(orders, values)
    return max(float(np.min(_epsilons(array, bounds, probability("delta", delta)))), 0.0)


def delta_from_values(orders: ArrayLike, values: ArrayLike, epsilon: float) -> float:
    """Return a delta at epsilon from values of a curve, never below `delta` of any curve with these values."""
    array, bounds = _paired(orders, values)
    bound = non_negative("epsilon", epsilon)
    if math.isinf(bound):
        return 0.0
    return _exponential_up(float(np.min(_log_deltas(array, bounds, bound))))


def zcdp_to_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon of rho-zCDP at delta: the infimum over orders, with r(α) = ρα.

    Guarantee: never below the infimum, at most 1e-6 above it relatively, never above ρ + 2√(ρ log(1/δ)).
    """
    rho, delta = non_negative("rho", rho), probability("delta", delta)
    if rho == 0.0 or delta == 1.0:
        return 0.0
    if delta == 0.0 or math.isinf(rho):
        return math.inf
    return epsilon(partial(zcdp, rho=rho), delta, _orders_around_best(-math.log(delta), rho))


def tcdp_to_epsilon(rho: float, omega: float, delta: float) -> float:
    """Return the infimum of epsilon over orders below omega; at least `zcdp_to_epsilon`, its limit as omega grows."""
    rho, delta = non_negative("rho", rho), probability("delta", delta)
    if math.isinf(above_one("omega", omega)):
        return zcdp_to_epsilon(rho, delta)
    if delta == 1.0:
        return 0.0
    if delta == 0.0 or math.isinf(rho):
        return math.inf
    last = math.nextafter(omega, 1.0)
    if last <= 1.0:
        return math.inf
    wide = _orders_around_best(-math.log(delta), rho) if rho > 0.0 else np.array([last])
    grid = np.append(wide[wide < last], last)
    return epsilon(partial(tcdp, rho=rho, omega=omega), delta, grid)


def pure_to_zcdp(epsilon: float) -> float:
    """Return ε tanh(ε/2), rounded up: the least rho if ε-private, attained by randomised response near order 1."""
    epsilon = non_negative("epsilon", epsilon)
    if epsilon == 0.0:
        return 0.0
    return epsilon * math.tanh(0.5 * epsilon) * (1.0 + ALLOWANCE) + UNDERFLOW


def _epsilons(orders: Floats, values: Floats, delta: float) -> Floats:
    """Bounds of epsilon, one for each order."""
    if delta >= 1.0:
        return np.zeros_like(orders)
    excess, log_orders = orders - 1.0, np.log(orders)
    log_delta = math.log(delta) if delta > 0.0 else -math.inf
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_excess = np.log(excess)
        tail = (log_delta + log_orders) / excess
        sizes = values + np.abs(log_excess) + log_orders + (abs(log_delta) + log_orders) / excess
        bounds = values + (log_excess - log_orders) - tail + _SLACK * sizes
    bounds = np.where(np.isnan(bounds), np.inf, bounds)
    # Total variation is at most sqrt(1 - exp(-KL)), and the curve bounds KL at every order.
    close = -np.expm1(-values) * (1.0 + _SLACK) <= delta * delta * (1.0 - _SLACK)
    return np.where(close | (values == 0.0), 0.0, bounds)


def _log_deltas(orders: Floats, values: Floats, epsilon: float) -> Floats:
    """Bounds of log(delta), one for each order."""
    excess, log_orders = orders - 1.0, np.log(orders)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        log_excess = np.log(excess)
        sizes = excess * (values + epsilon + np.abs(log_excess) + log_orders) + log_orders
        bounds = excess * (values - epsilon + log_excess - log_orders) - log_orders
        bounds = bounds + _SLACK * sizes
        variation = 0.5 * np.log(-np.expm1(-values)) + _SLACK
    bounds = np.where(np.isnan(bounds), np.inf, bounds)
    return np.where(values == 0.0, -np.inf, np.minimum(np.minimum(bounds, variation), 0.0))


def _search(objective: Callable[[Floats], Floats], grid: Floats) -> float:
    """Minimise over the grid, then by golden section between the neighbours of the best."""
    found = objective(grid)
    best = int(np.argmin(found))
    smallest = float(found[best])
    if not math.isfinite(smallest) or (len(grid) > 1 and smallest == 0.0):
        return smallest
    low = math.log(max(grid[max(best - 1, 0)] - 1.0, 1e-12))
    high = math.log(max(grid[min(best + 1, len(grid) - 1)] - 1.0, 1e-12))
    for _ in range(40):
        width = (math.sqrt(5.0) - 1.0) / 2.0 * (high - low)
        left, right = high - width, low + width
        values = objective(1.0 + np.exp(np.array([left, right])))
        smallest = min(smallest, float(np.min(values)))
        low, high = (low, right) if values[0] <= values[1] else (left, high)
        if high - low < 1e-7:
            break
    return smallest


def _values(curve: Curve, orders: Floats) -> Floats:
    values = np.asarray(curve(orders), dtype=np.float64)
    if values.shape != orders.shape or np.any(np.isnan(values)) or np.any(values < 0.0):
        raise SettingError("a curve is not a Rényi curve; expected one value >= 0 for each order")
    return values


def _grid(orders: ArrayLike | None) -> Floats:
    grid = default_orders() if orders is None else np.unique(as_orders(orders))
    if grid.size == 0:
        raise SettingError("there are no orders; expected at least one number above 1")
    return grid


def _paired(orders: ArrayLike, values: ArrayLike) -> tuple[Floats, Floats]:
    array, bounds = as_orders(orders), np.asarray(values, dtype=np.float64)
    if array.shape != bounds.shape or array.size == 0 or not np.all(bounds >= 0.0):
        raise SettingError("orders and values do not match; expected one value >= 0 for each order")
    return array, bounds


def _exponential_up(logarithm: float) -> float:
    if math.isinf(logarithm):
        return 0.0 if logarithm < 0.0 else 1.0
    return min(math.exp(min(logarithm, 0.0)) * (1.0 + _SLACK) + math.ulp(0.0), 1.0)


def _orders_around_best(log_inverse: float, rho: float) -> Floats:
    """Orders around 1 + sqrt(log(1/delta)/rho), where the infimum lies up to a small factor."""
    distance = math.sqrt(max(log_inverse, 1e-3) / rho) if rho > 1e-300 else 1e150
    # A distance below 2^-45 would be rounded away; beyond 1e15 nothing is gained.
    distance = min(max(distance, 2.0**-40), 1e15)
    return np.asarray(1.0 + distance * np.geomspace(1.0 / 32.0, 32.0, 41))
