"""Rényi curves of releasing only the best of a random number of private runs.

The number of runs K is drawn from a public distribution; each run gives its own score. A number of runs that is fixed
in advance, or released, is not covered. Reference: Papernot and Steinke (2022), Theorems 2 and 6; the formulas are in
``proofs/accounting/renyi/selection.md``.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from tacit.accounting.renyi import conversion
from tacit.accounting.renyi.curve import Curve, default_orders
from tacit.accounting.rounding import ALLOWANCE, Floats, as_orders, raised
from tacit.errors import SettingError
from tacit.validate import positive


def negative_binomial_mean(shape: float, gamma: float) -> float:
    """Return the mean number of runs, rounded up: 1/gamma for the geometric law (shape 1), never below 1."""
    shape, gamma = _law(shape, gamma)
    log_gamma = math.log(gamma)
    odds = -math.expm1(log_gamma) / gamma
    scale = -1.0 / log_gamma if shape == 0.0 else shape / -math.expm1(shape * log_gamma)
    return max(odds * scale * (1.0 + ALLOWANCE), 1.0)


def negative_binomial_selection(orders: ArrayLike, curve: Curve, shape: float, gamma: float) -> Floats:
    """Return the curve of the best of a truncated negative binomial number of runs.

    The curve is that of one run together with its score. Shape 1 is the geometric distribution, 0 the logarithmic one;
    a small gamma is many runs.

    Guarantee: the bound of Theorem 2, rounded up, and non-decreasing in the order. For a curve that is epsilon at all
    orders it tends to (2 + shape) epsilon.
    """
    shape, gamma = _law(shape, gamma)
    log_mean = math.log(negative_binomial_mean(shape, gamma))
    grid = default_orders()
    values = np.asarray(curve(grid), dtype=np.float64)
    log_runs = -math.log(gamma)
    inner = (1.0 - 1.0 / grid) * values + log_runs / grid
    # At beta = 1 the bracket is log(1/gamma) whatever the curve.
    extra = (1.0 + shape) * min(float(np.min(inner)), log_runs) * (1.0 + ALLOWANCE)
    return _selected(as_orders(orders), curve, values, log_mean, lambda _: extra)


def poisson_selection(orders: ArrayLike, curve: Curve, mean: float) -> Floats:
    """Return the curve of the best of a Poisson number of runs.

    If K = 0 something that does not depend on the data must be released.

    Guarantee: the bound of Theorem 6, rounded up and non-decreasing in the order; log m is at least 0.
    """
    mean = positive("mean", mean)
    grid = default_orders()
    values = np.asarray(curve(grid), dtype=np.float64)

    def extra(at: Floats) -> Floats:
        failures = []
        for order in at.ravel():
            hat = math.log1p(1.0 / (order - 1.0)) if order > 1.0 else math.inf
            # A smaller epsilon has a larger delta, which is the safe side of the rounding.
            hat = hat * (1.0 - ALLOWANCE)
            failures.append(conversion.delta_from_values(grid, values, hat))
        return np.asarray(mean * np.array(failures).reshape(at.shape))

    return _selected(as_orders(orders), curve, values, max(math.log(mean), 0.0), extra)


def _selected(
    orders: Floats, curve: Curve, on_grid: Floats, log_mean: float, extra: Callable[[Floats], Floats | float]
) -> Floats:
    """Add the cost of selection, and take the least bound at any larger order: divergences grow with the order."""

    def bound(at: Floats, of: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            added = np.where(log_mean > 0.0, log_mean / (at - 1.0), 0.0)
        return raised(of + extra(at) + added)

    grid = default_orders()
    least = np.minimum.accumulate(bound(grid, on_grid)[::-1])[::-1]
    beyond = np.append(least, math.inf)[np.searchsorted(grid, orders, side="left")]
    return np.asarray(np.minimum(bound(orders, np.asarray(curve(orders))), beyond), dtype=np.float64)


def _law(shape: float, gamma: float) -> tuple[float, float]:
    if not -1.0 < shape < math.inf:
        raise SettingError(f"shape is {shape!r}; expected a number above -1, such as 1")
    if not 0.0 < gamma < 1.0:
        raise SettingError(f"gamma is {gamma!r}; expected a number above 0 and below 1")
    return float(shape), float(gamma)
